// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/operators.h"

#include <algorithm>

#include "driver/graph/rules.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

// Short names, so that a row of the table is a line.
constexpr DType kNo = DType::kUnknown;
constexpr DType kB = DType::kBool;
constexpr DType kI4 = DType::kInt4;
constexpr DType kI8 = DType::kInt8;
constexpr DType kI16 = DType::kInt16;
constexpr DType kI32 = DType::kInt32;
constexpr DType kI48 = DType::kInt48;
constexpr DType kF16 = DType::kFp16;
constexpr DType kF32 = DType::kFp32;
constexpr DType kBf = DType::kBf16;
constexpr DType kE4 = DType::kFp8E4M3;
constexpr DType kE5 = DType::kFp8E5M2;
constexpr Features kBoth = kProInt | kProFp;
constexpr uint8_t kMaxRank = kMostRank;

constexpr Operand data(std::string_view name, Slot slot, uint8_t min_rank, uint8_t max_rank) {
  return {name, OperandKind::kTensor, slot, kNo, min_rank, max_rank, false};
}
constexpr Operand any_rank(std::string_view name, Slot slot = Slot::kIn) { return data(name, slot, 0, kMaxRank); }
constexpr Operand some_rank(std::string_view name, Slot slot = Slot::kIn) { return data(name, slot, 1, kMaxRank); }
constexpr Operand fixed(std::string_view name, DType type, uint8_t min_rank, uint8_t max_rank, bool constant = false) {
  return {name, OperandKind::kTensor, Slot::kNone, type, min_rank, max_rank, constant};
}
// A one-dimensional compile-time constant.
constexpr Operand constant(std::string_view name, Slot slot) {
  return {name, OperandKind::kTensor, slot, kNo, 1, 1, true};
}
constexpr Operand shape(std::string_view name) {
  return {name, OperandKind::kShape, Slot::kNone, DType::kShape, 1, 1, true};
}
constexpr Operand list(std::string_view name, Slot slot, uint8_t min_rank) {
  return {name, OperandKind::kList, slot, kNo, min_rank, kMaxRank, false};
}

constexpr Operand shape_list(std::string_view name) {
  return {name, OperandKind::kShapeList, Slot::kNone, DType::kShape, 1, 1, true};
}

// ---------------------------------------------------------------------------------------------------- operand lists

constexpr Operand kConvolutionIn[] = {data("input", Slot::kIn, 4, 4), data("weight", Slot::kOther, 4, 4),
                                      data("bias", Slot::kOut, 1, 1), constant("input_zp", Slot::kIn),
                                      constant("weight_zp", Slot::kOther)};
constexpr Operand kConvolution3dIn[] = {data("input", Slot::kIn, 5, 5), data("weight", Slot::kOther, 5, 5),
                                        data("bias", Slot::kOut, 1, 1), constant("input_zp", Slot::kIn),
                                        constant("weight_zp", Slot::kOther)};
constexpr Operand kRank4Out[] = {data("output", Slot::kOut, 4, 4)};
constexpr Operand kRank5Out[] = {data("output", Slot::kOut, 5, 5)};
constexpr Operand kImageIn[] = {data("input", Slot::kIn, 4, 4)};
constexpr Operand kImageOut[] = {data("output", Slot::kIn, 4, 4)};
constexpr Operand kAveragePoolIn[] = {data("input", Slot::kIn, 4, 4), constant("input_zp", Slot::kIn),
                                      constant("output_zp", Slot::kIn)};
constexpr Operand kArgMaxOut[] = {data("output", Slot::kOut, 0, kMaxRank - 1)};
constexpr Operand kMatMulIn[] = {data("A", Slot::kIn, 3, 3), data("B", Slot::kIn, 3, 3), constant("A_zp", Slot::kIn),
                                 constant("B_zp", Slot::kIn)};
constexpr Operand kMatMulOut[] = {data("output", Slot::kOut, 3, 3)};
constexpr Operand kFftIn[] = {data("input_real", Slot::kIn, 3, 3), data("input_imag", Slot::kIn, 3, 3)};
constexpr Operand kRfftIn[] = {data("input_real", Slot::kIn, 3, 3)};
constexpr Operand kFftOut[] = {data("output_real", Slot::kIn, 3, 3), data("output_imag", Slot::kIn, 3, 3)};
constexpr Operand kInput[] = {any_rank("input")};
constexpr Operand kUnary[] = {any_rank("input1")};
constexpr Operand kBinary[] = {any_rank("input1"), any_rank("input2")};
constexpr Operand kSame[] = {any_rank("output")};
constexpr Operand kOther[] = {any_rank("output", Slot::kOut)};
constexpr Operand kMulIn[] = {any_rank("input1"), any_rank("input2"), fixed("shift", kI8, 1, 1, true)};
constexpr Operand kTableIn[] = {any_rank("input1"), constant("table", Slot::kOther)};
constexpr Operand kNegateIn[] = {any_rank("input1"), constant("input1_zp", Slot::kIn),
                                 constant("output_zp", Slot::kIn)};
constexpr Operand kSelectIn[] = {fixed("input1", kB, 0, kMaxRank), any_rank("input2"), any_rank("input3")};
constexpr Operand kReduceIn[] = {some_rank("input")};
constexpr Operand kLayoutIn[] = {some_rank("input1")};
constexpr Operand kLayoutOut[] = {some_rank("output")};
constexpr Operand kConcatIn[] = {list("input1", Slot::kIn, 1)};
constexpr Operand kPadIn[] = {some_rank("input1"), shape("padding"), constant("pad_const", Slot::kIn)};
constexpr Operand kReshapeIn[] = {any_rank("input1"), shape("shape")};
constexpr Operand kSliceIn[] = {some_rank("input1"), shape("start"), shape("size")};
constexpr Operand kTileIn[] = {some_rank("input1"), shape("multiples")};
constexpr Operand kGatherIn[] = {data("values", Slot::kIn, 3, 3), data("indices", Slot::kOther, 2, 2)};
constexpr Operand kScatterIn[] = {data("values_in", Slot::kIn, 3, 3), data("indices", Slot::kOther, 2, 2),
                                  data("input", Slot::kIn, 3, 3)};
constexpr Operand kGatherOut[] = {data("output", Slot::kIn, 3, 3)};
constexpr Operand kScatterOut[] = {data("values_out", Slot::kIn, 3, 3)};
constexpr Operand kResizeIn[] = {data("input", Slot::kIn, 4, 4), shape("scale"), shape("offset"), shape("border")};
constexpr Operand kRescaleIn[] = {any_rank("input"), fixed("multiplier", kNo, 1, 1, true),
                                  fixed("shift", kI8, 1, 1, true), constant("input_zp", Slot::kIn),
                                  constant("output_zp", Slot::kOut)};
constexpr Operand kShapeOut[] = {shape("output")};
constexpr Operand kShapeIn[] = {shape("input")};
constexpr Operand kShapesIn[] = {shape("input1"), shape("input2")};
constexpr Operand kConcatShapeIn[] = {shape_list("input")};
constexpr Operand kSliceShapeIn[] = {shape("input"), fixed("start", kI32, 1, 1, true), fixed("size", kI32, 1, 1, true)};
constexpr Operand kListIn[] = {list("input_list", Slot::kNone, 0)};
constexpr Operand kListOut[] = {list("output_list", Slot::kNone, 0)};
constexpr Operand kCondIn[] = {fixed("condition", kB, 0, kMaxRank), list("input_list", Slot::kNone, 0)};
constexpr Operand kReadOut[] = {any_rank("output1")};
constexpr Operand kVariableOperand[] = {any_rank("variable")};

// ------------------------------------------------------------------------------------------- types: in, other, out,
// acc

constexpr TypeRow kConvolutionTypes[] = {
    {{kI8, kI8, kI32, kI32}, kProInt},     {{kI8, kI4, kI32, kI32}, kExtInt4},    {{kI16, kI8, kI48, kI48}, kExtInt16},
    {{kE4, kE4, kF16, kF16}, kExtFp8E4M3}, {{kE5, kE5, kF16, kF16}, kExtFp8E5M2}, {{kF16, kF16, kF16, kF16}, kProFp},
    {{kF16, kF16, kF16, kF32}, kProFp},    {{kBf, kBf, kBf, kF32}, kExtBf16},     {{kF32, kF32, kF32, kF32}, kProFp},
};
constexpr TypeRow kMatMulTypes[] = {
    {{kI8, kNo, kI32}, kProInt},     {{kI16, kNo, kI48}, kExtInt16}, {{kE4, kNo, kF16}, kExtFp8E4M3},
    {{kE5, kNo, kF16}, kExtFp8E5M2}, {{kF16, kNo, kF16}, kProFp},    {{kF16, kNo, kF32}, kProFp},
    {{kBf, kNo, kF32}, kExtBf16},    {{kF32, kNo, kF32}, kProFp},
};
constexpr TypeRow kAveragePoolTypes[] = {
    {{kI8, kNo, kNo, kI32}, kProInt},     {{kI16, kNo, kNo, kI32}, kExtInt16}, {{kE4, kNo, kNo, kF16}, kExtFp8E4M3},
    {{kE5, kNo, kNo, kF16}, kExtFp8E5M2}, {{kF16, kNo, kNo, kF16}, kProFp},    {{kF16, kNo, kNo, kF32}, kProFp},
    {{kBf, kNo, kNo, kF32}, kExtBf16},    {{kF32, kNo, kNo, kF32}, kProFp},
};
constexpr TypeRow kMaxPoolTypes[] = {
    {{kI8}, kProInt}, {{kI16}, kExtInt16}, {{kE4}, kExtFp8E4M3}, {{kE5}, kExtFp8E5M2},
    {{kF16}, kProFp}, {{kBf}, kExtBf16},   {{kF32}, kProFp},
};
constexpr TypeRow kArgMaxTypes[] = {
    {{kI8, kNo, kI32}, kProInt},     {{kI16, kNo, kI32}, kExtInt16}, {{kE4, kNo, kI32}, kExtFp8E4M3},
    {{kE5, kNo, kI32}, kExtFp8E5M2}, {{kF16, kNo, kI32}, kProFp},    {{kBf, kNo, kI32}, kExtBf16},
    {{kF32, kNo, kI32}, kProFp},
};
constexpr TypeRow kFftTypes[] = {{{kF32}, kExtFft}};
constexpr TypeRow kFloatTypes[] = {{{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp}};
constexpr TypeRow kClampTypes[] = {
    {{kI8}, kProInt}, {{kI16}, kExtInt16}, {{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp},
};
constexpr TypeRow kAddTypes[] = {{{kI32}, kBoth}, {{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp}};
constexpr TypeRow kMaximumTypes[] = {{{kI32}, kProInt}, {{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp}};
constexpr TypeRow kIntegerTypes[] = {{{kI8}, kProInt}, {{kI16}, kProInt}, {{kI32}, kProInt}};
constexpr TypeRow kShiftTypes[] = {{{kI8}, kBoth}, {{kI16}, kBoth}, {{kI32}, kBoth}};
constexpr TypeRow kBoolTypes[] = {{{kB}, kBoth}};
constexpr TypeRow kIntDivTypes[] = {{{kI32}, kBoth}};
constexpr TypeRow kClzTypes[] = {{{kI32}, kProInt}};
constexpr TypeRow kMulTypes[] = {
    {{kI8, kNo, kI32}, kProInt}, {{kI16, kNo, kI32}, kProInt}, {{kI32, kNo, kI32}, kBoth},
    {{kF16, kNo, kF16}, kProFp}, {{kBf, kNo, kBf}, kExtBf16},  {{kF32, kNo, kF32}, kProFp},
};
constexpr TypeRow kTableTypes[] = {{{kI8, kI8, kI8}, kProInt}, {{kI16, kI16, kI32}, kExtInt16}};
constexpr TypeRow kNegateTypes[] = {
    {{kI8}, kProInt}, {{kI16}, kProInt}, {{kI32}, kProInt}, {{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp},
};
constexpr TypeRow kSelectTypes[] = {
    {{kB}, kBoth},    {{kI8}, kProInt},  {{kI16}, kProInt}, {{kI32}, kProInt},
    {{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp},
};
constexpr TypeRow kCompareTypes[] = {
    {{kI32, kNo, kB}, kProInt}, {{kF16, kNo, kB}, kProFp}, {{kBf, kNo, kB}, kExtBf16}, {{kF32, kNo, kB}, kProFp}};
constexpr TypeRow kReduceTypes[] = {
    {{kI8}, kProInt}, {{kI16}, kProInt}, {{kI32}, kProInt}, {{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp},
};
constexpr TypeRow kReduceSumTypes[] = {{{kI32}, kProInt}, {{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp}};
constexpr TypeRow kConcatTypes[] = {
    {{kB}, kBoth},        {{kI8}, kProInt}, {{kI16}, kExtInt16}, {{kI32}, kProInt}, {{kE4}, kExtFp8E4M3},
    {{kE5}, kExtFp8E5M2}, {{kF16}, kProFp}, {{kBf}, kExtBf16},   {{kF32}, kProFp},
};
constexpr TypeRow kLayoutTypes[] = {
    {{kB}, kBoth},        {{kI8}, kProInt}, {{kI16}, kProInt}, {{kI32}, kProInt}, {{kE4}, kExtFp8E4M3},
    {{kE5}, kExtFp8E5M2}, {{kF16}, kProFp}, {{kBf}, kExtBf16}, {{kF32}, kProFp},
};
constexpr TypeRow kGatherTypes[] = {
    {{kI8, kI32}, kProInt},     {{kI16, kI32}, kProInt}, {{kI32, kI32}, kProInt}, {{kE4, kI32}, kExtFp8E4M3},
    {{kE5, kI32}, kExtFp8E5M2}, {{kF16, kI32}, kProFp},  {{kBf, kI32}, kExtBf16}, {{kF32, kI32}, kProFp},
};
constexpr TypeRow kResizeTypes[] = {
    {{kI8, kNo, kI32}, kProInt},    {{kI8, kNo, kI8}, kProInt},  {{kI16, kNo, kI48}, kExtInt16},
    {{kI16, kNo, kI16}, kExtInt16}, {{kF16, kNo, kF16}, kProFp}, {{kBf, kNo, kBf}, kExtBf16},
    {{kF32, kNo, kF32}, kProFp},
};
constexpr TypeRow kCastTypes[] = {
    {{kB, kNo, kI8}, kProInt},
    {{kB, kNo, kI16}, kProInt},
    {{kB, kNo, kI32}, kProInt},
    {{kI8, kNo, kB}, kProInt},
    {{kI8, kNo, kI16}, kProInt},
    {{kI8, kNo, kI32}, kProInt},
    {{kI8, kNo, kF16}, kProFp},
    {{kI8, kNo, kBf}, kExtBf16},
    {{kI8, kNo, kF32}, kProFp},
    {{kI16, kNo, kB}, kProInt},
    {{kI16, kNo, kI8}, kProInt},
    {{kI16, kNo, kI32}, kProInt},
    {{kI16, kNo, kF16}, kProFp},
    {{kI16, kNo, kBf}, kExtBf16},
    {{kI16, kNo, kF32}, kProFp},
    {{kI32, kNo, kB}, kProInt},
    {{kI32, kNo, kI8}, kProInt},
    {{kI32, kNo, kI16}, kProInt},
    {{kI32, kNo, kF16}, kProFp},
    {{kI32, kNo, kBf}, kExtBf16},
    {{kI32, kNo, kF32}, kProFp},
    {{kBf, kNo, kI8}, kExtBf16},
    {{kBf, kNo, kI16}, kExtBf16},
    {{kBf, kNo, kI32}, kExtBf16},
    {{kBf, kNo, kE4}, kExtBf16, kExtFp8E4M3},
    {{kBf, kNo, kE5}, kExtBf16, kExtFp8E5M2},
    {{kBf, kNo, kF32}, kExtBf16},
    {{kE4, kNo, kF16}, kExtFp8E4M3},
    {{kE4, kNo, kBf}, kExtFp8E4M3, kExtBf16},
    {{kE4, kNo, kF32}, kExtFp8E4M3},
    {{kE5, kNo, kF16}, kExtFp8E5M2},
    {{kE5, kNo, kBf}, kExtFp8E5M2, kExtBf16},
    {{kE5, kNo, kF32}, kExtFp8E5M2},
    {{kF16, kNo, kI8}, kProFp},
    {{kF16, kNo, kI16}, kProFp},
    {{kF16, kNo, kI32}, kProFp},
    {{kF16, kNo, kE4}, kExtFp8E4M3},
    {{kF16, kNo, kE5}, kExtFp8E5M2},
    {{kF16, kNo, kF32}, kProFp},
    {{kF32, kNo, kI8}, kProFp},
    {{kF32, kNo, kI16}, kProFp},
    {{kF32, kNo, kI32}, kProFp},
    {{kF32, kNo, kE4}, kExtFp8E4M3},
    {{kF32, kNo, kE5}, kExtFp8E5M2},
    {{kF32, kNo, kBf}, kExtBf16},
    {{kF32, kNo, kF16}, kProFp},
};
constexpr TypeRow kRescaleTypes[] = {
    {{kI8, kNo, kI8}, kProInt},    {{kI8, kNo, kI16}, kProInt},    {{kI8, kNo, kI32}, kProInt},
    {{kI16, kNo, kI8}, kProInt},   {{kI16, kNo, kI16}, kProInt},   {{kI16, kNo, kI32}, kProInt},
    {{kI32, kNo, kI8}, kProInt},   {{kI32, kNo, kI16}, kProInt},   {{kI32, kNo, kI32}, kProInt},
    {{kI48, kNo, kI8}, kExtInt16}, {{kI48, kNo, kI16}, kExtInt16}, {{kI48, kNo, kI32}, kExtInt16},
};
constexpr TypeRow kIdentityTypes[] = {
    {{kB}, kBoth},    {{kI4}, kExtInt4},   {{kI8}, kBoth},       {{kI16}, kBoth},
    {{kI32}, kBoth},  {{kI48}, kExtInt16}, {{kE4}, kExtFp8E4M3}, {{kE5}, kExtFp8E5M2},
    {{kF16}, kProFp}, {{kBf}, kExtBf16},   {{kF32}, kProFp},
};
constexpr TypeRow kVariableTypes[] = {
    {{kI8}, kProInt, kExtVariable},
    {{kF16}, kProFp, kExtVariable},
    {{kF32}, kProFp, kExtVariable},
    {{kB}, kBoth, kExtVariable | kProposalVariable},
    {{kI16}, kProInt, kExtVariable | kProposalVariable},
    {{kI32}, kProInt, kExtVariable | kProposalVariable},
    {{kBf}, kExtBf16, kExtVariable | kProposalVariable},
};

// Those that the types of 1.1 add, the reader refuses.
constexpr TypeRow kDimTypes[] = {
    {{kB}, kBoth, kExtShape},     {{kI8}, kProInt, kExtShape},     {{kI16}, kProInt, kExtShape},
    {{kI32}, kProInt, kExtShape}, {{kE4}, kExtFp8E4M3, kExtShape}, {{kE5}, kExtFp8E5M2, kExtShape},
    {{kF16}, kProFp, kExtShape},  {{kBf}, kExtBf16, kExtShape},    {{kF32}, kProFp, kExtShape},
};

// -------------------------------------------------------------------------------------------------------- operators

constexpr AttributeSet kWindow = kHasKernel | kHasStride | kHasPad;
constexpr AttributeSet kConvolution = kHasPad | kHasStride | kHasDilation | kHasAccType | kHasLocalBound;

constexpr std::array<OperatorInfo, kOpCount> kTable = {{
    {},
    {Op::kArgMax, kReduceIn, kArgMaxOut, kHasAxis | kHasNanMode, kArgMaxTypes, 0, rule_argmax},
    {Op::kAvgPool2d, kAveragePoolIn, kImageOut, kWindow | kHasAccType, kAveragePoolTypes, 0, rule_avg_pool2d},
    {Op::kConv2d, kConvolutionIn, kRank4Out, kConvolution, kConvolutionTypes, 0, rule_conv2d},
    {Op::kConv3d, kConvolution3dIn, kRank5Out, kConvolution, kConvolutionTypes, 0, rule_conv3d},
    {Op::kDepthwiseConv2d, kConvolutionIn, kRank4Out, kConvolution, kConvolutionTypes, 0, rule_depthwise_conv2d},
    {Op::kFft2d, kFftIn, kFftOut, kHasInverse | kHasLocalBound, kFftTypes, 0, rule_fft2d},
    {Op::kMatMul, kMatMulIn, kMatMulOut, 0, kMatMulTypes, 0, rule_matmul},
    {Op::kMaxPool2d, kImageIn, kImageOut, kWindow | kHasNanMode, kMaxPoolTypes, 0, rule_max_pool2d},
    {Op::kRfft2d, kRfftIn, kFftOut, kHasLocalBound, kFftTypes, 0, rule_rfft2d},
    {Op::kTransposeConv2d, kConvolutionIn, kRank4Out, kHasOutPad | kHasStride | kHasAccType | kHasLocalBound,
     kConvolutionTypes, 0, rule_transpose_conv2d},
    {Op::kClamp, kInput, kSame, kHasLimits | kHasNanMode, kClampTypes, 0, rule_clamp},
    {Op::kErf, kInput, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kSigmoid, kInput, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kTanh, kInput, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kAdd, kBinary, kSame, 0, kAddTypes, 0, rule_broadcast},
    {Op::kArithmeticRightShift, kBinary, kSame, kHasRound, kIntegerTypes, 0, rule_broadcast},
    {Op::kBitwiseAnd, kBinary, kSame, 0, kIntegerTypes, 0, rule_broadcast},
    {Op::kBitwiseOr, kBinary, kSame, 0, kIntegerTypes, 0, rule_broadcast},
    {Op::kBitwiseXor, kBinary, kSame, 0, kIntegerTypes, 0, rule_broadcast},
    {Op::kIntDiv, kBinary, kSame, 0, kIntDivTypes, 0, rule_broadcast},
    {Op::kLogicalAnd, kBinary, kSame, 0, kBoolTypes, 0, rule_broadcast},
    {Op::kLogicalLeftShift, kBinary, kSame, 0, kShiftTypes, 0, rule_broadcast},
    {Op::kLogicalRightShift, kBinary, kSame, 0, kShiftTypes, 0, rule_broadcast},
    {Op::kLogicalOr, kBinary, kSame, 0, kBoolTypes, 0, rule_broadcast},
    {Op::kLogicalXor, kBinary, kSame, 0, kBoolTypes, 0, rule_broadcast},
    {Op::kMaximum, kBinary, kSame, kHasNanMode, kMaximumTypes, 0, rule_broadcast},
    {Op::kMinimum, kBinary, kSame, kHasNanMode, kMaximumTypes, 0, rule_broadcast},
    {Op::kMul, kMulIn, kOther, 0, kMulTypes, 0, rule_mul},
    {Op::kPow, kBinary, kSame, 0, kFloatTypes, 0, rule_broadcast},
    {Op::kSub, kBinary, kSame, 0, kAddTypes, 0, rule_broadcast},
    {Op::kTable, kTableIn, kOther, 0, kTableTypes, 0, rule_table},
    {Op::kAbs, kUnary, kSame, 0, kMaximumTypes, 0, rule_same_shape},
    {Op::kBitwiseNot, kUnary, kSame, 0, kIntegerTypes, 0, rule_same_shape},
    {Op::kCeil, kUnary, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kClz, kUnary, kSame, 0, kClzTypes, 0, rule_same_shape},
    {Op::kCos, kUnary, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kExp, kUnary, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kFloor, kUnary, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kLog, kUnary, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kLogicalNot, kUnary, kSame, 0, kBoolTypes, 0, rule_same_shape},
    {Op::kNegate, kNegateIn, kSame, 0, kNegateTypes, 0, rule_negate},
    {Op::kReciprocal, kUnary, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kRsqrt, kUnary, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kSin, kUnary, kSame, 0, kFloatTypes, 0, rule_same_shape},
    {Op::kSelect, kSelectIn, kSame, 0, kSelectTypes, 0, rule_broadcast},
    {Op::kEqual, kBinary, kOther, 0, kCompareTypes, 0, rule_broadcast},
    {Op::kGreater, kBinary, kOther, 0, kCompareTypes, 0, rule_broadcast},
    {Op::kGreaterEqual, kBinary, kOther, 0, kCompareTypes, 0, rule_broadcast},
    {Op::kReduceAll, kReduceIn, kLayoutOut, kHasAxis, kBoolTypes, 0, rule_reduce},
    {Op::kReduceAny, kReduceIn, kLayoutOut, kHasAxis, kBoolTypes, 0, rule_reduce},
    {Op::kReduceMax, kReduceIn, kLayoutOut, kHasAxis | kHasNanMode, kReduceTypes, 0, rule_reduce},
    {Op::kReduceMin, kReduceIn, kLayoutOut, kHasAxis | kHasNanMode, kReduceTypes, 0, rule_reduce},
    {Op::kReduceProduct, kReduceIn, kLayoutOut, kHasAxis, kFloatTypes, 0, rule_reduce},
    {Op::kReduceSum, kReduceIn, kLayoutOut, kHasAxis, kReduceSumTypes, 0, rule_reduce},
    {Op::kConcat, kConcatIn, kLayoutOut, kHasAxis, kConcatTypes, 0, rule_concat},
    {Op::kPad, kPadIn, kLayoutOut, 0, kLayoutTypes, 0, rule_pad},
    {Op::kReshape, kReshapeIn, kSame, 0, kLayoutTypes, 0, rule_reshape},
    {Op::kReverse, kLayoutIn, kLayoutOut, kHasAxis, kLayoutTypes, 0, rule_reverse},
    {Op::kSlice, kSliceIn, kLayoutOut, 0, kLayoutTypes, 0, rule_slice},
    {Op::kTile, kTileIn, kLayoutOut, 0, kLayoutTypes, 0, rule_tile},
    {Op::kTranspose, kLayoutIn, kLayoutOut, kHasPerms, kLayoutTypes, 0, rule_transpose},
    {Op::kGather, kGatherIn, kGatherOut, 0, kGatherTypes, 0, rule_gather},
    {Op::kScatter, kScatterIn, kScatterOut, 0, kGatherTypes, 0, rule_scatter},
    {Op::kResize, kResizeIn, kRank4Out, kHasResizeMode, kResizeTypes, 0, rule_resize},
    {Op::kCast, kInput, kOther, 0, kCastTypes, 0, rule_same_shape},
    {Op::kRescale, kRescaleIn, kOther, kHasRescale, kRescaleTypes, 0, rule_rescale},
    {Op::kConst, {}, kSame, 0, kIdentityTypes, 0, rule_const},
    {Op::kIdentity, kUnary, kSame, 0, kIdentityTypes, 0, rule_same_shape},
    {Op::kCustom, kListIn, kListOut, kHasCustom, {}, kBoth, rule_custom},
    {Op::kCondIf, kCondIn, kListOut, kHasBranches, {}, kExtControlFlow, rule_cond_if},
    {Op::kWhileLoop, kListIn, kListOut, kHasLoop, {}, kExtControlFlow, rule_while_loop},
    {Op::kVariable, {}, kVariableOperand, 0, kVariableTypes, 0, rule_variable},
    {Op::kVariableWrite, kUnary, kVariableOperand, 0, kVariableTypes, 0, rule_variable_access},
    {Op::kVariableRead, kVariableOperand, kReadOut, 0, kVariableTypes, 0, rule_variable_access},
    {Op::kConstShape, {}, kShapeOut, 0, {}, kBoth, rule_const},
    {Op::kDim, kLayoutIn, kShapeOut, kHasAxis, kDimTypes, 0, rule_dim},
    {Op::kConcatShape, kConcatShapeIn, kShapeOut, 0, {}, kExtShape, rule_concat_shape},
    {Op::kAddShape, kShapesIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kSubShape, kShapesIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kMulShape, kShapesIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kSliceShape, kSliceShapeIn, kShapeOut, 0, {}, kExtShape, rule_slice_shape},
    {Op::kExp2Shape, kShapeIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kLog2CeilShape, kShapeIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kLog2FloorShape, kShapeIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kMaxShape, kShapesIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kMinShape, kShapesIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kModShape, kShapesIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kDivCeilShape, kShapesIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kDivFloorShape, kShapesIn, kShapeOut, 0, {}, kExtShape, rule_same_length},
    {Op::kAssertEqualShape, kShapesIn, {}, kHasAllowBroadcast, {}, kExtShape, rule_assert_equal_shape},
}};

// A function's address is no constant expression with sanitizers, so that each row has a rule is checked at use.
constexpr bool in_order() {
  for (uint32_t i = 0; i < kOpCount; ++i) {
    if (static_cast<uint32_t>(kTable[i].op) != i) {
      return false;
    }
  }
  return true;
}
static_assert(in_order(), "the table is indexed by the operator's number");

// What has the types of a slot, for people: the data, not a zero point.
std::string_view slot_name(const OperatorInfo& entry, Slot slot) {
  if (slot == Slot::kAcc) {
    return "acc_type";
  }
  const auto first = slot == Slot::kOut ? entry.outputs : entry.inputs;
  const auto second = slot == Slot::kOut ? entry.inputs : entry.outputs;
  for (const auto operands : {first, second}) {
    for (const Operand& operand : operands) {
      if (operand.slot == slot) {
        return operand.name;
      }
    }
  }
  NPU_CHECK(false);
}

}  // namespace

const OperatorInfo& info(Op op) {
  const auto index = static_cast<size_t>(op);
  NPU_CHECK(index != 0 && index < kTable.size() && kTable[index].rule != nullptr);
  return kTable[index];
}

Op op_from_name(std::string_view wanted) {
  for (uint32_t i = 1; i < kOpCount; ++i) {
    if (name(static_cast<Op>(i)) == wanted) {
      return static_cast<Op>(i);
    }
  }
  return Op::kUnknown;
}

std::string describe_row(const OperatorInfo& entry, const TypeRow& row) {
  const bool several = std::count(row.types.begin(), row.types.end(), DType::kUnknown) < 3;
  std::string text;
  for (const Slot slot : {Slot::kIn, Slot::kOther, Slot::kOut, Slot::kAcc}) {
    const DType type = row.types[static_cast<size_t>(slot)];
    if (type != DType::kUnknown) {
      text += text.empty() ? "" : ", ";
      text += several ? std::string(slot_name(entry, slot)) + " " : "";
      text += name(type);
    }
  }
  return text;
}

}  // namespace npu::graph
