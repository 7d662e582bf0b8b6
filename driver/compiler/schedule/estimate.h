// SPDX-License-Identifier: Apache-2.0
// How long a stream of commands takes, roughly: for choosing between schedules of the same module.
#pragma once

#include <span>
#include <vector>

#include "driver/compiler/schedule/estimator.h"

namespace npu::compiler::backend {

// Cycles from the start, one entry a command. Tokens must be set. Of control flow both branches and the body of a loop
// count once: how often they run is known on the device alone.
// `variables`: those of the program, of which some live in DRAM.
struct Timeline {
  std::vector<double> issued;     // the command has found room in its FIFO, and the sequencer turns to the next
  std::vector<double> completed;  // it and all before it are done
  std::vector<Estimator::Times> times = {};
  double moving = 0;  // cycles in which the port to DRAM is busy, of estimate_timeline()

  [[nodiscard]] double cycles() const { return completed.empty() ? 0 : completed.back(); }
};
[[nodiscard]] Timeline estimate_timeline(const std::vector<Command>& commands, std::span<const Variable> variables,
                                         const contract::Capabilities& capabilities);

}  // namespace npu::compiler::backend
