// SPDX-License-Identifier: Apache-2.0
// `npu info`: what a network is, needs and costs, and what a machine supports of it; or what its open sizes are.
#include <string>
#include <utility>
#include <vector>

#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/json_option.h"
#include "sim/cli/machine_options.h"
#include "sim/cli/options.h"
#include "sim/inspect/network_info.h"
#include "sim/inspect/open_network.h"
#include "sim/tool/file_places.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

constexpr CommandHelp kInfoHelp = {
    "npu info FILE [options]",
    "Prints inputs, outputs, operators, types, variables, the profiles and extensions that "
    "a network needs, its MACs, and\n"
    "what a machine supports of it, and the compiler's estimate of its cycles. Of a network whose file leaves sizes "
    "open "
    "it\n"
    "prints instead which sizes those are (x.0 is the first of x), which must be equal, what all others are in terms "
    "of "
    "them,\n"
    "and what must hold.",
    "  npu info net.tosa\n"
    "  npu info net.tosa --config nano --layers\n"
    "  npu info net.tosa --json | jq .macs\n"
    "  npu info net.tosa --json info.json\n"
    "  npu info open.tosa --tensors\n"};

}  // namespace

int run_info(const Arguments& arguments) {
  po::options_description options, hidden;
  add_config_option(options);
  options.add_options()("layers", po::bool_switch(), "print the compiler's estimate of each layer, too");
  options.add_options()("tensors", po::bool_switch(),
                        "of a network whose file leaves sizes open, print the sizes of all tensors, too");
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
  const workload::Network network = workload::load_open_network(file);
  if (network.was_open) {
    const inspect::OpenNetwork open = inspect::inspect_open_network(network);
    json.tell([&] { return inspect::to_text(open, (*values)["tensors"].as<bool>()); },
              [&] { return inspect::to_json_text(open); });
    return 0;
  }
  const inspect::NetworkInfo info = inspect::inspect_network(network, preset);
  json.tell([&] { return inspect::to_text(info, (*values)["layers"].as<bool>()); },
            [&] { return inspect::to_json_text(info); });
  return 0;
}

}  // namespace npu::cli
