// SPDX-License-Identifier: Apache-2.0
// `npu stream`: several streaming networks at once on one device.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "driver/compiler/compile.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/stream_options.h"
#include "sim/cli/stream_report.h"
#include "sim/cli/stream_session.h"
#include "sim/reference/reference.h"
#include "sim/workload/oracle.h"

namespace npu::cli {

using contract::ErrorCode;
using graph::in_quotes;

namespace {

workload::InputData load_frames(const workload::Network& network, const std::vector<std::string>& inputs) {
  try {
    return workload::InputData(network.inputs, inputs, true);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", in_quotes(network.path.string()), error.what()));
  }
}

// Compiles them for a machine. The first networks have the first choice of the persistent SRAM.
compiler::MachineNeeds compile_streams(const StreamOptions& options, const contract::Capabilities& caps,
                                       std::vector<Stream>& streams) {
  compiler::MachineNeeds needs;
  const uint64_t capacity = compiler::persistent_capacity(caps);
  for (Stream& stream : streams) {
    compiler::Options compile;
    compile.schedule.persistent_bytes = capacity - std::min(capacity, needs.persistent_bytes);
    compile.schedule.state_in_dram = options.state_in_dram;
    compile.schedule.two_places = options.double_buffer;
    try {
      stream.program = compiler::compile_unchecked(stream.network.graph, caps, compile);
    } catch (const compiler::NoRoom&) {
      throw;  // for the search of a machine that is large enough
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", in_quotes(stream.network.path.string()), error.what()));
    }
    needs.add(stream.program, caps, options.double_buffer, true, options.share);
  }
  return needs;
}

// Outputs and reports tell networks apart by their names: the second of a name is NAME-2.
void tell_apart(std::vector<Stream>& streams) {
  std::set<std::string> names, seen;
  for (const Stream& stream : streams) names.insert(stream.name);
  for (Stream& stream : streams) {
    if (seen.insert(stream.name).second) continue;
    const std::string name = stream.name;
    for (int number = 2; !names.insert(stream.name).second; ++number) stream.name = fmt::format("{}-{}", name, number);
  }
}

std::vector<Stream> load_streams(const StreamOptions& options, const contract::Capabilities& caps) {
  std::vector<Stream> streams;
  for (const StreamArgument& argument : options.streams) {
    workload::Network network = workload::load_network(argument.network);
    workload::InputData frames = load_frames(network, argument.inputs);
    std::string name = network.path.stem().string();
    streams.push_back({std::move(name), std::move(network), std::move(frames), {}});
  }
  tell_apart(streams);
  compiler::require_room(
      caps, true, [&](const contract::Capabilities& machine) { return compile_streams(options, machine, streams); },
      "them");
  return streams;
}

Outputs run_reference(const Stream& stream) {
  workload::Oracle oracle(stream.network, false);
  Outputs outputs;
  for (int64_t i = 0; i < stream.frames.invocations(); ++i) outputs.push_back(oracle.run(stream.frames.invocation(i)));
  return outputs;
}

// One context for all, a frame of each in turn, as run_interleaved() has it.
std::vector<Outputs> run_shared_reference(const std::vector<Stream>& streams) {
  std::vector<Outputs> outputs(streams.size());
  reference::Context context;
  bool running = true;
  for (int64_t frame = 0; running; ++frame) {
    running = false;
    for (size_t i = 0; i < streams.size(); ++i) {
      if (frame >= streams[i].frames.invocations()) continue;
      running = true;
      try {
        outputs[i].push_back(reference::run(streams[i].network.graph, streams[i].frames.invocation(frame), context));
      } catch (const Error& error) {
        throw Error(error.code(),
                    fmt::format("reference, frame {} of {}: {}", frame, in_quotes(streams[i].name), error.what()));
      }
    }
  }
  return outputs;
}

void compare(const Stream& stream, const Outputs& got, const Outputs& want, StreamCheck& check) {
  for (size_t frame = 0; frame < want.size(); ++frame) {
    for (size_t i = 0; i < want[frame].size(); ++i) {
      const graph::Difference difference = graph::compare(got[frame][i], want[frame][i]);
      check.compared += static_cast<uint64_t>(difference.compared);
      check.differing += static_cast<uint64_t>(difference.differing);
      if (difference.differing == 0 || !check.first.empty()) continue;
      check.first = fmt::format("element {} of output {} of frame {} of {}", difference.first,
                                in_quotes(stream.network.outputs[i].name), frame, in_quotes(stream.name));
    }
  }
}

runtime::Device open_device(const StreamOptions& options, const presets::Preset& preset, cosim::BackEnds& back_ends) {
  platform::PlatformOptions machine = platform_options(options.machine, preset);
  choose_back_ends(options.back_ends, preset.caps, back_ends);
  connect_back_ends(back_ends, machine);
  return runtime::Device::open(platform::open_tlm_device(machine));
}

// Runs all on the device, and for --check undisturbed each alone before.
Interleaved run_on_device(const StreamOptions& options, const std::vector<Stream>& streams, runtime::Device& device,
                          cosim::BackEnds& back_ends, std::vector<Outputs>& wanted) {
  const runtime::ContextOptions context = {.double_buffer = options.double_buffer};
  int64_t frames = 0;
  for (const Stream& stream : streams) frames += stream.frames.invocations();
  const bool alone = options.check == "undisturbed";
  tool::Progress progress(alone ? 2 * frames : frames, "frame", options.quiet);
  const auto stop = [&] {
    if (back_ends.failure()) {
      throw_failure(*back_ends.failure(), back_ends.failure()->bundle, compiler::Program{}, options.back_ends);
    }
  };
  try {
    for (const Stream& stream : streams) {
      if (alone) wanted.push_back(run_alone(device, stream, context, progress));
    }
    Interleaved run = run_interleaved(device, streams, options.seed,
                                      {.retention = options.retention,
                                       .keep_outputs = !options.check.empty() || !options.outputs.empty(),
                                       .share = options.share,
                                       .context = context},
                                      progress);
    back_ends.finish();
    stop();
    return run;
  } catch (const Error&) {
    stop();
    throw;
  }
}

}  // namespace

int run_stream(const Arguments& arguments) {
  std::optional<StreamOptions> parsed = parse_stream_options(arguments);
  if (!parsed) return 0;
  const StreamOptions& options = *parsed;
  const presets::Preset preset = presets::load_preset(options.machine.config);
  cosim::BackEnds back_ends(preset.caps);
  runtime::Device device = open_device(options, preset, back_ends);
  const std::vector<Stream> streams = load_streams(options, device.capabilities());
  for (const Stream& stream : streams) {
    if (!options.outputs.empty())
      workload::add_outputs(parsed->places, stream.network.outputs, outputs_folder(options, stream));
  }

  std::vector<Outputs> wanted;
  for (const Stream& stream : streams) {
    if (options.check == "reference" && !options.share) wanted.push_back(run_reference(stream));
  }
  if (options.check == "reference" && options.share) wanted = run_shared_reference(streams);
  const Interleaved run = run_on_device(options, streams, device, back_ends, wanted);
  std::optional<StreamCheck> check;
  if (!wanted.empty()) check.emplace();
  for (size_t i = 0; i < wanted.size(); ++i) compare(streams[i], run.outputs[i], wanted[i], *check);
  const StreamReport report = {run, check, engine_runs(options.back_ends, back_ends), persistent_run(back_ends)};
  write_files(options, streams, report);
  print(options, streams, report);
  if (!check || check->differing == 0) return 0;
  throw Error(ErrorCode::kElementsDiffer, fmt::format("{} of {} elements differ, the first is {}", check->differing,
                                                      check->compared, check->first));
}

}  // namespace npu::cli
