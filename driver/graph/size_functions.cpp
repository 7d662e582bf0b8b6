// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/size_functions.h"

#include <algorithm>
#include <bit>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

// Exponents of two that are sizes at the widest level.
constexpr int64_t kMostSizeLog2 = 63;

SizeResult exact_size(bool overflow, int64_t value) {
  return overflow ? SizeResult{0, "the result must fit into 64 bits"} : SizeResult{value};
}

SizeResult add_sizes(int64_t a, int64_t b) {
  int64_t value = 0;
  const bool overflow = __builtin_add_overflow(a, b, &value);
  return exact_size(overflow, value);
}

SizeResult sub_sizes(int64_t a, int64_t b) {
  int64_t value = 0;
  const bool overflow = __builtin_sub_overflow(a, b, &value);
  return exact_size(overflow, value);
}

SizeResult mul_sizes(int64_t a, int64_t b) {
  int64_t value = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &value);
  return exact_size(overflow, value);
}

SizeResult mod_sizes(int64_t a, int64_t b) {
  if (b < 1) return {0, "input2 must be at least 1"};
  return a < 0 ? SizeResult{0, "input1 must not be negative"} : SizeResult{a % b};
}

// The draft defines neither operand below 0, but the official suite divides numbers that are both: their quotient is no
// question of rounding towards zero or down.
SizeResult div_floor_sizes(int64_t a, int64_t b) {
  if (b == 0) return {0, "input2 must not be 0"};
  if (a != 0 && (a < 0) != (b < 0)) return {0, "input1 and input2 must not differ in sign"};
  const bool overflow = a == INT64_MIN && b == -1;
  return exact_size(overflow, overflow ? 0 : a / b);
}

SizeResult div_ceil_sizes(int64_t a, int64_t b) {
  const SizeResult floor = div_floor_sizes(a, b);
  return floor.undefined != nullptr || a % b == 0 ? floor : SizeResult{floor.value + 1};
}

SizeResult quotient_of_sizes(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1) || a % b != 0) return {0, "the quotient must be a whole number"};
  return {a / b};
}

SizeResult exp2_size(int64_t a) {
  if (a < 0 || a >= kMostSizeLog2) return {0, "input must be from 0 to 62"};
  return {int64_t{1} << a};
}

SizeResult log2_floor_size(int64_t a) {
  if (a < 1) return {0, "input must be at least 1"};
  return {static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(a))) - 1};
}

SizeResult log2_ceil_size(int64_t a) {
  const SizeResult floor = log2_floor_size(a);
  const bool is_power = std::has_single_bit(static_cast<uint64_t>(a));
  return floor.undefined != nullptr || is_power ? floor : SizeResult{floor.value + 1};
}

}  // namespace

SizeResult apply(SizeOperation function, int64_t a, int64_t b) {
  switch (function) {
    case SizeOperation::kConstant:
      break;
    case SizeOperation::kAdd:
      return add_sizes(a, b);
    case SizeOperation::kSub:
      return sub_sizes(a, b);
    case SizeOperation::kMul:
      return mul_sizes(a, b);
    case SizeOperation::kMax:
      return {std::max(a, b)};
    case SizeOperation::kMin:
      return {std::min(a, b)};
    case SizeOperation::kMod:
      return mod_sizes(a, b);
    case SizeOperation::kDivFloor:
      return div_floor_sizes(a, b);
    case SizeOperation::kDivCeil:
      return div_ceil_sizes(a, b);
    case SizeOperation::kExp2:
      return exp2_size(a);
    case SizeOperation::kLog2Floor:
      return log2_floor_size(a);
    case SizeOperation::kLog2Ceil:
      return log2_ceil_size(a);
    case SizeOperation::kQuotient:
      return quotient_of_sizes(a, b);
  }
  NPU_CHECK(false);
}

bool related(SizeRelation relation, int64_t left, int64_t right) {
  switch (relation) {
    case SizeRelation::kEqual:
      return left == right;
    case SizeRelation::kAtLeast:
      return left >= right;
    case SizeRelation::kMultiple:
      return right >= 1 && left % right == 0;
    case SizeRelation::kPowerOfTwo:
      return left >= 1 && (left & (left - 1)) == 0;
    case SizeRelation::kDefined:
      return true;
  }
  NPU_CHECK(false);
}

}  // namespace npu::graph
