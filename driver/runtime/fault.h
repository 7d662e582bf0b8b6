// SPDX-License-Identifier: Apache-2.0
// Faults of jobs in words.
#pragma once

#include <cstdint>
#include <string>

#include "driver/compiler/program.h"
#include "driver/runtime/link.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/variable_manager.h"

namespace npu::runtime {

struct FaultText {
  Fault fault;  // with its layer; an unknown code became kFaultBus
  std::string message;
};

// Of a job of context `owner` that ended as kFault. Names command, engine, layer, address and cycle; for variable
// faults the variable, for kFaultTimeout who waits for whom.
[[nodiscard]] FaultText describe_fault(const JobEnd& end, const compiler::Program& program,
                                       const VariableManager& variables, uint16_t owner, uint64_t cycle_limit);

}  // namespace npu::runtime
