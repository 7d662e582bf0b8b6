// SPDX-License-Identifier: Apache-2.0
// Which bytes a command touches, from its fields alone: the one place that knows it. The hazard checker, the bounds
// checks and the counters of bytes asked use it.
//
// dma        reads src (copy), writes dst: runs of run_bytes over the five counts.
// mxu        reads the rows and columns of the input box that some window reaches, weights, the parameter block (header
// and out_c entries); writes the output box. vpu_ewise  reads the operands that micro-operations load or name as block
// or table, writes those stored to. vpu_pool   reads as mxu and, for avg, the parameter header; writes the output box.
// vpu_reduce reads [outer][axis][inner], writes [outer][inner].
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/engine/engine.h"
#include "hw/model/byte_set.h"
#include "hw/model/command.h"

namespace npu::model {

// `run` contiguous bytes for every index of `dims`, outermost first; strides in bytes, 0 and negative ones too.
struct StridedAccess {
  static constexpr uint32_t kMaxRank = ByteSet::kMaxRank;
  struct Dim {
    uint64_t count = 1;
    int64_t stride = 0;
    friend bool operator==(const Dim&, const Dim&) = default;
  };

  contract::Address base;
  int64_t first = 0;  // bytes from base to the first run
  engine::Access access = engine::Access::kRead;
  uint64_t run = 0;
  std::array<Dim, kMaxRank> dims{};
  bool commit = false;  // a write that makes its variable written
  // A read of exactly the bytes that the same command writes, in the same order, and of each before it is written.
  bool in_place = false;

  [[nodiscard]] bool same_walk(const StridedAccess& other) const {
    return base == other.base && first == other.first && run == other.run && dims == other.dims;
  }
  // Bytes with repeats, saturated at 2^63.
  [[nodiscard]] uint64_t total_bytes() const;
};

struct Footprint {
  std::vector<StridedAccess> accesses;  // all reads come before all writes
  uint64_t work = 0;                    // MACs or elements visited, saturated at 2^63

  void clear() {
    accesses.clear();
    work = 0;
  }
};

// Appends to a cleared footprint. `command` must have passed check_command (validate.h).
void collect_footprint(const DecodedCommand& command, Footprint& footprint);

// Where the bytes of an access lie: offsets from its base, [low, high). False when they are beyond any memory.
[[nodiscard]] bool span_of(const StridedAccess& access, int64_t& low, int64_t& high);

// The byte set of an access whose base address is `base` (span_of must be true and in bounds). False when a write
// touches a byte twice in an obvious way: a stride of 0, or one shorter than what it steps over.
[[nodiscard]] bool byte_set(const StridedAccess& access, uint64_t base, ByteSet& set);

}  // namespace npu::model
