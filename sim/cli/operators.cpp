// SPDX-License-Identifier: Apache-2.0
// `npu operators`: the operators of TOSA with their types, and what the reference and a machine run of them.
#include <string>
#include <vector>

#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/inspect/operator_support.h"
#include "sim/tool/say.h"

namespace npu::cli {

namespace po = boost::program_options;
using tool::say;

namespace {

constexpr CommandHelp kOperatorsHelp = {
    "npu operators [options]",
    "Prints the operators of TOSA 1.0 with each combination of types: the profiles and extensions that have it, and\n"
    "whether the software reference and a machine run it. The smallest network of an operator decides.",
    "  npu operators\n"
    "  npu operators --config nano\n"
    "  npu operators --json | jq '.operators[] | select(.name == \"CONV2D\")'\n"};

}  // namespace

int run_operators(const Arguments& arguments) {
  po::options_description options, hidden;
  add_config_option(options);
  options.add_options()  //
      ("json", po::bool_switch(), "print JSON");
  const auto values = parse(arguments, kOperatorsHelp, options, hidden, {});
  if (!values) return 0;
  const presets::Preset preset = config_option(*values);
  const std::vector<inspect::OperatorSupport> operators = inspect::inspect_operators(preset);
  say("{}", (*values)["json"].as<bool>() ? inspect::to_json_text(operators, preset.name)
                                         : inspect::to_text(operators, preset.name));
  return 0;
}

}  // namespace npu::cli
