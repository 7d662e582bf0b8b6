// SPDX-License-Identifier: Apache-2.0
// Placing rectangles of time x bytes so that no two that live at the same time overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace npu::compiler::backend {

class MemoryMap {
 public:
  explicit MemoryMap(int64_t size) : size_(size) {}

  // The lowest free address for `bytes` bytes during ticks [first, last] (layout.h), or the highest one.
  enum class End : uint8_t { kLow, kHigh };
  [[nodiscard]] std::optional<int64_t> find(int64_t bytes, int64_t first, int64_t last, int64_t alignment,
                                            End end = End::kLow) const;
  void take(int64_t address, int64_t bytes, int64_t first, int64_t last);
  // Forgets everything taken after there were `count` rectangles.
  void rewind(size_t count) { taken_.resize(count); }
  [[nodiscard]] size_t count() const { return taken_.size(); }
  [[nodiscard]] int64_t peak() const;
  [[nodiscard]] int64_t size() const { return size_; }

 private:
  struct Rectangle {
    int64_t low, high, first, last;
  };
  [[nodiscard]] std::vector<Rectangle> busy(int64_t first, int64_t last) const;
  [[nodiscard]] std::optional<int64_t> find_high(int64_t bytes, int64_t first, int64_t last, int64_t alignment) const;

  int64_t size_;
  std::vector<Rectangle> taken_;
};

}  // namespace npu::compiler::backend
