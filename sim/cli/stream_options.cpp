// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "driver/graph/text.h"
#include "driver/runtime/limits.h"
#include "hw/contract/error.h"
#include "sim/cli/options.h"
#include "sim/workload/data.h"

namespace npu::cli {

namespace po = boost::program_options;
using contract::ErrorCode;
using graph::in_quotes;

namespace {

constexpr const char* kNetwork = "network";
constexpr const char* kInput = "input";

constexpr CommandHelp kStreamHelp = {
    "npu stream NETWORK.tosa=FRAMES.npy|NETWORK.tosa --input [NAME=]FRAMES.npy... ... [options]",
    "Runs several networks at once on one simulated NPU, each with its frames and in a context of its own, so that "
    "their\n"
    "variables share the persistent SRAM and nothing else (--share: in one context). NETWORK.tosa=FRAMES.npy is short\n"
    "for a network of one input. Which networks get their next frame together is random.",
    "  npu stream okay_nabu.tosa=frames.npy alexa.tosa=frames.npy\n"
    "  npu stream a.tosa=a.npy b.tosa=b.npy --interleave 7 --retention --check undisturbed\n"
    "  npu stream a.tosa=a.npy two_mics.tosa --input left=l.npy --input right=r.npy --check reference\n"
    "  npu stream encoder.tosa=a.npy decoder.tosa=b.npy --share --check reference\n"
    "  npu stream a.tosa=a.npy b.tosa=b.npy --check reference --outputs out/ --json out/stream.json\n"
    "  npu stream a.tosa=a.npy b.tosa=b.npy --retention --lockstep      (model and RTL, compared)\n"};

// Throws for a file that is read and written.
tool::FilePlaces places_of(const StreamOptions& options) {
  tool::FilePlaces places;
  places.read_machine(options.machine.config);
  for (const StreamArgument& stream : options.streams) {
    places.read("the network", stream.network);
    for (const std::string& input : stream.inputs) tool::read_input(places, "the frames", input);
  }
  places.write("--json", options.json);
  return places;
}

// Where NETWORK.tosa=FRAMES.npy is split: paths may have '=' in them, too, so files that are there decide.
size_t end_of_network(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return std::string::npos;
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    if (std::filesystem::is_regular_file(text.substr(0, at), ignored)) return at;
  }
  return text.rfind('=');
}

// Inputs belong to the network before them.
std::vector<StreamArgument> streams_of(const std::vector<Given>& order) {
  std::vector<StreamArgument> streams;
  for (const Given& given : order) {
    if (given.option == kNetwork) {
      const size_t split = end_of_network(given.value);
      streams.push_back({given.value.substr(0, split), {}});
      if (split != std::string::npos) streams.back().inputs.push_back(given.value.substr(split + 1));
    } else if (given.option == kInput) {
      if (streams.empty()) {
        throw Error(ErrorCode::kBadOption,
                    fmt::format("--input {} has no network before it; give it behind the network that it is for",
                                in_quotes(given.value)));
      }
      streams.back().inputs.push_back(given.value);
    }
  }
  for (const StreamArgument& stream : streams) {
    if (!stream.inputs.empty()) continue;
    throw Error(ErrorCode::kBadOption, fmt::format("{} is not NETWORK.tosa=FRAMES.npy, and no --input stands behind it",
                                                   in_quotes(stream.network)));
  }
  return streams;
}

}  // namespace

std::optional<StreamOptions> parse_stream_options(const Arguments& arguments) {
  po::options_description options, hidden;
  options.add_options()  //
      ("input,i", po::value<std::vector<std::string>>()->value_name("NAME=FRAMES.npy"),
       "frames of an input of the network before it, counted by the first axis; NAME may be left out when there is one "
       "input");
  add_machine_options(options);
  options.add_options()                                                                                               //
      ("interleave", po::value<std::string>()->default_value("1")->value_name("SEED"), "seed of the random choices")  //
      ("retention", po::bool_switch(),
       "power the device down between frames, half of the time: engines and scratchpad off, persistent SRAM in "
       "retention")  //
      ("state-in-dram", po::bool_switch(),
       "put all variables into DRAM; without it those that do not fit the persistent SRAM beside those of the networks "
       "before")  //
      ("double-buffer", po::bool_switch(),
       "give each variable that a network writes two places, so that an interrupted write leaves its old value")  //
      ("check", po::value<std::string>()->value_name("undisturbed|reference"),
       "compare every element of every output with a run of each network alone on the device, or with the software "
       "reference; exit status 7 when any differs")  //
      ("share", po::bool_switch(),
       "put all networks into one context, in which variables of the same name are one variable, and run a frame of "
       "each "
       "in turn, in the order of the command line")  //
      ("outputs,o", po::value<std::string>()->value_name("DIR"),
       "write each output to DIR/<network>/<name>.npy, both named as by npu run, stacked as by npu run --sequence")  //
      ("json", po::value<std::string>()->value_name("FILE"), "write the rounds, networks and results as JSON")       //
      ("quiet,q", po::bool_switch(), "no progress on long runs");
  add_back_end_options(options);
  hidden.add_options()(kNetwork, po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(kNetwork, -1);
  std::vector<Given> order;
  const auto values = parse(arguments, kStreamHelp, options, hidden, positional, &order);
  if (!values) return std::nullopt;
  StreamOptions result;
  const auto text = [&](const char* name) {
    return values->count(name) == 0 ? std::string() : (*values)[name].as<std::string>();
  };
  result.streams = streams_of(order);
  if (result.streams.empty()) {
    throw Error(ErrorCode::kBadOption, "NETWORK.tosa=FRAMES.npy is missing; see npu stream --help");
  }
  result.share = (*values)["share"].as<bool>();
  if (!result.share && result.streams.size() > runtime::kMaxContexts) {
    throw Error(
        ErrorCode::kContextsFull,
        fmt::format("{} networks are on the command line, but a device serves {} at a time, each in a context of "
                    "its own; give the others to a second npu stream",
                    result.streams.size(), runtime::kMaxContexts));
  }
  result.machine = machine_options(*values);
  result.check = text("check");
  result.outputs = file_option(*values, "outputs");
  result.json = file_option(*values, "json");
  result.seed = parse_number(text("interleave"), "SEED of --interleave");
  result.retention = (*values)["retention"].as<bool>();
  result.state_in_dram = (*values)["state-in-dram"].as<bool>();
  result.double_buffer = (*values)["double-buffer"].as<bool>();
  result.quiet = (*values)["quiet"].as<bool>();
  if (!result.check.empty() && result.check != "undisturbed" && result.check != "reference") {
    throw Error(ErrorCode::kBadOption, fmt::format("--check knows undisturbed and reference, not '{}'", result.check));
  }
  if (result.share && result.check == "undisturbed") {
    throw Error(
        ErrorCode::kBadOption,
        "networks that --share their variables are meant to change each other's outputs, so that --check undisturbed "
        "makes no sense; give --check reference");
  }
  result.back_ends = back_end_options(*values);
  for (const BackEndOptions::Choice& choice : result.back_ends.choices) {
    if (choice.layers.empty()) continue;
    throw Error(
        ErrorCode::kBadOption,
        fmt::format("--rtl names a layer, but there may be several networks here: give the whole {}, or run the "
                    "network with npu run",
                    name(choice.unit)));
  }
  if (!result.json.empty()) tool::check_file_writable(result.json);
  result.places = places_of(result);
  if (!result.outputs.empty()) tool::check_folder_writable(result.outputs);
  return result;
}

}  // namespace npu::cli
