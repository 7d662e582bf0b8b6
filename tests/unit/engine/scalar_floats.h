// SPDX-License-Identifier: Apache-2.0
// Floating point of the contract, one value at a time and exact, in integers of 128 bits: nothing here uses the
// floating point of this machine. Written apart from the engines.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/contract/gen/commands.h"

namespace npu::engine::testing::scalar {

// Values are FP32 patterns.
inline constexpr uint32_t kNan = 0x7fc00000, kInfinity = 0x7f800000, kMinus = 0x80000000;

[[nodiscard]] bool is_nan(uint32_t value);
// An element's pattern to FP32, and back.
[[nodiscard]] uint32_t widen(contract::Element format, uint32_t pattern);
[[nodiscard]] uint32_t narrow(contract::Element format, uint32_t value);
// The FP32 number nearest to numerator / denominator, of positive ones.
[[nodiscard]] uint32_t quotient(uint64_t numerator, uint64_t denominator);

[[nodiscard]] uint32_t sum(uint32_t a, uint32_t b);
[[nodiscard]] uint32_t product(uint32_t a, uint32_t b);
[[nodiscard]] uint32_t product_and_sum(uint32_t a, uint32_t b, uint32_t c);  // rounded once
[[nodiscard]] bool less(uint32_t a, uint32_t b);                             // false with a NaN
// fmax, fmin and fclamp.
[[nodiscard]] uint32_t larger(uint32_t a, uint32_t b, bool ignore_nan);
[[nodiscard]] uint32_t smaller(uint32_t a, uint32_t b, bool ignore_nan);
[[nodiscard]] uint32_t clamp(uint32_t a, uint32_t low, uint32_t high, bool ignore_nan);

// The result of a micro-operation of floating point: values are those of its registers a, b and imm0.
[[nodiscard]] int64_t float_uop(const contract::Uop& uop, std::array<int64_t, 3> values);

// The patterns at which a format, of 8 to 32 bits, changes what it does: of both signs zeros, the ends of subnormals
// and normals, 1 and what is next to it, halves, infinities, NaNs of all kinds.
[[nodiscard]] std::vector<uint32_t> special_patterns(contract::Element format);

}  // namespace npu::engine::testing::scalar
