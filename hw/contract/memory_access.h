// SPDX-License-Identifier: Apache-2.0
// One of the accesses that the contract says a command makes (gen/accesses.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

#include "hw/contract/gen/commands.h"

namespace npu::contract {

enum class Access : uint8_t { kRead, kWrite };

// `run` contiguous bytes for every index of `dims`, outermost first; strides in bytes, 0 and negative ones too.
struct MemoryAccess {
  static constexpr uint32_t kMaxRank = 5;
  static constexpr uint64_t kAll = ~uint64_t{0};
  struct Dim {
    uint64_t count = 1;
    int64_t stride = 0;  // 0 where the count is 1: it means nothing there
    friend bool operator==(const Dim&, const Dim&) = default;
  };

  Address base;
  int64_t first = 0;  // bytes from base to the first run
  Access access = Access::kRead;
  uint64_t run = 0;
  std::array<Dim, kMaxRank> dims{};  // the last `rank` of them
  uint32_t rank = 0;
  uint64_t moves = kAll;        // bytes, where only some are moved: those that indices choose, or none of what stays
  Element type = Element::kI8;  // of the bytes of a run, where the contract names one
  bool is_unsigned = false;
  bool commit = false;  // a write that makes its variable written
  uint32_t spaces = 0;  // bit s: the address may lie in Space s

  friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;

  [[nodiscard]] bool may_lie_in(Space space) const { return (spaces >> static_cast<uint32_t>(space) & 1) != 0; }

  void set_dims(std::initializer_list<Dim> from) {
    rank = static_cast<uint32_t>(from.size());
    auto to = dims.end() - rank;
    for (const Dim& dim : from) *to++ = {dim.count, dim.count > 1 ? dim.stride : 0};
  }
};

// Sums and products that stop at kSaturated.
inline constexpr uint64_t kSaturated = uint64_t{1} << 63;

constexpr uint64_t saturating_product() { return 1; }
template <typename... Factors>
constexpr uint64_t saturating_product(uint64_t first, Factors... rest) {
  uint64_t result = 0;
  return __builtin_mul_overflow(first, saturating_product(static_cast<uint64_t>(rest)...), &result)
             ? kSaturated
             : std::min(result, kSaturated);
}

template <typename... Summands>
constexpr uint64_t saturating_sum(Summands... summands) {
  uint64_t result = 0;
  for (const uint64_t summand : {summands...}) {
    result = summand > kSaturated - result ? kSaturated : result + summand;
  }
  return result;
}

namespace detail {

// Rows (or pixels) [first, first + count) of an input box that some window reaches.
struct Reached {
  uint64_t first = 0, count = 0;
};

constexpr Reached reached(uint32_t size, uint32_t windows, uint32_t stride, int32_t pad, uint32_t kernel,
                          uint32_t dilation) {
  const int64_t begin = std::max<int64_t>(0, -int64_t{pad});
  const int64_t last_window = (int64_t{windows} - 1) * stride - pad;
  const int64_t end = std::min<int64_t>(size, last_window + (int64_t{kernel} - 1) * dilation + 1);
  if (begin >= end) return {};
  return {static_cast<uint64_t>(begin), static_cast<uint64_t>(end - begin)};
}

}  // namespace detail
}  // namespace npu::contract
