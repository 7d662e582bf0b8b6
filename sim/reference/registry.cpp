// SPDX-License-Identifier: Apache-2.0
// The table of operators: one line for each that the reference computes. CONST and CONST_SHAPE are not here: the run
// widens a constant when it is first used.
#include <array>

#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using graph::Op;

struct Entry {
  Op op;
  Function function;
};

constexpr Entry kEntries[] = {
    {Op::kArgMax, arg_max},
    {Op::kAvgPool2d, avg_pool2d},
    {Op::kConv2d, conv2d},
    {Op::kConv3d, conv3d},
    {Op::kDepthwiseConv2d, depthwise_conv2d},
    {Op::kFft2d, fft2d},
    {Op::kMatMul, matmul},
    {Op::kMaxPool2d, max_pool2d},
    {Op::kRfft2d, rfft2d},
    {Op::kTransposeConv2d, transpose_conv2d},
    {Op::kClamp, clamp},
    {Op::kErf, erf},
    {Op::kSigmoid, sigmoid},
    {Op::kTanh, tanh},
    {Op::kAdd, add},
    {Op::kArithmeticRightShift, arithmetic_right_shift},
    {Op::kBitwiseAnd, bitwise_and},
    {Op::kBitwiseOr, bitwise_or},
    {Op::kBitwiseXor, bitwise_xor},
    {Op::kIntDiv, int_div},
    {Op::kLogicalAnd, logical_and},
    {Op::kLogicalLeftShift, logical_left_shift},
    {Op::kLogicalRightShift, logical_right_shift},
    {Op::kLogicalOr, logical_or},
    {Op::kLogicalXor, logical_xor},
    {Op::kMaximum, maximum},
    {Op::kMinimum, minimum},
    {Op::kMul, mul},
    {Op::kPow, pow},
    {Op::kSub, sub},
    {Op::kTable, table},
    {Op::kAbs, abs},
    {Op::kBitwiseNot, bitwise_not},
    {Op::kCeil, ceil},
    {Op::kClz, clz},
    {Op::kCos, cos},
    {Op::kExp, exp},
    {Op::kFloor, floor},
    {Op::kLog, log},
    {Op::kLogicalNot, logical_not},
    {Op::kNegate, negate},
    {Op::kReciprocal, reciprocal},
    {Op::kRsqrt, rsqrt},
    {Op::kSin, sin},
    {Op::kSelect, select},
    {Op::kEqual, equal},
    {Op::kGreater, greater},
    {Op::kGreaterEqual, greater_equal},
    {Op::kReduceAll, reduce_all},
    {Op::kReduceAny, reduce_any},
    {Op::kReduceMax, reduce_max},
    {Op::kReduceMin, reduce_min},
    {Op::kReduceProduct, reduce_product},
    {Op::kReduceSum, reduce_sum},
    {Op::kConcat, concat},
    {Op::kPad, pad},
    {Op::kReshape, reshape},
    {Op::kReverse, reverse},
    {Op::kSlice, slice},
    {Op::kTile, tile},
    {Op::kTranspose, transpose},
    {Op::kGather, gather},
    {Op::kScatter, scatter},
    {Op::kResize, resize},
    {Op::kCast, cast},
    {Op::kRescale, rescale},
    {Op::kIdentity, identity},
    {Op::kCustom, custom},
    {Op::kCondIf, cond_if},
    {Op::kWhileLoop, while_loop},
    {Op::kVariable, variable},
    {Op::kVariableWrite, variable_write},
    {Op::kVariableRead, variable_read},
};

}  // namespace

Function find_operator(Op op) {
  for (const Entry& entry : kEntries) {
    if (entry.op == op) {
      return entry.function;
    }
  }
  return nullptr;
}

}  // namespace npu::reference
