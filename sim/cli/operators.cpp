// SPDX-License-Identifier: Apache-2.0
// `npu operators`: the operators of TOSA with their types, and what the reference and a machine run of them.
#include <string>
#include <utility>
#include <vector>

#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/json_option.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/inspect/operator_support.h"
#include "sim/tool/file_places.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

constexpr CommandHelp kOperatorsHelp = {
    "npu operators [options]",
    "Prints the operators of TOSA 1.0, and those of 1.1 that compute shapes, with each combination of types: the\n"
    "profiles and extensions that have it, and whether the software reference and a machine run it. The smallest\n"
    "network of an operator decides. Then it says which profiles and extensions the reference and each machine run\n"
    "whole, and what of the others is missing.",
    "  npu operators\n"
    "  npu operators --config nano\n"
    "  npu operators --json | jq '.operators[] | select(.name == \"CONV2D\")'\n"};

}  // namespace

int run_operators(const Arguments& arguments) {
  po::options_description options, hidden;
  add_config_option(options);
  po::positional_options_description positional;
  JsonOption json(options, hidden, positional, kJsonHelp);
  std::vector<Given> order;
  const auto values = parse(arguments, kOperatorsHelp, options, hidden, positional, &order);
  if (!values) return 0;
  tool::FilePlaces places;
  places.read_machine((*values)["config"].as<std::string>());
  json.read(*values, order, kOperatorsHelp, std::move(places));
  const presets::Preset preset = config_option(*values);
  const std::vector<inspect::OperatorSupport> operators = inspect::inspect_operators(preset);
  const std::vector<inspect::FeatureSupport> features = inspect::inspect_features(inspect::machines_with(preset));
  json.tell([&] { return inspect::to_text(operators, preset.name) + "\n" + inspect::to_text(features); },
            [&] { return inspect::to_json_text(operators, preset.name, features); });
  return 0;
}

}  // namespace npu::cli
