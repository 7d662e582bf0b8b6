// SPDX-License-Identifier: Apache-2.0
// Lowers a graph and runs its steps naively on host memory, invocation after invocation.
#pragma once

#include <vector>

#include "driver/compiler/ir.h"
#include "driver/graph/graph.h"
#include "driver/graph/value.h"
#include "hw/contract/gen/capabilities.h"
#include "tests/unit/compiler/step_interpreter.h"

namespace npu::compiler::testing {

// What the front end asks of a machine: room for element-wise programs.
[[nodiscard]] contract::Capabilities front_machine(uint32_t vpu_registers = 16, uint32_t vpu_table_bytes = 65536);

class FrontRun {
 public:
  // The graph must outlive this.
  explicit FrontRun(const graph::Graph& graph, const contract::Capabilities& machine = front_machine());

  [[nodiscard]] const Module& module() const { return module_; }
  // One invocation; variables keep their bytes. All other buffers start poisoned.
  [[nodiscard]] std::vector<graph::Value> run(const std::vector<graph::Value>& inputs);
  [[nodiscard]] const std::vector<uint8_t>& variable(size_t index) const { return variables_[index]; }

 private:
  Module module_;
  std::vector<std::vector<uint8_t>> variables_;
};

}  // namespace npu::compiler::testing
