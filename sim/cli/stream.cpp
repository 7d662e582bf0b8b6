// SPDX-License-Identifier: Apache-2.0
// `npu stream`: several streaming networks at once on one device.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cli/back_end_options.h"
#include "sim/cli/command.h"
#include "sim/cli/stream_check.h"
#include "sim/cli/stream_networks.h"
#include "sim/cli/stream_options.h"
#include "sim/cli/stream_report.h"
#include "sim/cli/stream_schedule.h"
#include "sim/cli/stream_session.h"
#include "sim/platform/platform.h"
#include "sim/tool/progress.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"

namespace npu::cli {

using contract::ErrorCode;
using tool::say;

namespace {

// Where its outputs go.
std::filesystem::path folder_of(const StreamOptions& options, const Stream& stream) {
  return std::filesystem::path(options.outputs) / workload::file_name_for(stream.name);
}

runtime::Device open_stream_device(const StreamOptions& options, const presets::Preset& preset,
                                   cosim::BackEnds& back_ends) {
  platform::PlatformOptions machine = platform_options(options.machine, preset);
  choose_back_ends(options.back_ends, preset.caps, back_ends);
  connect_back_ends(back_ends, machine);
  return runtime::Device::open(platform::open_tlm_device(machine));
}

std::vector<runtime::ContextOptions> stream_contexts(const StreamOptions& options) {
  std::vector<runtime::ContextOptions> contexts;
  for (const ContextArgument& context : options.contexts) {
    contexts.push_back({.priority = context.priority, .double_buffer = options.double_buffer});
  }
  return contexts;
}

// Runs what --check compares with, and the networks.
std::vector<StreamResult> run_and_check(runtime::Device& device, const StreamOptions& options,
                                        const std::vector<Stream>& streams, const Schedule& schedule,
                                        std::optional<report::CheckResult>& check) {
  int64_t frames = 0;
  for (const Stream& stream : streams) frames += stream.frames.invocations();
  const bool undisturbed = options.check == "undisturbed";
  const std::vector<runtime::ContextOptions> contexts = stream_contexts(options);
  tool::Progress progress(undisturbed ? 2 * frames : frames, "frame", options.quiet);
  std::vector<Outputs> wanted;
  if (undisturbed) wanted = run_undisturbed(device, streams, contexts, schedule, progress);
  if (options.check == "reference") wanted = run_reference(streams, contexts.size(), schedule);
  const bool keep_outputs = !options.check.empty() || !options.outputs.empty();
  std::vector<StreamResult> results = run_schedule(device, streams, contexts, schedule, keep_outputs, progress);
  if (!wanted.empty()) check.emplace();
  const Judging judging = undisturbed ? Judging::kEveryBit : Judging::kAsReference;
  for (size_t i = 0; i < wanted.size(); ++i) compare(streams[i], results[i].outputs, wanted[i], judging, *check);
  return results;
}

// As run_and_check(); throws for a tile or an operation on which RTL and model differ, with where it was kept.
std::vector<StreamResult> run_on_back_ends(runtime::Device& device, cosim::BackEnds& back_ends,
                                           const StreamOptions& options, const std::vector<Stream>& streams,
                                           const Schedule& schedule, std::optional<report::CheckResult>& check) {
  const auto stop = [&] {
    if (!back_ends.failure()) return;
    throw_failure(*back_ends.failure(), back_ends.failure()->bundle, compiler::Program{}, options.back_ends);
  };
  try {
    std::vector<StreamResult> results = run_and_check(device, options, streams, schedule, check);
    back_ends.finish();
    stop();
    return results;
  } catch (const Error&) {
    stop();
    throw;
  }
}

void write_files(const StreamRun& run) {
  tool::StagedFiles files;
  for (size_t i = 0; i < run.streams.size() && !run.options.outputs.empty(); ++i) {
    workload::OutputData outputs(run.streams[i].network.outputs, true);
    for (const std::vector<graph::Value>& frame : run.results[i].outputs) outputs.add(frame);
    outputs.write(files, folder_of(run.options, run.streams[i]));
  }
  if (!run.options.json.empty()) files.write(run.options.json, to_json_text(run));
  files.commit();
}

}  // namespace

int run_stream(const Arguments& arguments) {
  std::optional<StreamOptions> parsed = parse_stream_options(arguments);
  if (!parsed) return 0;
  const StreamOptions& options = *parsed;
  const presets::Preset preset = presets::load_preset(options.machine.config);
  cosim::BackEnds back_ends(preset.caps);
  runtime::Device device = open_stream_device(options, preset, back_ends);
  const std::vector<Stream> streams = load_streams(options, device.capabilities());
  for (const Stream& stream : streams) {
    if (options.outputs.empty()) continue;
    workload::add_outputs(parsed->places, stream.network.outputs, folder_of(options, stream));
  }
  const Schedule schedule = make_schedule(
      streams, {.contexts = options.contexts.size(), .seed = options.seed, .retention = options.retention});
  std::optional<report::CheckResult> check;
  const std::vector<StreamResult> results = run_on_back_ends(device, back_ends, options, streams, schedule, check);
  const StreamRun run{
      options, streams, schedule, results, check, engine_runs(options.back_ends, back_ends), persistent_run(back_ends)};
  write_files(run);
  say("{}", to_text(run));
  if (!check || check->differing == 0) return 0;
  throw Error(ErrorCode::kElementsDiffer, fmt::format("{} of {} elements differ, the first is {}", check->differing,
                                                      check->compared, check->first));
}

}  // namespace npu::cli
