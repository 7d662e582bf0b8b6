// SPDX-License-Identifier: Apache-2.0
// First fit over a range of addresses. Used for device memory and for the persistent SRAM.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace npu::runtime {

class RangeAllocator {
 public:
  // Manages [begin, end); every piece starts at a multiple of `alignment` and takes a multiple of it.
  RangeAllocator(uint64_t begin, uint64_t end, uint64_t alignment);

  // Lowest address with `bytes` free; nullopt when there is none. A piece of 0 bytes takes one alignment.
  [[nodiscard]] std::optional<uint64_t> allocate(uint64_t bytes);
  // The same, but the highest address; the piece ends at or before `limit`.
  [[nodiscard]] std::optional<uint64_t> allocate_high(uint64_t bytes, uint64_t limit);
  // Takes [address, address + bytes); false when part of it is taken already, or outside. The address is a multiple of
  // the alignment.
  [[nodiscard]] bool take(uint64_t address, uint64_t bytes);
  // `address` came from allocate() or take() and is released once.
  void release(uint64_t address);
  void release_all();
  // take() for good.
  [[nodiscard]] bool reserve(uint64_t address, uint64_t bytes);

  [[nodiscard]] uint64_t begin() const { return begin_; }
  [[nodiscard]] uint64_t end() const { return end_; }
  [[nodiscard]] uint64_t alignment() const { return alignment_; }
  [[nodiscard]] uint64_t rounded(uint64_t bytes) const;
  [[nodiscard]] uint64_t used() const { return used_; }
  [[nodiscard]] uint64_t reserved() const { return reserved_; }  // part of used()
  [[nodiscard]] uint64_t capacity() const { return end_ - begin_; }
  [[nodiscard]] uint64_t largest_free() const;

 private:
  uint64_t begin_, end_, alignment_;
  uint64_t used_ = 0, reserved_ = 0;
  std::map<uint64_t, uint64_t> pieces_;  // allocated: address -> bytes
};

}  // namespace npu::runtime
