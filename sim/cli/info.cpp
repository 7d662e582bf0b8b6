// SPDX-License-Identifier: Apache-2.0
// `npu info`: what a network is, needs and costs, and what a machine supports of it.
#include <string>

#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/inspect/network_info.h"
#include "sim/tool/say.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;
using tool::say;

namespace {

constexpr CommandHelp kInfoHelp = {
    "npu info FILE [options]",
    "Prints inputs, outputs, operators, types, variables, the profiles and extensions that "
    "a network needs, its MACs, and\n"
    "what a machine supports of it, and the compiler's estimate of its cycles.",
    "  npu info net.tosa\n"
    "  npu info net.tosa --config nano --layers\n"
    "  npu info net.tosa --json | jq .macs\n"};

}  // namespace

int run_info(const Arguments& arguments) {
  po::options_description options, hidden;
  add_config_option(options);
  options.add_options()                                                                  //
      ("layers", po::bool_switch(), "print the compiler's estimate of each layer, too")  //
      ("json", po::bool_switch(), "print JSON, with the estimate of each layer");
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse(arguments, kInfoHelp, options, hidden, positional);
  if (!values) return 0;
  const std::string file = required(*values, "file", "the network's FILE");
  const presets::Preset preset = config_option(*values);
  const workload::Network network = workload::load_network(file);
  const inspect::NetworkInfo info = inspect::inspect_network(network, preset);
  say("{}", (*values)["json"].as<bool>() ? inspect::to_json_text(info)
                                         : inspect::to_text(info, (*values)["layers"].as<bool>()));
  return 0;
}

}  // namespace npu::cli
