// SPDX-License-Identifier: Apache-2.0
// One side of a DMA descriptor as a stream of bytes: contiguous extents in the order of the walk.
#pragma once

#include <array>
#include <cstdint>

namespace npu::engine {

class ExtentWalk {
 public:
  // `run` bytes for every index of `count`, outermost first, `stride` bytes apart, from address `base`. All positive
  // but the strides; the walk must stay within the 64-bit address space.
  void start(uint64_t base, uint64_t run, const std::array<uint32_t, 5>& count, const std::array<int32_t, 5>& stride);

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
  uint64_t run_ = 0, run_left_ = 0, left_ = 0;
  uint64_t row_ = 0;  // address of the current run
  uint64_t address_ = 0;
};

}  // namespace npu::engine
