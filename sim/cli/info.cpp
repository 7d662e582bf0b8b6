// SPDX-License-Identifier: Apache-2.0
// `npu info`: what a network is, needs and costs, and what a machine supports of it.
#include <string>
#include <utility>
#include <vector>

#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/json_option.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/inspect/network_info.h"
#include "sim/tool/file_places.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

constexpr CommandHelp kInfoHelp = {
    "npu info FILE [options]",
    "Prints inputs, outputs, operators, types, variables, the profiles and extensions that "
    "a network needs, its MACs, and\n"
    "what a machine supports of it, and the compiler's estimate of its cycles.",
    "  npu info net.tosa\n"
    "  npu info net.tosa --config nano --layers\n"
    "  npu info net.tosa --json | jq .macs\n"
    "  npu info net.tosa --json info.json\n"};

}  // namespace

int run_info(const Arguments& arguments) {
  po::options_description options, hidden;
  add_config_option(options);
  options.add_options()("layers", po::bool_switch(), "print the compiler's estimate of each layer, too");
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  JsonOption json(options, hidden, positional,
                  "write JSON, with the estimate of each layer, to the FILE behind it; without FILE to standard "
                  "output, in place of the text");
  std::vector<Given> order;
  const auto values = parse(arguments, kInfoHelp, options, hidden, positional, &order);
  if (!values) return 0;
  const std::string file = required(*values, "file", "the network's FILE");
  tool::FilePlaces places;
  places.read_machine((*values)["config"].as<std::string>());
  places.read("the network", file);
  json.read(*values, order, kInfoHelp, std::move(places));
  const presets::Preset preset = config_option(*values);
  const workload::Network network = workload::load_network(file);
  const inspect::NetworkInfo info = inspect::inspect_network(network, preset);
  json.tell([&] { return inspect::to_text(info, (*values)["layers"].as<bool>()); },
            [&] { return inspect::to_json_text(info); });
  return 0;
}

}  // namespace npu::cli
