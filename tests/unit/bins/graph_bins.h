// SPDX-License-Identifier: Apache-2.0
// Bins of the operators of random graphs, a family of bins for each family of operators.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "tests/unit/bins/bins.h"

namespace npu::test {

class GraphBins {
 public:
  GraphBins();

  // The operators of the main block that a device has to run: outputs or variables depend on them, and they on inputs
  // or variables.
  void add(const graph::Graph& graph);

  [[nodiscard]] uint64_t count(graph::Op op) const;
  [[nodiscard]] const Bins& family(graph::Op op) const;
  // Bins that were never hit, and operators of the families that were never drawn.
  [[nodiscard]] std::vector<std::string> missed() const;
  void print(std::ostream& out) const;

 private:
  std::vector<Bins> families_;
  std::map<graph::Op, uint64_t> operators_;
};

}  // namespace npu::test
