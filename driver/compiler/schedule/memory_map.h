// SPDX-License-Identifier: Apache-2.0
// Placing rectangles of time x bytes so that no two that live at the same time overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace npu::compiler::backend {

// Who a place is for: a buffer; a slot of a step's bundle; or joined constants, by the first of them.
struct Holder {
  enum class Kind : uint8_t { kBuffer, kSlot, kGroup };
  Kind kind = Kind::kBuffer;
  uint32_t id = 0;  // of the buffer, or the step
  uint32_t bundle = 0, slot = 0;
};

// What was taken, in bytes [low, high) and ticks [first, last].
struct Taken {
  int64_t low = 0, high = 0, first = 0, last = 0;
  Holder holder;
};

class MemoryMap {
 public:
  explicit MemoryMap(int64_t size) : size_(size) {}

  // The lowest free address for `bytes` bytes during ticks [first, last] (layout.h), or the highest one.
  enum class End : uint8_t { kLow, kHigh };
  [[nodiscard]] std::optional<int64_t> find(int64_t bytes, int64_t first, int64_t last, int64_t alignment,
                                            End end = End::kLow) const;
  // What ticks [first, last] leave: the bytes that are free at the busiest time, and the largest piece that is free
  // throughout.
  struct Room {
    int64_t bytes = 0, piece = 0;
  };
  [[nodiscard]] Room room(int64_t first, int64_t last) const;
  void take(int64_t address, int64_t bytes, int64_t first, int64_t last, const Holder& holder = {});
  // Forgets everything taken after there were `count` rectangles.
  void rewind(size_t count) {
    taken_.resize(count);
    holders_.resize(count);
  }
  [[nodiscard]] size_t count() const { return taken_.size(); }
  [[nodiscard]] int64_t peak() const;
  [[nodiscard]] int64_t size() const { return size_; }
  [[nodiscard]] std::vector<Taken> taken() const;

 private:
  struct Rectangle {
    int64_t low, high, first, last;
  };
  [[nodiscard]] std::vector<Rectangle> busy(int64_t first, int64_t last) const;
  [[nodiscard]] std::optional<int64_t> find_high(int64_t bytes, int64_t first, int64_t last, int64_t alignment) const;

  int64_t size_;
  std::vector<Rectangle> taken_;
  std::vector<Holder> holders_;  // one a rectangle; find() copies those, and needs no more of them
};

}  // namespace npu::compiler::backend
