// SPDX-License-Identifier: Apache-2.0
// How long a stream of commands takes, roughly: for choosing between schedules of the same module.
#pragma once

#include <span>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Cycles until the last command is done. Knows in-order issue into FIFOs, tokens, the engines' formulas and the shared
// port to DRAM; memory is otherwise ideal. Tokens must be set. Of control flow both branches and the body of a loop
// count once: how often they run is known on the device alone.
// `variables`: those of the program, of which some live in DRAM.
[[nodiscard]] double estimate_cycles(const std::vector<Command>& commands, std::span<const Variable> variables,
                                     const contract::Capabilities& capabilities);

// The same with times in between, cycles from the start; one entry a command.
struct Timeline {
  std::vector<double> issued;     // the command has found room in its FIFO, and the sequencer turns to the next
  std::vector<double> completed;  // it and all before it are done
};
[[nodiscard]] Timeline estimate_timeline(const std::vector<Command>& commands, std::span<const Variable> variables,
                                         const contract::Capabilities& capabilities);

}  // namespace npu::compiler::backend
