// SPDX-License-Identifier: Apache-2.0
// Every micro-operation that names no operand, from the contract's table: a new one is tried without a word here,
// unless it has a packed immediate, which this refuses.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hw/contract/uop_fields.h"

namespace npu::contract::testing {

// What a field may be, by example; 0 where it means nothing or names register 0.
inline std::vector<int32_t> samples_of(const UopField& field) {
  std::vector<int32_t> samples;
  if (field.role == UopRole::kElement) {
    for (int32_t e = 0; e < 32; ++e) {
      if ((field.elements >> e & 1) != 0) samples.push_back(e);
    }
  } else if (field.role == UopRole::kNumber && field.high - int64_t{field.low} < 64) {
    for (int32_t number = field.low; number <= field.high; ++number) samples.push_back(number);
  } else {
    NPU_CHECK(field.role != UopRole::kPacked);
    samples.push_back(0);
  }
  return samples;
}

[[nodiscard]] inline bool is_any_number(const UopField& field) {
  return field.role == UopRole::kNumber && field.high - int64_t{field.low} >= 64;
}

namespace detail {

// On registers 0 and 1 (and 0 as third source), result in 0. Immediates that may be any number come in pairs.
inline std::vector<Uop> register_uops(bool floats, const std::vector<std::pair<int32_t, int32_t>>& numbers) {
  const std::vector<std::pair<int32_t, int32_t>> zero = {{0, 0}};
  std::vector<Uop> uops;
  for (uint32_t code = 0; code < kUopCount; ++code) {
    const auto op = static_cast<UopCode>(code);
    const UopInfo& info = uop_info(op);
    if (info.floats != floats || is_operand(info.a.role) || is_operand(info.b.role)) continue;
    for (const int32_t b : samples_of(info.b)) {
      for (const int32_t imm0 : samples_of(info.imm0)) {
        for (const int32_t imm1 : samples_of(info.imm1)) {
          for (const auto& [low, high] : is_any_number(info.imm0) || is_any_number(info.imm1) ? numbers : zero) {
            const uint32_t second = info.b.role == UopRole::kSource ? 1 : static_cast<uint32_t>(b);
            uops.push_back(
                {op, 0, 0, second, is_any_number(info.imm0) ? low : imm0, is_any_number(info.imm1) ? high : imm1});
          }
        }
      }
    }
  }
  return uops;
}

}  // namespace detail

// Those of integers. Of a pair of immediates the first one is the smaller, as bounds are.
inline std::vector<Uop> register_uops() {
  return detail::register_uops(false, {{0, 0}, {-128, 127}, {-100, 90}, {5, 5}, {INT32_MIN, INT32_MAX}});
}

// Those that take or make FP32. Pairs of immediates: zeros of both signs, -1 and 6, 0.1 and -3, subnormals, -infinity
// and infinity.
inline std::vector<Uop> float_register_uops() {
  const auto pattern = [](uint32_t bits) { return static_cast<int32_t>(bits); };
  return detail::register_uops(true, {{0, pattern(0x80000000)},
                                      {pattern(0xbf800000), 0x40c00000},
                                      {0x3dcccccd, pattern(0xc0400000)},
                                      {pattern(0x80000001), 0x007fffff},
                                      {pattern(0xff800000), 0x7f800000}});
}

}  // namespace npu::contract::testing
