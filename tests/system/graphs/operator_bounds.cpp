// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/operator_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "driver/graph/element.h"
#include "driver/graph/float_format.h"
#include "hw/contract/error.h"
#include "tests/unit/compiler/float_function_bounds.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::Op;
using graph::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Of sums, in units of the last place. Of 16 bits and less the sum has bits to spare, so that only the last rounding
// can go the other way.
constexpr double kUnitsOfFp32 = 4, kUnits = 1;

int64_t bits_at(const Value& value, int64_t element) {
  const auto width = static_cast<size_t>(graph::machine_width(value.type));
  int64_t bits = 0;
  std::memcpy(&bits, value.bytes.data() + static_cast<size_t>(element) * width, width);
  return bits;
}

double unit_of(DType type, double magnitude) {
  const graph::FloatFormat format = *graph::float_format(type);
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), format.min_exponent()) : format.min_exponent();
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

// Where the element of a result comes from in an operand that broadcasts.
int64_t broadcast(const graph::Shape& from, const graph::Shape& to, int64_t element) {
  int64_t at = 0, step = 1;
  for (size_t d = to.size(); d-- > 0;) {
    if (from[d] != 1) at += element % to[d] * step;
    step *= from[d];
    element /= to[d];
  }
  return at;
}

double function_share(const Judged& j, int64_t i) {
  namespace functions = compiler::testing;
  functions::FloatOperands operands;
  operands.x = number_at(j.operands[0], broadcast(j.operands[0].shape, j.want.shape, i));
  if (j.operands.size() > 1) operands.y = number_at(j.operands[1], broadcast(j.operands[1].shape, j.want.shape, i));
  const double want = functions::float_reference(j.op.op, operands.x, operands.y);
  const double got = number_at(j.got, i);
  const double share = functions::error_share(j.op.op, *element_of(j.want.type), operands, got, want);
  // The bound of a POW that is 0 in double precision may be no number.
  return !std::isnan(share) ? share : got == want ? 0 : kInfinity;
}

// An addition is off by half a unit at most. Where a row has many elements that are alike, each of them may be.
double units_of_sum(const Judged& j) {
  if (j.want.type != DType::kFp32) return kUnits;
  if (j.op.op != Op::kReduceSum || j.lanes == 0) return kUnitsOfFp32;
  const int64_t elements = j.operands[0].shape.at(static_cast<size_t>(j.op.attributes.axis));
  return std::max(kUnitsOfFp32, static_cast<double>(elements) / static_cast<double>(j.lanes) / 2);
}

// The share of the bound, of numbers with other bits.
double share(const Judged& j, Bound bound, int64_t i) {
  const double got = number_at(j.got, i), want = number_at(j.want, i);
  if (bound == Bound::kFunction) return function_share(j, i);
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  if (bound == Bound::kNumber) return kInfinity;
  const double magnitude = bound == Bound::kSum ? number_at(j.magnitudes, i) : std::abs(want);
  // A part of the sum may be infinite where all of it is not.
  if (bound == Bound::kSum && !std::isfinite(magnitude)) return 0;
  if (!std::isfinite(got) || !std::isfinite(want)) return kInfinity;
  return std::abs(got - want) / unit_of(j.want.type, magnitude) / units_of_sum(j);
}

bool is_function(Op op) {
  constexpr Op kFunctions[] = {Op::kCos,  Op::kSin,     Op::kErf,        Op::kExp,   Op::kLog,
                               Op::kTanh, Op::kSigmoid, Op::kReciprocal, Op::kRsqrt, Op::kPow};
  return std::ranges::find(kFunctions, op) != std::end(kFunctions);
}

bool is_sum(const graph::Operator& op) {
  constexpr Op kSums[] = {Op::kConv2d, Op::kConv3d,    Op::kDepthwiseConv2d, Op::kTransposeConv2d, Op::kMatMul,
                          Op::kFft2d,  Op::kReduceSum, Op::kAvgPool2d,       Op::kRfft2d};
  const bool blends = op.op == Op::kResize && op.attributes.resize_mode == graph::ResizeMode::kBilinear;
  return blends || std::ranges::find(kSums, op.op) != std::end(kSums);
}

bool only_moves(Op op) {
  constexpr Op kMoves[] = {Op::kConcat, Op::kPad,       Op::kReshape, Op::kReverse, Op::kSlice,
                           Op::kTile,   Op::kTranspose, Op::kGather,  Op::kScatter, Op::kIdentity};
  return std::ranges::find(kMoves, op) != std::end(kMoves);
}

}  // namespace

Bound bound_of(const graph::Operator& op) {
  if (is_function(op.op)) return Bound::kFunction;
  if (is_sum(op)) return Bound::kSum;
  if (op.op == Op::kReduceProduct) return Bound::kProduct;
  return only_moves(op.op) ? Bound::kBits : Bound::kNumber;
}

double number_at(const Value& value, int64_t element) {
  const auto bits = bits_at(value, element);
  const auto format = graph::float_format(value.type);
  return format ? decode(*format, static_cast<uint32_t>(bits)) : static_cast<double>(bits);
}

Verdict judge(const Judged& j) {
  NPU_CHECK(j.got.type == j.want.type && j.got.shape == j.want.shape && j.got.bytes.size() == j.want.bytes.size());
  const Bound bound = graph::float_format(j.want.type) ? bound_of(j.op) : Bound::kBits;
  Verdict verdict;
  verdict.compared = graph::element_count(j.want.shape).value();
  for (int64_t i = 0; i < verdict.compared; ++i) {
    const bool same = bits_at(j.got, i) == bits_at(j.want, i);
    if (same && bound != Bound::kFunction) continue;
    const double part = bound == Bound::kBits ? kInfinity : share(j, bound, i);
    if (part <= 1) {
      verdict.worst = std::max(verdict.worst, part);
      verdict.rounded += same ? 0 : 1;
    } else {
      if (verdict.differing++ == 0) verdict.first = i;
    }
  }
  return verdict;
}

}  // namespace npu::test
