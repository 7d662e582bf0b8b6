// SPDX-License-Identifier: Apache-2.0
// A schedule as data for those who explain it.
#pragma once

#include <span>

#include "driver/compiler/explanation.h"
#include "driver/compiler/schedule/variants.h"

namespace npu::compiler::backend {

struct ExplainedMachine {
  int64_t scratchpad_bytes = 0;  // that the schedule was made for
  bool resident = false;         // constants stay in the rest of it
};

// `yields`: for each yield command the index, in the schedule, of the command that follows it.
[[nodiscard]] Explanation explain(const Module& module, const Schedule& schedule, std::span<const size_t> yields,
                                  const ExplainedMachine& machine);

}  // namespace npu::compiler::backend
