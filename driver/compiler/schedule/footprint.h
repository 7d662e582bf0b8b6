// SPDX-License-Identifier: Apache-2.0
// Which bytes a command reads and writes: the contract's accesses (hw/contract/gen/accesses.h), as the device has them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "driver/compiler/schedule/tiled_step.h"
#include "hw/contract/memory_access.h"

namespace npu::compiler::backend {

// `run` bytes from `low` for every index of `dims` (innermost first, strides positive and ascending).
struct ByteSet {
  static constexpr uint32_t kMaxRank = contract::MemoryAccess::kMaxRank;
  struct Dim {
    int64_t count = 1, stride = 0;
  };
  uint32_t space = 0;  // kScratchpadSpace ..., kVariableSpace + variable
  bool write = false;
  int64_t low = 0, high = 0;  // [low, high) holds all of it
  int64_t run = 0;
  std::array<Dim, kMaxRank> dims{};
  uint32_t rank = 0;
  int64_t moves = -1;  // bytes that the command moves, where indices choose which; else -1: all

  // Bytes that the command moves: of all runs; one that several runs hold counts as often.
  [[nodiscard]] int64_t moved_bytes() const { return moves >= 0 ? moves : run * runs(); }

  [[nodiscard]] int64_t runs() const {
    int64_t product = 1;
    for (uint32_t d = 0; d < rank; ++d) product *= dims[d].count;
    return product;
  }

  // Calls visit(first, end) for every run, ascending where runs do not interleave.
  template <class Visit>
  void for_each_run(Visit&& visit) const {
    std::array<int64_t, kMaxRank> index{};
    int64_t at = low;
    for (;;) {
      visit(at, at + run);
      uint32_t d = 0;
      for (; d < rank; ++d) {
        at += dims[d].stride;
        if (++index[d] < dims[d].count) break;
        at -= dims[d].stride * dims[d].count;
        index[d] = 0;
      }
      if (d == rank) return;
    }
  }
};

// In kEntrySpace the variable with index i is byte i: what completes a write of the variable writes it, all else that
// touches the variable reads it.
inline constexpr uint32_t kScratchpadSpace = 0, kWorkspaceSpace = 1, kOutputSpace = 2, kEntrySpace = 3,
                          kVariableSpace = 4;

// Memory that is only read (constants, inputs) is left out: nothing there can be in conflict.
[[nodiscard]] std::vector<ByteSet> footprint(const Body& body);

}  // namespace npu::compiler::backend
