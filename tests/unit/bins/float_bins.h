// SPDX-License-Identifier: Apache-2.0
// Bins of what random graphs do with floating point: a bin for each operator and combination of types that has any, and
// for control flow and each format of its operands.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::test {

class FloatBins {
 public:
  FloatBins();

  // An operator of the main block of a validated graph.
  void add(const graph::Graph& graph, const graph::Operator& op);

  [[nodiscard]] uint64_t count(const std::string& bin) const;
  // Bins that were never hit.
  [[nodiscard]] std::vector<std::string> missed() const;
  // How many bins there are, and those that were hit least.
  void print(std::ostream& out) const;

 private:
  std::map<std::string, uint64_t> bins_;
};

}  // namespace npu::test
