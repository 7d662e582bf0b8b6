// SPDX-License-Identifier: Apache-2.0
// A strided operand in memory, resolved once per contiguous run.
#pragma once

#include <array>
#include <cstdint>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/memory_view.h"

namespace npu::engine {

// Runs of `run` contiguous bytes at base + offset + i0 * stride[0] + ... + i3 * stride[3], in < count[n]. Strides may
// be 0 or negative. Counts and run are at least 1.
struct Box {
  contract::Address base;
  int64_t offset = 0;
  std::array<uint64_t, 4> count = {1, 1, 1, 1};
  std::array<int64_t, 4> stride = {0, 0, 0, 0};
  uint64_t run = 1;
};

struct Resolved {
  uint8_t* data = nullptr;  // byte of index (0, 0, 0, 0); null on error
  contract::ErrorCode error = contract::ErrorCode::kOk;
};

// A box of more separate runs than this is refused: no tile needs it, and a damaged command must not take forever.
inline constexpr uint64_t kMaxRuns = uint64_t{1} << 22;

// Asks `memory` for every byte of the box and for no other: runs that touch are merged, the rest is resolved one by one
// in ascending order. The view must show an address space as one array, which is checked. Errors:
// fault_out_of_bounds when the view refuses; fault_bad_command for too many runs, or, where `disjoint` is asked for
// (results, weights), when the box overlaps itself or its strides do not nest.
[[nodiscard]] Resolved resolve_box(const Box& box, MemoryView& memory, Access access, bool disjoint);

}  // namespace npu::engine
