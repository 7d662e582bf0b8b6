// SPDX-License-Identifier: Apache-2.0
// Whether the reference and a machine run the sample of an operator.
#pragma once

#include <string>

#include "hw/presets/preset.h"
#include "sim/generator/operator_sample.h"

namespace npu::inspect {

[[nodiscard]] bool reference_runs(const generator::OperatorSample& sample);

// Of a machine: the engine that runs the operator, or why none does.
struct MachineAnswer {
  std::string engine, reason;
};
[[nodiscard]] MachineAnswer ask_machine(graph::Op op, const graph::Graph& sample, const presets::Preset& preset);

}  // namespace npu::inspect
