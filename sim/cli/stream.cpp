// `npu stream`: several streaming networks at once on one device.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "driver/compiler/compile.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/oracle.h"
#include "sim/cli/stream_options.h"
#include "sim/cli/stream_session.h"
#include "sim/platform/platform.h"
#include "sim/report/columns.h"
#include "sim/report/table.h"

namespace npu::cli {

using contract::ErrorCode;
using graph::in_quotes;
using report::grouped;

namespace {

using Json = nlohmann::ordered_json;

struct Check {
  uint64_t compared = 0, differing = 0;
  std::string first;  // that differs, in words
};

// Where its outputs go.
std::filesystem::path folder_of(const StreamOptions& options, const Stream& stream) {
  return std::filesystem::path(options.outputs) / stream.name;
}

InputData load_frames(const Network& network, const std::vector<std::string>& inputs) {
  try {
    return InputData(network.inputs, inputs, true);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", in_quotes(network.path.string()), error.what()));
  }
}

Stream load_stream(const StreamArgument& argument, const contract::Capabilities& caps) {
  Network network = load_network(argument.network);
  compiler::Program program = compiler::compile(network.graph, caps);
  InputData frames = load_frames(network, argument.inputs);
  std::string name = network.path.stem().string();
  return {std::move(name), std::move(network), std::move(frames), std::move(program)};
}

std::vector<Stream> load_streams(const StreamOptions& options, const contract::Capabilities& caps) {
  std::vector<Stream> streams;
  for (const StreamArgument& argument : options.streams) {
    streams.push_back(load_stream(argument, caps));
    for (size_t i = 0; i + 1 < streams.size(); ++i) {
      if (streams[i].name != streams.back().name) continue;
      throw Error(ErrorCode::kBadOption,
                  fmt::format("two networks have the name {}, by which outputs are told apart; rename one file",
                              in_quotes(streams[i].name)));
    }
  }
  return streams;
}

Outputs run_reference(const Stream& stream) {
  Oracle oracle(stream.network, false);
  Outputs outputs;
  for (int64_t i = 0; i < stream.frames.invocations(); ++i) outputs.push_back(oracle.run(stream.frames.invocation(i)));
  return outputs;
}

void compare(const Stream& stream, const Outputs& got, const Outputs& want, Check& check) {
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

Json to_json(const StreamOptions& options, const std::vector<Stream>& streams, const Interleaved& run,
             const std::optional<Check>& check) {
  Json networks = Json::array(), rounds = Json::array();
  for (size_t i = 0; i < streams.size(); ++i) {
    networks.push_back({{"name", streams[i].name},
                        {"file", streams[i].network.path.string()},
                        {"sha256", sha256_of(streams[i].network)},
                        {"frames", streams[i].frames.invocations()},
                        {"variables", streams[i].program.variables.size()},
                        {"cycles", run.cycles[i]}});
  }
  for (const Round& round : run.rounds) {
    rounds.push_back({{"networks", round.streams}, {"power_down", round.power_down}});
  }
  Json checked;
  if (check) {
    checked = {{"against", options.check}, {"compared", check->compared}, {"differing", check->differing}};
  }
  return {{"schema", "npu-stream"}, {"schema_version", 1},  {"machine", options.config},
          {"mode", options.mode},   {"seed", options.seed}, {"power_downs", run.power_downs},
          {"networks", networks},   {"rounds", rounds},     {"check", checked}};
}

void print(const StreamOptions& options, const std::vector<Stream>& streams, const Interleaved& run,
           const std::optional<Check>& check) {
  std::vector<report::Row> rows;
  for (size_t i = 0; i < streams.size(); ++i) {
    const auto frames = static_cast<uint64_t>(streams[i].frames.invocations());
    uint64_t bytes = 0;
    for (const compiler::Variable& variable : streams[i].program.variables) bytes += variable.bytes;
    rows.push_back({streams[i].name, grouped(frames), grouped(streams[i].program.variables.size()), grouped(bytes),
                    run.cycles[i] == 0 ? "-" : grouped((run.cycles[i] + frames / 2) / frames)});
  }
  fmt::print("{} networks on {} ({}), each in a context of its own, seed {}\n\n{}", streams.size(), options.config,
             options.mode, options.seed,
             report::render({{"network", true}, {"frames"}, {"variables"}, {"bytes"}, {"cycles a frame"}}, rows));
  fmt::print("\nrounds    {} of random choices in random order, the device powered down after {} of them\n",
             grouped(run.rounds.size()), grouped(run.power_downs));
  if (!check) return;
  fmt::print("check     {} differing of {} elements compared with {}\n", grouped(check->differing),
             grouped(check->compared),
             options.check == "reference" ? "the reference" : "runs of each network alone on the device");
}

void write_files(const StreamOptions& options, const std::vector<Stream>& streams, const Interleaved& run,
                 const std::optional<Check>& check) {
  StagedFiles files;
  for (size_t i = 0; i < streams.size() && !options.outputs.empty(); ++i) {
    OutputData outputs(streams[i].network.outputs, true);
    for (const std::vector<graph::Value>& frame : run.outputs[i]) outputs.add(frame);
    outputs.write(files, folder_of(options, streams[i]));
  }
  if (!options.json.empty()) {
    files.write(options.json,
                to_json(options, streams, run, check).dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  }
  files.commit();
}

}  // namespace

int run_stream(const Arguments& arguments) {
  std::optional<StreamOptions> parsed = parse_stream_options(arguments);
  if (!parsed) return 0;
  const StreamOptions& options = *parsed;
  platform::PlatformOptions machine;
  machine.preset = presets::load_preset(options.config);
  machine.mode = options.mode == "timed" ? model::Mode::kTimed : model::Mode::kFunctional;
  const std::vector<Stream> streams = load_streams(options, machine.preset.caps);
  for (const Stream& stream : streams) {
    if (!options.outputs.empty()) add_outputs(parsed->places, stream.network.outputs, folder_of(options, stream));
  }
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(machine));

  int64_t frames = 0;
  for (const Stream& stream : streams) frames += stream.frames.invocations();
  const bool alone = options.check == "undisturbed";
  Progress progress(alone ? 2 * frames : frames, "frame", options.quiet);
  std::vector<Outputs> wanted;
  for (const Stream& stream : streams) {
    if (alone) wanted.push_back(run_alone(device, stream, progress));
    if (options.check == "reference") wanted.push_back(run_reference(stream));
  }
  const Interleaved run = run_interleaved(
      device, streams, options.seed,
      {.retention = options.retention, .keep_outputs = !options.check.empty() || !options.outputs.empty()}, progress);
  std::optional<Check> check;
  if (!wanted.empty()) check.emplace();
  for (size_t i = 0; i < wanted.size(); ++i) compare(streams[i], run.outputs[i], wanted[i], *check);
  print(options, streams, run, check);
  write_files(options, streams, run, check);
  if (!check || check->differing == 0) return 0;
  throw Error(ErrorCode::kElementsDiffer, fmt::format("{} of {} elements differ, the first is {}", check->differing,
                                                      check->compared, check->first));
}

}  // namespace npu::cli
