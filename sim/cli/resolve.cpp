// SPDX-License-Identifier: Apache-2.0
// `npu resolve`: a network whose file leaves sizes open or computes shapes, with fixed ones.
#include <fmt/format.h>

#include <string>

#include "driver/graph/text.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "sim/cli/command.h"
#include "sim/cli/options.h"
#include "sim/tool/file_places.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;

namespace {

constexpr CommandHelp kResolveHelp = {
    "npu resolve FILE [--shape NAME=5x4...] -o FILE.tosa",
    "Gives sizes to the dimensions that a network's file leaves open (-1), checks the rules of all operators for them, "
    "and\n"
    "writes the network with fixed sizes, which every command takes. npu run and npu reference need no such file: they "
    "take\n"
    "the sizes from the data. An open size never broadcasts, even where it is given as 1. Operators that compute "
    "shapes "
    "(of TOSA\n"
    "1.1: DIM, ADD_SHAPE and so on) become constants.",
    "  npu resolve net.tosa --shape x=8x16 -o net_8.tosa\n"
    "  npu resolve encoder.tosa --shape tokens=1x40 --shape mask=1x40x40 -o encoder_40.tosa\n"
    "  npu resolve net.tosa --shape x=8x16 -o net_8.tosa && npu compile net_8.tosa -o net_8.npu\n"};

void say_ports(const char* what, const std::vector<workload::GraphPort>& ports) {
  for (const workload::GraphPort& port : ports) {
    tool::say("{} {}: {}\n", what, graph::printable(port.name), graph::describe_type(port.type, port.shape));
  }
}

}  // namespace

int run_resolve(const Arguments& arguments) {
  po::options_description options, hidden;
  options.add_options()("output,o", po::value<std::string>()->value_name("FILE.tosa"), "the file to write");
  add_shape_option(options);
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse(arguments, kResolveHelp, options, hidden, positional);
  if (!values) return 0;
  const std::string source = required(*values, "file", "the network's FILE", "npu resolve");
  const std::string target = file_option(*values, "output");
  if (target.empty()) static_cast<void>(required(*values, "output", "-o FILE.tosa", "npu resolve"));
  const graph::GivenShapes shapes = shape_option(*values);
  tool::FilePlaces places;
  places.read("the network", source);
  places.write("-o", target);
  tool::check_file_writable(target);

  const workload::Network network =
      workload::load_network(source, [&](const std::vector<workload::GraphPort>&) { return shapes; });
  if (!network.was_open && !network.declared) {
    throw Error(contract::ErrorCode::kBadOption,
                fmt::format("all sizes of {} are fixed already; use it as it is", graph::in_quotes(source)));
  }
  tool::StagedFiles files;
  files.write(target, graph::serialize(network.graph));
  files.commit();
  say_ports("input", network.inputs);
  say_ports("output", network.outputs);
  tool::say("{} -> {}\n", source, target);
  return 0;
}

}  // namespace npu::cli
