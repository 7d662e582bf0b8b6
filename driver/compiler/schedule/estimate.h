// How long a stream of commands takes, roughly: for choosing between schedules of the same module.
#pragma once

#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Cycles until the last command is done. Knows in-order issue into FIFOs, tokens, the engines' formulas and the shared
// port to DRAM; memory is otherwise ideal. Tokens must be set.
[[nodiscard]] double estimate_cycles(const std::vector<Command>& commands, const contract::Capabilities& capabilities);

}  // namespace npu::compiler::backend
