// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/front_run.h"

#include <algorithm>

#include "driver/compiler/lower.h"
#include "hw/contract/error.h"

namespace npu::compiler::testing {

contract::Capabilities front_machine(uint32_t vpu_registers, uint32_t vpu_table_bytes) {
  contract::Capabilities machine;
  machine.mxu_int16 = 1;
  machine.dma_port_bytes = 16;
  machine.vpu_lanes = 64;
  machine.vpu_registers = vpu_registers;
  machine.vpu_table_bytes = vpu_table_bytes;
  return machine;
}

FrontRun::FrontRun(const graph::Graph& graph, const contract::Capabilities& machine) : module_(lower(graph, machine)) {
  for (const Variable& variable : module_.variables) {
    variables_.push_back(variable.initial.empty() ? std::vector<uint8_t>(variable.bytes, 0x5a) : variable.initial);
  }
}

std::vector<graph::Value> FrontRun::run(const std::vector<graph::Value>& inputs) {
  NPU_CHECK(inputs.size() == module_.inputs.size());
  Buffers buffers = make_buffers(module_);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = module_.buffers[i];
    if (buffer.kind == BufferKind::kVariable) {
      buffers[i] = variables_[buffer.index];
    } else if (buffer.kind != BufferKind::kConstant) {
      std::fill(buffers[i].begin(), buffers[i].end(), uint8_t{0xa5});
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    NPU_CHECK(inputs[i].bytes.size() == buffers[module_.input_buffers[i]].size());
    buffers[module_.input_buffers[i]] = inputs[i].bytes;
  }
  run_steps(module_, buffers);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = module_.buffers[i];
    if (buffer.kind == BufferKind::kVariable) variables_[buffer.index] = buffers[i];
  }
  std::vector<graph::Value> outputs;
  for (size_t i = 0; i < module_.outputs.size(); ++i) {
    outputs.push_back({module_.outputs[i].type, module_.outputs[i].shape, buffers[module_.output_buffers[i]]});
  }
  return outputs;
}

}  // namespace npu::compiler::testing
