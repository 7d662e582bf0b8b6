// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/ewise_rules.h"

#include <algorithm>
#include <array>

#include "driver/compiler/fold.h"
#include "driver/graph/element.h"
#include "driver/graph/float_format.h"

namespace npu::compiler {
namespace {

using contract::UopCode;
using graph::Op;

constexpr std::array kRules = {
    EwiseRule{Op::kAdd, UopCode::kAdd, 2},
    EwiseRule{Op::kSub, UopCode::kSub, 2},
    EwiseRule{Op::kMul, UopCode::kMul, 2},
    EwiseRule{Op::kMaximum, UopCode::kMax, 2},
    EwiseRule{Op::kMinimum, UopCode::kMin, 2},
    EwiseRule{Op::kIntDiv, UopCode::kIntdiv, 2},
    EwiseRule{Op::kClamp, UopCode::kClamp, 1},
    EwiseRule{Op::kAbs, UopCode::kAbs, 1},
    EwiseRule{Op::kNegate, UopCode::kNegate, 1},
    EwiseRule{Op::kClz, UopCode::kClz, 1},
    EwiseRule{Op::kBitwiseAnd, UopCode::kBitAnd, 2},
    EwiseRule{Op::kBitwiseOr, UopCode::kBitOr, 2},
    EwiseRule{Op::kBitwiseXor, UopCode::kBitXor, 2},
    EwiseRule{Op::kBitwiseNot, UopCode::kBitNot, 1},
    EwiseRule{Op::kLogicalAnd, UopCode::kBitAnd, 2},
    EwiseRule{Op::kLogicalOr, UopCode::kBitOr, 2},
    EwiseRule{Op::kLogicalXor, UopCode::kBitXor, 2},
    EwiseRule{Op::kLogicalNot, UopCode::kLogicalNot, 1},
    EwiseRule{Op::kLogicalLeftShift, UopCode::kShl, 2},
    EwiseRule{Op::kLogicalRightShift, UopCode::kShrLogical, 2},
    EwiseRule{Op::kArithmeticRightShift, UopCode::kShrArith, 2},
    EwiseRule{Op::kEqual, UopCode::kEq, 2},
    EwiseRule{Op::kGreater, UopCode::kGt, 2},
    EwiseRule{Op::kGreaterEqual, UopCode::kGe, 2},
    EwiseRule{Op::kSelect, UopCode::kSelect, 3},
    EwiseRule{Op::kRescale, UopCode::kRescale, 1},
    EwiseRule{Op::kTable, UopCode::kTable8, 1},  // kTable16 for INT16
    EwiseRule{Op::kCast, UopCode::kCast, 1},
    // Of floating point alone.
    EwiseRule{Op::kCeil, UopCode::kFround, 1},
    EwiseRule{Op::kFloor, UopCode::kFround, 1},
    EwiseRule{Op::kExp, UopCode::kFma, 1},  // these and all behind: float_functions.h
    EwiseRule{Op::kLog, UopCode::kFma, 1},
    EwiseRule{Op::kTanh, UopCode::kFma, 1},
    EwiseRule{Op::kSigmoid, UopCode::kFma, 1},
    EwiseRule{Op::kErf, UopCode::kFma, 1},
    EwiseRule{Op::kSin, UopCode::kFma, 1},
    EwiseRule{Op::kCos, UopCode::kFma, 1},
    EwiseRule{Op::kPow, UopCode::kFma, 2},
    EwiseRule{Op::kRsqrt, UopCode::kFma, 1},
    EwiseRule{Op::kReciprocal, UopCode::kFma, 1},
};

}  // namespace

const EwiseRule* ewise_rule(Op op) {
  const auto* rule = std::find_if(kRules.begin(), kRules.end(), [op](const EwiseRule& r) { return r.op == op; });
  return rule == kRules.end() ? nullptr : rule;
}

std::pair<int64_t, int64_t> element_range(contract::Element type) {
  switch (type) {
    case contract::Element::kI8:
      return {INT8_MIN, INT8_MAX};
    case contract::Element::kI16:
      return {INT16_MIN, INT16_MAX};
    case contract::Element::kI32:
    case contract::Element::kF16:  // FP32 patterns
    case contract::Element::kBf16:
    case contract::Element::kF32:
    case contract::Element::kF8e4m3:
    case contract::Element::kF8e5m2:
      return {INT32_MIN, INT32_MAX};
    case contract::Element::kI48:
      return {-(int64_t{1} << 47), (int64_t{1} << 47) - 1};
    case contract::Element::kBool:
      return {0, 1};
  }
  return {0, 0};
}

std::pair<int64_t, int64_t> clamp_range(const graph::Operator& op, graph::DType type) {
  const auto read = [type](const std::vector<uint8_t>& bytes) {
    uint64_t raw = 0;
    const uint32_t width = contract::element_bytes(*element_of(type));
    for (size_t i = 0; i < width && i < bytes.size(); ++i) raw |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    if (const auto format = graph::float_format(type)) {
      return int64_t{float_pattern(*format, static_cast<uint32_t>(raw))};
    }
    return static_cast<int64_t>(raw << (64 - 8 * width)) >> (64 - 8 * width);
  };
  return {read(op.attributes.min_val), read(op.attributes.max_val)};
}

}  // namespace npu::compiler
