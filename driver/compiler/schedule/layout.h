// Where everything lives: which buffers stay in the scratchpad, how each step is tiled with what is left, and all
// addresses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/plan.h"

namespace npu::compiler::backend {

// Steps in which a buffer is touched. `first` > `last`: never.
struct Lifetime {
  int64_t first = INT64_MAX, last = -1;
  int64_t last_write = -1;
  int64_t traffic = 0;  // bytes that steps read and write
};

struct Layout {
  std::vector<std::unique_ptr<TiledStep>> steps;           // null for a declaration
  std::vector<Lifetime> lifetimes;                         // one a buffer
  std::vector<Home> homes;                                 // one a buffer
  std::vector<int64_t> scratchpad;                         // address of a resident buffer; else -1
  std::vector<int64_t> dram;                               // offset in workspace, input or output region; else -1
  std::vector<Plan> plans;                                 // one a step
  std::vector<std::vector<std::array<int64_t, 2>>> slots;  // addresses, one pair a bundle and step
  int64_t workspace_bytes = 0, input_bytes = 0, output_bytes = 0, scratchpad_peak = 0;
};

// Throws Error(scratchpad_full) naming the layer when its smallest tile does not fit.
[[nodiscard]] Layout make_layout(const Module& module, const contract::Capabilities& capabilities,
                                 const ScheduleOptions& options);

// Homes of a step's operands.
[[nodiscard]] std::vector<Home> operand_homes(const TiledStep& step, const std::vector<Home>& homes);

}  // namespace npu::compiler::backend
