// SPDX-License-Identifier: Apache-2.0
// Where everything lives: how each step is tiled with the scratchpad that resident buffers leave, and all addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/analysis.h"
#include "driver/compiler/schedule/memory_map.h"
#include "driver/compiler/schedule/plan.h"

namespace npu::compiler::backend {

// Constants of steps that follow each other, loaded by one transfer.
struct Group {
  struct Member {
    size_t step, bundle;
    int64_t offset;  // in the group
  };
  std::vector<Member> members;
  int64_t address = 0, bytes = 0;
};

// Constants that stay in the scratchpad through a loop: a slot for each content, in the order of the tiles.
struct Kept {
  size_t step, bundle;
  size_t before;  // the step that begins the loop: they are loaded before it
};

// Places are taken from a tick to a tick, and a step takes so many: a tile buffer is free again before its step is
// over.
inline constexpr int64_t kStepTicks = 32;
constexpr int64_t first_tick(int64_t step) { return step * kStepTicks; }
constexpr int64_t last_tick(int64_t step) { return first_tick(step + 1) - 1; }

// Bytes of the scratchpad that something asked for in steps [first, last], and did not get: what was free was in too
// small pieces.
struct Denied {
  size_t first = 0, last = 0;
  int64_t bytes = 0;
  int64_t lost = 0;  // to fragmentation: of those, what was free in all of the steps, less what could be had of it
  // The buffer that lives in DRAM for it; else step `first` has smaller tiles, or less of something that comes early.
  std::optional<BufferId> buffer;
  bool tiles = true;  // those of step `first` asked; else the buffer itself
};

struct Layout {
  Analysis analysis;
  std::vector<Home> homes;                               // one a buffer
  std::vector<int64_t> scratchpad;                       // address of a resident buffer; else -1
  std::vector<int64_t> dram;                             // offset in workspace, input or output region; else -1
  std::vector<TilePlan> plans;                           // one a step
  std::vector<std::vector<std::vector<int64_t>>> slots;  // addresses, one a slot, by step and bundle
  std::vector<Group> groups;                             // in order of steps; their members have one slot each
  std::vector<Kept> kept;                                // in order of `before`
  std::vector<Taken> taken;                              // of the scratchpad
  std::vector<Denied> denied;
  int64_t workspace_bytes = 0, input_bytes = 0, output_bytes = 0, scratchpad_peak = 0;
};

// How early memory is taken for constants, as far as it is free.
struct Earliness {
  int64_t steps = 16;  // before their own
  int64_t slots = 8;   // for those that come in parts, at most
};

// Choices that no local estimate can make; the best of some is kept (variants.h).
struct Tuning {
  std::vector<double> exposed;       // Analysis::exposed; 1 for steps that it does not have
  int64_t group_cycles = 512;        // of the DRAM port: how long a load of joined constants may take
  bool fetches = true;               // PlanSettings::fetches
  double byte_cycles = kByteCycles;  // PlanSettings::byte_cycles
  Earliness early = {};
  bool apart = false;        // constants that come early at the high end of memory, apart from what lives short
  bool first_alone = false;  // the first constants that can be joined are joined with none of later steps
  bool shared_rows = true;   // chains may have results that steps behind them read, too (chains.h)
};

// The module must outlive the result. Throws Error(scratchpad_full) naming the layer when its smallest tile does not
// fit.
[[nodiscard]] Layout make_layout(const Module& module, const contract::Capabilities& capabilities,
                                 const ScheduleOptions& options, const Tuning& tuning);

}  // namespace npu::compiler::backend
