// SPDX-License-Identifier: Apache-2.0
// One side of a DMA descriptor as a stream of bytes: contiguous extents in the order of the walk.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "hw/contract/dma_sides.h"

namespace npu::contract {

class ExtentWalk {
 public:
  // The bytes of `side` from address `base` on. All positive but the strides; the walk must stay within the 64-bit
  // address space. Of an indexed side `offsets` has the bytes from there to each row, in the order of the indices; it
  // must outlive the walk and its copies.
  void start(uint64_t base, const DmaSide& side, std::span<const int64_t> offsets = {});
  // `bytes` that follow each other.
  void start(uint64_t base, uint64_t bytes) { start(base, {bytes, {1, 1, 1, 1, 1}, {}, false}); }

  [[nodiscard]] bool done() const { return left_ == 0; }
  // Of the next byte.
  [[nodiscard]] uint64_t address() const { return address_; }
  // Bytes from there on that follow each other in memory.
  [[nodiscard]] uint64_t contiguous() const { return run_left_; }
  // Bytes of the whole walk from there on.
  [[nodiscard]] uint64_t left() const { return left_; }
  // `bytes` <= contiguous().
  void advance(uint64_t bytes);

 private:
  struct Dim {
    uint64_t count, index;
    int64_t stride;
  };
  std::array<Dim, 5> dims_{};  // innermost first, runs that follow each other merged away
  uint32_t rank_ = 0;
  uint32_t row_rank_ = 0;  // those of them that are within a row
  uint64_t run_ = 0, run_left_ = 0, left_ = 0;
  uint64_t run_address_ = 0;  // of the current run, without its row's offset
  uint64_t address_ = 0;
  std::span<const int64_t> offsets_;
  uint64_t row_ = 0;  // number of the current one, of an indexed side
};

}  // namespace npu::contract
