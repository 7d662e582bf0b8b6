// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/data_options.h"

#include <fmt/format.h>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/options.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

workload::InvocationRange invocation_range(const po::variables_map& values, bool sequence) {
  workload::InvocationRange range;
  constexpr uint64_t kMost = 1'000'000'000;
  const auto number = [&](const char* option) {
    const uint64_t value = parse_number(values[option].as<std::string>(), fmt::format("--{}", option));
    if (value <= kMost) return static_cast<int64_t>(value);
    throw Error(contract::ErrorCode::kBadOption,
                fmt::format("--{} is {}, but at most {} is allowed", option, value, kMost));
  };
  if (values.count("skip") > 0) range.skip = number("skip");
  if (range.skip > 0 && !sequence) {
    throw Error(contract::ErrorCode::kBadOption, "--skip leaves out invocations of a sequence; add --sequence");
  }
  if (values.count("invocations") > 0) range.count = number("invocations");
  if (range.count == 0) {
    throw Error(contract::ErrorCode::kBadOption, "--invocations is 0, so there is nothing to run; give at least 1");
  }
  return range;
}

std::optional<graph::Level> level_option(const po::variables_map& values) {
  if (values.count("level") == 0) return std::nullopt;
  const auto& name = values["level"].as<std::string>();
  const auto level = graph::level_from_name(name);
  if (!level) {
    throw Error(contract::ErrorCode::kBadOption,
                fmt::format("--level takes 'none' or '8k', not {}", graph::in_quotes(name)));
  }
  return level;
}

tool::FilePlaces places_of(const po::variables_map& values, const DataOptions& options) {
  tool::FilePlaces places;
  if (values.count("file") > 0) places.read("the network", values["file"].as<std::string>());
  for (const std::string& input : options.inputs) {
    tool::read_input(places, "an input", input);
  }
  places.read("--resume", options.resume);
  // Taking the state from a file and leaving it there again is what a stream does that stops now and then.
  places.write("--save-state", options.save_state, "--resume");
  return places;
}

}  // namespace

void add_data_options(po::options_description& options) {
  options.add_options()  //
      ("input,i", po::value<std::vector<std::string>>()->value_name("NAME=FILE.npy"),
       "data of an input; NAME may be left out when there is one input")  //
      ("sequence", po::bool_switch(),
       "the first axis of every input counts invocations, outputs are stacked the same way; variables keep their "
       "values from one to the next. An input given several times, or as a folder of numbered files, has a file for "
       "each "
       "invocation, whose open sizes may change, and outputs go to DIR/<name>/<invocation>.npy")  //
      ("outputs,o", po::value<std::string>()->value_name("DIR"),
       "write each output to DIR/<name>.npy; bytes of the name other than letters, digits, '.', '_' and '-' become "
       "%XX; unsigned results keep their bits in the signed type of the tensor")  //
      ("invocations", po::value<std::string>()->value_name("N"),
       "run N invocations: the first N of a sequence, or N with the same inputs; outputs are stacked")            //
      ("skip", po::value<std::string>()->value_name("N"), "leave out the first N invocations of a sequence")      //
      ("zero-init", po::bool_switch(), "variables without initial value start as zeros instead of as unwritten")  //
      ("resume", po::value<std::string>()->value_name("FILE"),
       "start with the variables that --save-state left in FILE, instead of with cleared ones")  //
      ("save-state", po::value<std::string>()->value_name("FILE"),
       "write the variables to FILE after the last invocation (npu state --help)")                  //
      ("strict", po::bool_switch(), "refuse variables of types that TOSA 1.0 has no variables of")  //
      ("level", po::value<std::string>()->value_name("none|8k"),
       "refuse a network above this level of the specification; without it, sizes are not checked")  //
      ("quiet,q", po::bool_switch(), "no progress on long runs");
  add_shape_option(options);
}

graph::GivenShapes with_given_shapes(const DataOptions& options, graph::GivenShapes shapes) {
  for (const auto& [name, shape] : options.shapes) {
    const auto [data, added] = shapes.emplace(name, shape);
    if (added || data->second == shape) continue;
    throw Error(contract::ErrorCode::kBadInput,
                fmt::format("--shape gives {} as {}, but its data has the shape {}", graph::in_quotes(name),
                            graph::to_string(shape), graph::to_string(data->second)));
  }
  return shapes;
}

void add_file_and_inputs(po::options_description& hidden, po::positional_options_description& positional) {
  hidden.add_options()("file", po::value<std::string>());
  positional.add("file", 1).add("input", -1);  // one list, in the order of the command line
}

DataOptions data_options(const po::variables_map& values) {
  DataOptions options;
  if (values.count("input") > 0) options.inputs = values["input"].as<std::vector<std::string>>();
  options.sequence = values["sequence"].as<bool>();
  options.shapes = shape_option(values);
  options.outputs = file_option(values, "outputs");
  options.zero_init = values["zero-init"].as<bool>();
  options.strict = values["strict"].as<bool>();
  options.level = level_option(values);
  options.quiet = values["quiet"].as<bool>();
  options.range = invocation_range(values, options.sequence);
  options.resume = file_option(values, "resume");
  options.save_state = file_option(values, "save-state");
  if (!options.save_state.empty()) tool::check_file_writable(options.save_state);
  options.places = places_of(values, options);
  return options;
}

void check_network(const DataOptions& options, const workload::Network& network) {
  if (!options.shapes.empty() && !network.was_open) {
    throw Error(contract::ErrorCode::kBadOption,
                fmt::format("all sizes of {} are fixed: leave out --shape", graph::in_quotes(network.path.string())));
  }
  if (options.level) graph::check_level(network.graph, *options.level);
  if (options.strict) workload::check_strict(network);
}

}  // namespace npu::cli
