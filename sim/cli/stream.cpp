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
#include "sim/cli/file_places.h"
#include "sim/cli/options.h"
#include "sim/cli/oracle.h"
#include "sim/cli/stream_session.h"
#include "sim/platform/platform.h"
#include "sim/report/columns.h"
#include "sim/report/table.h"

namespace npu::cli {

namespace po = boost::program_options;
using contract::ErrorCode;
using graph::in_quotes;
using report::grouped;

namespace {

using Json = nlohmann::ordered_json;

constexpr CommandHelp kHelp = {
    "npu stream NETWORK.tosa=FRAMES.npy... [options]",
    "Runs several networks of one input each at once on one simulated NPU, each with its frames and in a context of "
    "its\n"
    "own, so that their variables share the persistent SRAM and nothing else. Which networks get their next frame\n"
    "together is random.",
    "  npu stream okay_nabu.tosa=frames.npy alexa.tosa=frames.npy\n"
    "  npu stream a.tosa=a.npy b.tosa=b.npy --interleave 7 --retention --check undisturbed\n"
    "  npu stream a.tosa=a.npy b.tosa=b.npy --check reference --outputs out/ --json out/stream.json\n"};

struct StreamOptions {
  std::vector<std::string> streams;  // NETWORK=FRAMES
  std::string config, mode, check, outputs, json;
  uint64_t seed = 1;
  bool retention = false, quiet = false;
  FilePlaces places;  // of networks, frames and --json
};

struct Check {
  uint64_t compared = 0, differing = 0;
  std::string first;  // that differs, in words
};

// Throws for a file that is read and written.
FilePlaces places_of(const StreamOptions& options) {
  FilePlaces places;
  places.read("the machine's file", options.config);
  for (const std::string& stream : options.streams) {
    const size_t split = stream.rfind('=');
    if (split == std::string::npos) continue;  // load_stream() refuses it
    places.read("the network", stream.substr(0, split));
    places.read("the frames", stream.substr(split + 1));
  }
  places.write("--json", options.json);
  return places;
}

std::optional<StreamOptions> parse_options(const Arguments& arguments) {
  po::options_description options, hidden;
  options.add_options()  //
      ("config,c", po::value<std::string>()->default_value("edge")->value_name("NAME|FILE"),
       "the machine: nano, edge, or a YAML file with its sizes")  //
      ("mode", po::value<std::string>()->default_value("timed")->value_name("MODE"),
       "timed, or functional: the same bits without time, faster")                                                //
      ("interleave", po::value<std::string>()->default_value("1")->value_name("SEED"), "seed of what is random")  //
      ("retention", po::bool_switch(),
       "power the device down between frames, half of the time: engines and scratchpad off, persistent SRAM in "
       "retention")  //
      ("check", po::value<std::string>()->value_name("undisturbed|reference"),
       "compare every element of every output with a run of each network alone on the device, or with the software "
       "reference; exit status 7 when any differs")  //
      ("outputs,o", po::value<std::string>()->value_name("DIR"),
       "write each output to DIR/<network>/<name>.npy, stacked as by npu run --sequence")                     //
      ("json", po::value<std::string>()->value_name("FILE"), "write what ran when and what it gave as JSON")  //
      ("quiet,q", po::bool_switch(), "no progress on long runs");
  hidden.add_options()("streams", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("streams", -1);
  const auto values = parse(arguments, kHelp, options, hidden, positional);
  if (!values) return std::nullopt;
  StreamOptions result;
  const auto text = [&](const char* name) {
    return values->count(name) == 0 ? std::string() : (*values)[name].as<std::string>();
  };
  if (values->count("streams") == 0) {
    throw Error(ErrorCode::kBadOption, "NETWORK.tosa=FRAMES.npy is missing; see npu stream --help");
  }
  result.streams = (*values)["streams"].as<std::vector<std::string>>();
  result.config = text("config");
  result.mode = text("mode");
  result.check = text("check");
  result.outputs = file_option(*values, "outputs");
  result.json = file_option(*values, "json");
  result.seed = parse_number(text("interleave"), "SEED of --interleave");
  result.retention = (*values)["retention"].as<bool>();
  result.quiet = (*values)["quiet"].as<bool>();
  if (result.mode != "timed" && result.mode != "functional") {
    throw Error(ErrorCode::kBadOption, fmt::format("--mode is timed or functional, not '{}'", result.mode));
  }
  if (!result.check.empty() && result.check != "undisturbed" && result.check != "reference") {
    throw Error(ErrorCode::kBadOption, fmt::format("--check knows undisturbed and reference, not '{}'", result.check));
  }
  if (!result.json.empty()) check_file_writable(result.json);
  result.places = places_of(result);
  if (!result.outputs.empty()) check_folder_writable(result.outputs);
  return result;
}

// Where its outputs go.
std::filesystem::path folder_of(const StreamOptions& options, const Stream& stream) {
  return std::filesystem::path(options.outputs) / stream.name;
}

Stream load_stream(const std::string& argument, const contract::Capabilities& caps) {
  const size_t split = argument.rfind('=');
  if (split == std::string::npos) {
    throw Error(ErrorCode::kBadOption, fmt::format("{} is not NETWORK.tosa=FRAMES.npy", in_quotes(argument)));
  }
  Network network = load_network(argument.substr(0, split));
  if (network.inputs.size() != 1) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} has {} inputs, but npu stream takes networks with one",
                                                  in_quotes(network.path.string()), network.inputs.size()));
  }
  compiler::Program program = compiler::compile(network.graph, caps);
  // The name of the input, for there may be a '=' in the file's.
  InputData frames(network.inputs, {network.inputs[0].name + "=" + argument.substr(split + 1)}, true);
  std::string name = network.path.stem().string();
  return {std::move(name), std::move(network), std::move(frames), std::move(program)};
}

std::vector<Stream> load_streams(const StreamOptions& options, const contract::Capabilities& caps) {
  std::vector<Stream> streams;
  for (const std::string& argument : options.streams) {
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
  std::optional<StreamOptions> parsed = parse_options(arguments);
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
  const Interleaved run = run_interleaved(device, streams, options.seed, options.retention, progress);
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
