// SPDX-License-Identifier: Apache-2.0
// The bytes of one memory that an access touches.
#pragma once

#include <array>
#include <cstdint>

namespace npu::model {

// The set of bytes of an access in one memory: `run` bytes from `low` for every index of `dims`, strides positive and
// ascending, contiguous runs merged.
struct ByteSet {
  static constexpr uint32_t kMaxRank = 5;
  struct Dim {
    uint64_t count, stride;
  };
  uint64_t low = 0;
  uint64_t high = 0;  // one beyond the last byte
  uint64_t run = 0;
  std::array<Dim, kMaxRank> dims{};  // innermost first
  uint32_t rank = 0;

  [[nodiscard]] uint64_t runs() const;
  // Calls visit(first, last + 1) for every run until it returns false; false when it did.
  template <class Visit>
  bool for_each_run(Visit&& visit) const;
};

template <class Visit>
bool ByteSet::for_each_run(Visit&& visit) const {
  const uint64_t inner_count = rank > 0 ? dims[0].count : 1;
  const uint64_t inner_stride = rank > 0 ? dims[0].stride : 0;
  std::array<uint64_t, kMaxRank> index{};
  uint64_t outer = low;
  for (;;) {
    uint64_t at = outer;
    for (uint64_t i = 0; i < inner_count; ++i, at += inner_stride) {
      if (!visit(at, at + run)) return false;
    }
    uint32_t dim = 1;
    for (; dim < rank; ++dim) {
      outer += dims[dim].stride;
      if (++index[dim] < dims[dim].count) break;
      outer -= dims[dim].stride * dims[dim].count;
      index[dim] = 0;
    }
    if (dim >= rank) return true;
  }
}

}  // namespace npu::model
