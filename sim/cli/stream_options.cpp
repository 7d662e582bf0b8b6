// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

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

// Options whose place on the command line counts.
constexpr const char* kNetwork = "network";
constexpr const char* kInput = "input";
constexpr const char* kInvocations = "invocations";
constexpr const char* kPerRound = "per-round";
constexpr const char* kContext = "context";
constexpr const char* kPriority = "priority";

constexpr uint64_t kMostPriority = 255;

constexpr CommandHelp kStreamHelp = {
    "npu stream NETWORK.tosa=FRAMES.npy|NETWORK.tosa --input [NAME=]FRAMES.npy... ... [options]",
    "Runs several networks at once on one simulated NPU, each with its frames and in a context of its own, so that "
    "their\n"
    "variables share the persistent SRAM and nothing else. NETWORK.tosa=FRAMES.npy is short for a network of one "
    "input.\n"
    "Networks behind --context NAME are in one context: variables of the same name are one variable, as an encoder's "
    "and\n"
    "a decoder's are. In a round of its context each network gets its next frame, or its next --per-round N, in the "
    "order\n"
    "of the command line. Which contexts have a round together is random. Sizes that a network leaves open are those "
    "of its\n"
    "frames.",
    "  npu stream okay_nabu.tosa=frames.npy alexa.tosa=frames.npy\n"
    "  npu stream a.tosa=a.npy b.tosa=b.npy --interleave 7 --retention --check undisturbed\n"
    "  npu stream a.tosa=a.npy two_mics.tosa --input left=l.npy --input right=r.npy --check reference\n"
    "  npu stream --context talk encoder.tosa=a.npy decoder.tosa=b.npy --check reference\n"
    "  npu stream --context talk encoder.tosa=a.npy --per-round 4 decoder.tosa=b.npy \\\n"
    "             --context wake --priority 1 alexa.tosa=frames.npy --per-round 2 --check reference\n"
    "  npu stream --context talk encoder.tosa=a.npy decoder.tosa --invocations 8   (a decoder without inputs)\n"
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

// Makes networks and contexts of what stands on the command line, in its order.
class InOrder {
 public:
  explicit InOrder(StreamOptions& options) : options_(options) {}

  void take(const Given& given) {
    if (given.option == kNetwork) return take_network(given.value);
    if (given.option == kContext) return take_context(given.value);
    if (given.option == kPriority) return take_priority(given.value);
    if (given.option == kInput) network_before(given).inputs.push_back(given.value);
    if (given.option == kPerRound) network_before(given).per_round = count_of(given);
    if (given.option == kInvocations) network_before(given).invocations = count_of(given);
  }

 private:
  void take_network(const std::string& text) {
    if (!named_) options_.contexts.emplace_back();
    const size_t split = end_of_network(text);
    StreamArgument stream;
    stream.network = text.substr(0, split);
    if (split != std::string::npos) stream.inputs.push_back(text.substr(split + 1));
    stream.context = named_.value_or(options_.contexts.size() - 1);
    options_.streams.push_back(std::move(stream));
    has_network_ = true;
  }

  void take_context(const std::string& name) {
    if (name.empty()) throw Error(ErrorCode::kBadOption, "--context needs a name, not ''");
    std::vector<ContextArgument>& contexts = options_.contexts;
    const auto known =
        std::find_if(contexts.begin(), contexts.end(), [&](const ContextArgument& one) { return one.name == name; });
    named_ = static_cast<size_t>(known - contexts.begin());
    if (known == contexts.end()) contexts.push_back({name});
    has_network_ = false;
  }

  void take_priority(const std::string& text) {
    if (options_.contexts.empty()) {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("--priority {} has no network or --context before it; give it behind the one that it is "
                              "for",
                              in_quotes(text)));
    }
    const uint64_t priority = parse_number(text, "--priority");
    if (priority > kMostPriority) {
      throw Error(ErrorCode::kBadOption, fmt::format("--priority takes 0 to {}, not {}", kMostPriority, priority));
    }
    options_.contexts[named_.value_or(options_.contexts.size() - 1)].priority = static_cast<uint32_t>(priority);
  }

  StreamArgument& network_before(const Given& given) {
    if (has_network_) return options_.streams.back();
    throw Error(ErrorCode::kBadOption,
                fmt::format("--{} {} has no network before it{}; give it behind the network that it is for",
                            given.option, in_quotes(given.value), named_ ? " in its context" : ""));
  }

  static int64_t count_of(const Given& given) {
    const uint64_t count = parse_number(given.value, fmt::format("--{}", given.option));
    if (count >= 1 && count <= uint64_t{kMostFrames}) return static_cast<int64_t>(count);
    throw Error(ErrorCode::kBadOption, fmt::format("--{} takes 1 to {}, not {}", given.option, kMostFrames, count));
  }

  StreamOptions& options_;
  std::optional<size_t> named_;  // the context of --context that networks join
  bool has_network_ = false;     // since --context
};

// Throws for what is left without a network, and for a network that nothing says how often to run.
void check_complete(const StreamOptions& options) {
  if (options.streams.empty()) {
    throw Error(ErrorCode::kBadOption, "NETWORK.tosa=FRAMES.npy is missing; see npu stream --help");
  }
  for (const StreamArgument& stream : options.streams) {
    if (!stream.inputs.empty() || stream.invocations) continue;
    throw Error(ErrorCode::kBadOption, fmt::format("{} is not NETWORK.tosa=FRAMES.npy, and no --input stands behind it",
                                                   in_quotes(stream.network)));
  }
  for (size_t i = 0; i < options.contexts.size(); ++i) {
    const auto in_it = [&](const StreamArgument& stream) { return stream.context == i; };
    if (std::any_of(options.streams.begin(), options.streams.end(), in_it)) continue;
    throw Error(ErrorCode::kBadOption, fmt::format("no network stands behind --context {}; give its networks there",
                                                   in_quotes(options.contexts[i].name)));
  }
  if (options.contexts.size() <= runtime::kMaxContexts) return;
  throw Error(
      ErrorCode::kContextsFull,
      fmt::format("{} {} are on the command line, but a device serves {} at a time{}; give the others to a "
                  "second npu stream",
                  options.contexts.size(), options.contexts.size() == options.streams.size() ? "networks" : "contexts",
                  runtime::kMaxContexts,
                  options.contexts.size() == options.streams.size() ? ", each in a context of its own" : ""));
}

// --share of 0.1.0: one --context before all networks.
void share(StreamOptions& options) {
  const auto named = [](const ContextArgument& context) { return !context.name.empty() || context.priority > 0; };
  if (std::any_of(options.contexts.begin(), options.contexts.end(), named)) {
    throw Error(ErrorCode::kBadOption,
                "--share puts all networks into one context, and --context or --priority tell contexts apart; leave "
                "out --share");
  }
  options.contexts.assign(1, {"shared"});
  for (StreamArgument& stream : options.streams) stream.context = 0;
}

}  // namespace

std::optional<StreamOptions> parse_stream_options(const Arguments& arguments) {
  po::options_description options, hidden;
  options.add_options()  //
      ("input,i", po::value<std::vector<std::string>>()->value_name("NAME=FRAMES.npy"),
       "frames of an input of the network before it, counted by the first axis; NAME may be left out when there is one "
       "input")  //
      (kInvocations, po::value<std::vector<std::string>>()->value_name("N"),
       "run the first N frames of the network before it; says how often to run a network without inputs")  //
      (kPerRound, po::value<std::vector<std::string>>()->value_name("N"),
       "give the network before it N frames in each round of its context, instead of one")  //
      (kContext, po::value<std::vector<std::string>>()->value_name("NAME"),
       "put the networks behind it, up to the next --context, into the context of this name, where variables of the "
       "same "
       "name are one variable; networks before the first --context have a context each")  //
      (kPriority, po::value<std::vector<std::string>>()->value_name("N"),
       "of the --context, or of the context of the network, before it: 0 to 255; the device interrupts jobs for those "
       "of "
       "a larger priority");
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
      ("no-resident-constants", po::bool_switch(),
       "each frame loads the constants of its network; without it they stay in the scratchpad, if those of all "
       "networks "
       "fit there beside what each of them needs")  //
      ("check", po::value<std::string>()->value_name("undisturbed|reference"),
       "compare every element of every output with a run of each context alone on the device, or with the software "
       "reference; exit status 7 when any differs")  //
      ("outputs,o", po::value<std::string>()->value_name("DIR"),
       "write each output to DIR/<network>/<name>.npy, both named as by npu run, stacked as by npu run --sequence")  //
      ("json", po::value<std::string>()->value_name("FILE"), "write the rounds, networks and results as JSON")       //
      ("quiet,q", po::bool_switch(), "no progress on long runs");
  add_back_end_options(options);
  hidden.add_options()(kNetwork, po::value<std::vector<std::string>>())("share", po::bool_switch());
  po::positional_options_description positional;
  positional.add(kNetwork, -1);
  std::vector<Given> order;
  const auto values = parse(arguments, kStreamHelp, options, hidden, positional, &order);
  if (!values) return std::nullopt;
  StreamOptions result;
  const auto text = [&](const char* name) {
    return values->count(name) == 0 ? std::string() : (*values)[name].as<std::string>();
  };
  InOrder in_order(result);
  for (const Given& given : order) in_order.take(given);
  if ((*values)["share"].as<bool>()) share(result);
  check_complete(result);
  result.machine = machine_options(*values);
  result.check = text("check");
  result.outputs = file_option(*values, "outputs");
  result.json = file_option(*values, "json");
  result.seed = parse_number(text("interleave"), "SEED of --interleave");
  result.retention = (*values)["retention"].as<bool>();
  result.state_in_dram = (*values)["state-in-dram"].as<bool>();
  result.double_buffer = (*values)["double-buffer"].as<bool>();
  result.resident_constants = !(*values)["no-resident-constants"].as<bool>();
  result.quiet = (*values)["quiet"].as<bool>();
  if (!result.check.empty() && result.check != "undisturbed" && result.check != "reference") {
    throw Error(ErrorCode::kBadOption, fmt::format("--check knows undisturbed and reference, not '{}'", result.check));
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
