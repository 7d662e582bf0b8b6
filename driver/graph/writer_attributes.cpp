// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/writer_attributes.h"

namespace npu::graph {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

Offset<flatbuffers::Vector<int32_t>> list(FlatBufferBuilder& file, const std::vector<int32_t>& values) {
  return file.CreateVector(values);
}

tosa::DType type(DType value) { return static_cast<tosa::DType>(value); }
tosa::NanPropagationMode nan_mode(NanMode mode) { return static_cast<tosa::NanPropagationMode>(mode); }

// Limits fill 8 bytes whatever their type.
Offset<flatbuffers::Vector<uint8_t>> limit(FlatBufferBuilder& file, std::vector<uint8_t> value) {
  value.resize((value.size() + 7) / 8 * 8);
  file.ForceVectorAlignment(value.size(), sizeof(uint8_t), 8);
  return file.CreateVector(value);
}

Offset<void> encode_clamp(FlatBufferBuilder& file, const Attributes& a) {
  const auto min_val = limit(file, a.min_val);
  const auto max_val = limit(file, a.max_val);
  return tosa::CreateClampAttribute(file, min_val, max_val, nan_mode(a.nan_mode)).Union();
}

template <typename Create>
Offset<void> encode_convolution(FlatBufferBuilder& file, const Attributes& a, Create create) {
  const auto pad = list(file, a.pad);
  const auto stride = list(file, a.stride);
  const auto dilation = list(file, a.dilation);
  return create(file, pad, stride, dilation, a.local_bound, type(a.acc_type)).Union();
}

Offset<void> encode_transpose_convolution(FlatBufferBuilder& file, const Attributes& a) {
  const auto out_pad = list(file, a.out_pad);
  const auto stride = list(file, a.stride);
  return tosa::CreateTransposeConv2dAttribute(file, out_pad, stride, a.local_bound, type(a.acc_type)).Union();
}

template <typename Create, typename Last>
Offset<void> encode_pool(FlatBufferBuilder& file, const Attributes& a, Create create, Last last) {
  const auto kernel = list(file, a.kernel);
  const auto stride = list(file, a.stride);
  const auto pad = list(file, a.pad);
  return create(file, kernel, stride, pad, last).Union();
}

Offset<void> encode_custom(FlatBufferBuilder& file, const Attributes& a) {
  const auto name = file.CreateString(a.custom_operator);
  const auto domain = file.CreateString(a.custom_domain);
  const auto bytes = file.CreateVector(a.custom_attributes);
  return tosa::CreateCustomAttribute(file, name, domain, bytes).Union();
}

Offset<void> encode_cond_if(FlatBufferBuilder& file, const Attributes& a) {
  const auto then_graph = file.CreateString(a.then_graph);
  const auto else_graph = file.CreateString(a.else_graph);
  return tosa::CreateCondIfAttribute(file, then_graph, else_graph).Union();
}

Offset<void> encode_while_loop(FlatBufferBuilder& file, const Attributes& a) {
  const auto cond_graph = file.CreateString(a.cond_graph);
  const auto body_graph = file.CreateString(a.body_graph);
  return tosa::CreateWhileLoopAttribute(file, cond_graph, body_graph).Union();
}

}  // namespace

Offset<void> encode_attributes(FlatBufferBuilder& file, const Operator& op) {
  const Attributes& a = op.attributes;
  switch (op.op) {
    case Op::kArgMax:
      return tosa::CreateArgMaxAttribute(file, a.axis, nan_mode(a.nan_mode)).Union();
    case Op::kAvgPool2d:
      return encode_pool(file, a, tosa::CreateAvgPool2dAttribute, type(a.acc_type));
    case Op::kMaxPool2d:
      return encode_pool(file, a, tosa::CreateMaxPool2dAttribute, nan_mode(a.nan_mode));
    case Op::kConv2d:
      return encode_convolution(file, a, tosa::CreateConv2dAttribute);
    case Op::kConv3d:
      return encode_convolution(file, a, tosa::CreateConv3dAttribute);
    case Op::kDepthwiseConv2d:
      return encode_convolution(file, a, tosa::CreateDepthwiseConv2dAttribute);
    case Op::kTransposeConv2d:
      return encode_transpose_convolution(file, a);
    case Op::kFft2d:
      return tosa::CreateFFT2dAttribute(file, a.inverse, a.local_bound).Union();
    case Op::kRfft2d:
      return tosa::CreateRFFT2dAttribute(file, a.local_bound).Union();
    case Op::kClamp:
      return encode_clamp(file, a);
    case Op::kArithmeticRightShift:
      return tosa::CreateArithmeticRightShiftAttribute(file, a.round).Union();
    case Op::kMaximum:
      return tosa::CreateMaximumAttribute(file, nan_mode(a.nan_mode)).Union();
    case Op::kMinimum:
      return tosa::CreateMinimumAttribute(file, nan_mode(a.nan_mode)).Union();
    case Op::kReduceAll:
      return tosa::CreateReduceAllAttribute(file, a.axis).Union();
    case Op::kReduceAny:
      return tosa::CreateReduceAnyAttribute(file, a.axis).Union();
    case Op::kReduceMax:
      return tosa::CreateReduceMaxAttribute(file, a.axis, nan_mode(a.nan_mode)).Union();
    case Op::kReduceMin:
      return tosa::CreateReduceMinAttribute(file, a.axis, nan_mode(a.nan_mode)).Union();
    case Op::kReduceProduct:
      return tosa::CreateReduceProductAttribute(file, a.axis).Union();
    case Op::kReduceSum:
      return tosa::CreateReduceSumAttribute(file, a.axis).Union();
    case Op::kConcat:
      return tosa::CreateConcatAttribute(file, a.axis).Union();
    case Op::kReverse:
      return tosa::CreateReverseAttribute(file, a.axis).Union();
    case Op::kTranspose:
      return tosa::CreateTransposeAttribute(file, list(file, a.perms)).Union();
    case Op::kResize:
      return tosa::CreateResizeAttribute(file, static_cast<tosa::ResizeMode>(a.resize_mode)).Union();
    case Op::kRescale:
      return tosa::CreateRescaleAttribute(file, a.scale32, static_cast<tosa::RoundingMode>(a.rounding_mode),
                                          a.per_channel, a.input_unsigned, a.output_unsigned)
          .Union();
    case Op::kCustom:
      return encode_custom(file, a);
    case Op::kCondIf:
      return encode_cond_if(file, a);
    case Op::kWhileLoop:
      return encode_while_loop(file, a);
    case Op::kDim:
      return tosa::CreateDimAttribute(file, a.axis).Union();
    case Op::kAssertEqualShape:
      return tosa::CreateAssertEqualShapeAttribute(file, a.allow_broadcast).Union();
    default:
      // All other tables are empty, so one serves for each.
      return {file.EndTable(file.StartTable())};
  }
}

}  // namespace npu::graph
