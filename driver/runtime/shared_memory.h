// SPDX-License-Identifier: Apache-2.0
// The memory that driver and firmware share: one piece of DRAM below 2 GiB, for rings, jobs, counters, log and phase
// records. No region of a job overlaps it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "driver/runtime/range_allocator.h"

namespace npu::runtime {

class SharedMemory {
 public:
  // A piece; goes back with the object.
  class Piece {
   public:
    Piece(SharedMemory& memory, uint64_t address) : memory_(&memory), address_(address) {}
    ~Piece() {
      if (memory_ != nullptr) memory_->ranges_.release(address_);
    }
    Piece(Piece&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), address_(other.address_) {}
    Piece& operator=(Piece&&) = delete;
    [[nodiscard]] uint64_t address() const { return address_; }

   private:
    SharedMemory* memory_;
    uint64_t address_;
  };

  SharedMemory(uint64_t base, uint64_t bytes) : base_(base), bytes_(bytes), ranges_(base, base + bytes, 64) {}

  // 64-byte aligned. Throws Error(kDramFull) naming what it is for.
  [[nodiscard]] Piece allocate(uint64_t bytes, std::string_view what);
  [[nodiscard]] uint64_t base() const { return base_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  uint64_t base_, bytes_;
  RangeAllocator ranges_;
};

}  // namespace npu::runtime
