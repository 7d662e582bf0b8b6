// SPDX-License-Identifier: Apache-2.0
// graph_rewrite IN OUT [identity|opcodes]: reads a .tosa file and writes it again.
// graph_rewrite --samples FOLDER: writes the sample graphs of these tests.
#include <cstring>
#include <filesystem>
#include <iostream>
#include <vector>

#include "driver/graph/reader.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace graph = npu::graph;

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::strcmp(argv[1], "--samples") == 0) {
      const std::filesystem::path folder = argv[2];
      std::vector<graph::Op> operators = graph::samples::all_operators();
      for (const graph::Op op : graph::samples::shape_operators()) operators.push_back(op);
      for (const graph::Op op : operators) {
        graph::write_tosa(folder / (std::string(graph::name(op)) + ".tosa"), graph::samples::of(op));
      }
      graph::write_tosa(folder / "network.tosa", graph::samples::network());
      graph::write_tosa(folder / "nested_control_flow.tosa", graph::samples::nested_control_flow());
      return 0;
    }
    if (argc == 4) {
      graph::write_tosa(argv[2], graph::read_tosa(argv[1]), {std::strcmp(argv[3], "opcodes") == 0});
      return 0;
    }
  } catch (const npu::Error& error) {
    std::cerr << "graph_rewrite: " << error.what() << "\n";
    return error.exit_status();
  }
  std::cerr << "usage: graph_rewrite IN OUT identity|opcodes\n";
  return 64;
}
