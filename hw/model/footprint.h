// SPDX-License-Identifier: Apache-2.0
// What a command does with memory: the contract's accesses (hw/contract/gen/accesses.h), and what the device makes of
// them. The hazard checker, the bounds checks and the counters of bytes asked use it.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/memory_access.h"
#include "hw/model/byte_set.h"
#include "hw/model/command.h"

namespace npu::model {

struct StridedAccess : contract::MemoryAccess {
  // A read of exactly the bytes that the same command writes, in the same order, and of each before it is written.
  bool in_place = false;
  uint32_t times = 1;  // how often the command moves its bytes: a program may store to an operand more than once

  friend bool operator==(const StridedAccess&, const StridedAccess&) = default;

  [[nodiscard]] bool same_walk(const StridedAccess& other) const {
    return base == other.base && first == other.first && run == other.run && dims == other.dims;
  }
  // Bytes that are moved, with repeats, saturated at 2^63.
  [[nodiscard]] uint64_t total_bytes() const;
};

using Footprint = std::vector<StridedAccess>;  // all reads come before all writes

// Appends to a cleared footprint.
void collect_footprint(const DecodedCommand& command, Footprint& footprint);

// Where the bytes of an access lie: offsets from its base, [low, high). False when they are beyond any memory.
[[nodiscard]] bool span_of(const StridedAccess& access, int64_t& low, int64_t& high);

// The byte set of an access whose base address is `base` (span_of must be true and in bounds). False when a write
// touches a byte twice in an obvious way: a stride of 0, or one shorter than what it steps over.
[[nodiscard]] bool byte_set(const StridedAccess& access, uint64_t base, ByteSet& set);

}  // namespace npu::model
