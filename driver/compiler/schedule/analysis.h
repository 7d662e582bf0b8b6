// SPDX-License-Identifier: Apache-2.0
// What the back end must know about a module before it decides anything.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/flow.h"
#include "driver/compiler/schedule/tiled_step.h"

namespace npu::compiler::backend {

// Steps in which a buffer is touched. `first` > `last`: never. What a loop reads before it writes it, or what is
// touched outside of it too, lives in all of the loop. Inputs and outputs live in all of a construct of control flow
// that touches them: they are moved before and behind it.
struct Lifetime {
  int64_t first = INT64_MAX, last = -1;
  int64_t last_write = -1;
  int64_t traffic = 0;  // bytes that steps read and write
};

// Steps that run stripe by stripe together: from `first` on, one more than there are entries in `stored`.
struct JoinedSteps {
  size_t first = 0;
  std::vector<bool> stored;  // of the result of each but the last: whether it is stored as well (ChainLink)
};

struct Analysis {
  Flow flow;
  std::vector<std::unique_ptr<TiledStep>> steps;    // null for declarations, control flow, and what a chain took up
  std::vector<std::unique_ptr<TiledStep>> chained;  // the parts of the chains
  std::vector<JoinedSteps> joined;
  std::vector<Lifetime> lifetimes;  // one a buffer
  // Cycles of a neighbouring step of another engine that could run beside each step if both are cut into tiles.
  std::vector<double> overlap;
  // Part of the loading of each step's constants that work of earlier steps cannot hide.
  std::vector<double> exposed;
};

// Lifetimes and overlap anew, after steps were joined.
void measure(const Module& module, const ScheduleOptions& options, Analysis& analysis);

// The module must outlive the result.
[[nodiscard]] Analysis analyse(const Module& module, const contract::Capabilities& capabilities,
                               const ScheduleOptions& options);

}  // namespace npu::compiler::backend
