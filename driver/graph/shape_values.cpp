// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/shape_values.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "driver/graph/operator_view.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

// Exponents of two that are sizes at the widest level.
constexpr int64_t kMostSizeLog2 = 63;

// One element of the operands of an operator on one shape or two.
struct SizePair {
  int64_t a = 0, b = 0;
};

// Undefined: what has to hold instead, in words.
struct SizeResult {
  int64_t value = 0;
  const char* undefined = nullptr;
};

SizeResult exact_size(bool overflow, int64_t value) {
  return overflow ? SizeResult{0, "the result must fit into 64 bits"} : SizeResult{value};
}

SizeResult add_sizes(SizePair e) {
  int64_t value = 0;
  const bool overflow = __builtin_add_overflow(e.a, e.b, &value);
  return exact_size(overflow, value);
}

SizeResult sub_sizes(SizePair e) {
  int64_t value = 0;
  const bool overflow = __builtin_sub_overflow(e.a, e.b, &value);
  return exact_size(overflow, value);
}

SizeResult mul_sizes(SizePair e) {
  int64_t value = 0;
  const bool overflow = __builtin_mul_overflow(e.a, e.b, &value);
  return exact_size(overflow, value);
}

SizeResult mod_sizes(SizePair e) {
  if (e.b < 1) return {0, "input2 must be at least 1"};
  return e.a < 0 ? SizeResult{0, "input1 must not be negative"} : SizeResult{e.a % e.b};
}

// The draft defines neither operand below 0, but the official suite divides numbers that are both: their quotient is no
// question of rounding towards zero or down.
SizeResult div_floor_sizes(SizePair e) {
  if (e.b == 0) return {0, "input2 must not be 0"};
  if (e.a != 0 && (e.a < 0) != (e.b < 0)) return {0, "input1 and input2 must not differ in sign"};
  const bool overflow = e.a == INT64_MIN && e.b == -1;
  return exact_size(overflow, overflow ? 0 : e.a / e.b);
}

SizeResult div_ceil_sizes(SizePair e) {
  const SizeResult floor = div_floor_sizes(e);
  return floor.undefined != nullptr || e.a % e.b == 0 ? floor : SizeResult{floor.value + 1};
}

SizeResult max_sizes(SizePair e) { return {std::max(e.a, e.b)}; }
SizeResult min_sizes(SizePair e) { return {std::min(e.a, e.b)}; }

SizeResult exp2_size(SizePair e) {
  if (e.a < 0 || e.a >= kMostSizeLog2) return {0, "input must be from 0 to 62"};
  return {int64_t{1} << e.a};
}

SizeResult log2_floor_size(SizePair e) {
  if (e.a < 1) return {0, "input must be at least 1"};
  return {static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(e.a))) - 1};
}

SizeResult log2_ceil_size(SizePair e) {
  const SizeResult floor = log2_floor_size(e);
  const bool is_power = std::has_single_bit(static_cast<uint64_t>(e.a));
  return floor.undefined != nullptr || is_power ? floor : SizeResult{floor.value + 1};
}

struct SizeFunction {
  Op op;
  SizeResult (*function)(SizePair);
};
constexpr SizeFunction kSizeFunctions[] = {
    {Op::kAddShape, add_sizes},
    {Op::kSubShape, sub_sizes},
    {Op::kMulShape, mul_sizes},
    {Op::kExp2Shape, exp2_size},
    {Op::kMaxShape, max_sizes},
    {Op::kMinShape, min_sizes},
    {Op::kLog2CeilShape, log2_ceil_size},
    {Op::kModShape, mod_sizes},
    {Op::kDivCeilShape, div_ceil_sizes},
    {Op::kLog2FloorShape, log2_floor_size},
    {Op::kDivFloorShape, div_floor_sizes},
};

Shape operand_value(const OperatorView& op, size_t i) { return op.required_constant(i, op.shape(i)[0]); }

std::string with_shape(const OperatorView& op, size_t i) {
  return op.input_name(i) + " is " + to_string(operand_value(op, i));
}

Shape size_by_size(const OperatorView& op, SizeResult (*function)(SizePair)) {
  const bool binary = op.op().inputs.size() == 2;
  const Shape a = operand_value(op, 0), b = binary ? operand_value(op, 1) : a;
  Shape values;
  for (size_t i = 0; i < a.size(); ++i) {
    const SizeResult result = function({a[i], b[i]});
    if (result.undefined != nullptr) {
      op.fail(ErrorCode::kRequireFailed, with_shape(op, 0) + (binary ? " and " + with_shape(op, 1) : "") +
                                             "; at index " + std::to_string(i) + ", " + result.undefined);
    }
    values.push_back(result.value);
  }
  return values;
}

Shape concatenated_shapes(const OperatorView& op) {
  Shape values;
  for (size_t i = 0; i < op.op().inputs.size(); ++i) {
    const Shape part = operand_value(op, i);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

Shape sliced_shape(const OperatorView& op) {
  const Shape whole = operand_value(op, 0);
  const auto first = whole.begin() + op.required_constant(1, 1)[0];
  return {first, first + op.required_constant(2, 1)[0]};
}

}  // namespace

void require_equal_shapes(const OperatorView& op) {
  const bool may_broadcast = op.attributes().allow_broadcast;
  const auto equal = [&](int64_t a, int64_t b) { return a == b || (may_broadcast && (a == 1 || b == 1)); };
  const Shape a = operand_value(op, 0), b = operand_value(op, 1);
  if (std::equal(a.begin(), a.end(), b.begin(), b.end(), equal)) return;
  op.bad_argument(with_shape(op, 0) + " and " + with_shape(op, 1) + "; they must be equal" +
                  (may_broadcast ? ", but for sizes of 1, which broadcast" : ""));
}

Shape shape_value(const OperatorView& op) {
  switch (op.op().op) {
    case Op::kDim:
      return {op.shape(0)[static_cast<size_t>(op.attributes().axis)]};
    case Op::kConcatShape:
      return concatenated_shapes(op);
    case Op::kSliceShape:
      return sliced_shape(op);
    case Op::kAssertEqualShape:
      return {};
    default:
      break;
  }
  const auto* found = std::find_if(std::begin(kSizeFunctions), std::end(kSizeFunctions),
                                   [&](const SizeFunction& entry) { return entry.op == op.op().op; });
  NPU_CHECK(found != std::end(kSizeFunctions));
  return size_by_size(op, found->function);
}

}  // namespace npu::graph
