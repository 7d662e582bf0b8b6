// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/reader_attributes.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

template <typename To, typename From>
To to_enum(From value, const char* what) {
  if (value > From::MAX) {
    throw UnknownValue(std::string(what) + " has the unknown value " + std::to_string(static_cast<uint32_t>(value)));
  }
  return static_cast<To>(value);
}

NanMode nan_mode(tosa::NanPropagationMode mode) { return to_enum<NanMode>(mode, "nan_mode"); }
DType acc_type(tosa::DType type) { return to_enum<DType>(type, "acc_type"); }

// One `decode` for each table that has fields.
class Decoder {
 public:
  Decoder(Budget& budget, Attributes& out) : budget_(budget), out_(out) {}

  void decode(const tosa::ArgMaxAttribute& from) {
    out_.axis = from.axis();
    out_.nan_mode = nan_mode(from.nan_mode());
  }

  void decode(const tosa::AvgPool2dAttribute& from) {
    decode_window(from);
    out_.acc_type = acc_type(from.acc_type());
  }

  void decode(const tosa::MaxPool2dAttribute& from) {
    decode_window(from);
    out_.nan_mode = nan_mode(from.nan_mode());
  }

  void decode(const tosa::Conv2dAttribute& from) { decode_convolution(from); }
  void decode(const tosa::Conv3dAttribute& from) { decode_convolution(from); }
  void decode(const tosa::DepthwiseConv2dAttribute& from) { decode_convolution(from); }

  void decode(const tosa::TransposeConv2dAttribute& from) {
    out_.out_pad = copy(from.out_pad());
    out_.stride = copy(from.stride());
    out_.local_bound = from.local_bound();
    out_.acc_type = acc_type(from.acc_type());
  }

  void decode(const tosa::FFT2dAttribute& from) {
    out_.inverse = from.inverse();
    out_.local_bound = from.local_bound();
  }

  void decode(const tosa::RFFT2dAttribute& from) { out_.local_bound = from.local_bound(); }

  void decode(const tosa::ClampAttribute& from) {
    out_.min_val = copy(from.min_val());
    out_.max_val = copy(from.max_val());
    out_.nan_mode = nan_mode(from.nan_mode());
  }

  void decode(const tosa::ArithmeticRightShiftAttribute& from) { out_.round = from.round(); }
  void decode(const tosa::MaximumAttribute& from) { out_.nan_mode = nan_mode(from.nan_mode()); }
  void decode(const tosa::MinimumAttribute& from) { out_.nan_mode = nan_mode(from.nan_mode()); }
  void decode(const tosa::ReduceAllAttribute& from) { out_.axis = from.axis(); }
  void decode(const tosa::ReduceAnyAttribute& from) { out_.axis = from.axis(); }
  void decode(const tosa::ReduceProductAttribute& from) { out_.axis = from.axis(); }
  void decode(const tosa::ReduceSumAttribute& from) { out_.axis = from.axis(); }

  void decode(const tosa::ReduceMaxAttribute& from) {
    out_.axis = from.axis();
    out_.nan_mode = nan_mode(from.nan_mode());
  }

  void decode(const tosa::ReduceMinAttribute& from) {
    out_.axis = from.axis();
    out_.nan_mode = nan_mode(from.nan_mode());
  }

  void decode(const tosa::ConcatAttribute& from) { out_.axis = from.axis(); }
  void decode(const tosa::ReverseAttribute& from) { out_.axis = from.axis(); }
  void decode(const tosa::TransposeAttribute& from) { out_.perms = copy(from.perms()); }

  void decode(const tosa::ResizeAttribute& from) { out_.resize_mode = to_enum<ResizeMode>(from.mode(), "mode"); }

  void decode(const tosa::RescaleAttribute& from) {
    out_.scale32 = from.scale32();
    out_.rounding_mode = to_enum<RoundingMode>(from.rounding_mode(), "rounding_mode");
    out_.per_channel = from.per_channel();
    out_.input_unsigned = from.input_unsigned();
    out_.output_unsigned = from.output_unsigned();
  }

  void decode(const tosa::DimAttribute& from) { out_.axis = from.axis(); }
  void decode(const tosa::AssertEqualShapeAttribute& from) { out_.allow_broadcast = from.allow_broadcast(); }

  void decode(const tosa::CustomAttribute& from) {
    out_.custom_operator = copy(from.operator_name());
    out_.custom_domain = copy(from.domain_name());
    out_.custom_attributes = copy(from.implementation_attrs());
  }

  void decode(const tosa::CondIfAttribute& from) {
    out_.then_graph = copy(from.then_graph());
    out_.else_graph = copy(from.else_graph());
  }

  void decode(const tosa::WhileLoopAttribute& from) {
    out_.cond_graph = copy(from.cond_graph());
    out_.body_graph = copy(from.body_graph());
  }

 private:
  template <typename T>
  std::vector<T> copy(const flatbuffers::Vector<T>* vector) {
    if (vector == nullptr) {
      return {};
    }
    budget_.spend(size_t{vector->size()} * sizeof(T));
    return std::vector<T>(vector->begin(), vector->end());
  }

  std::string copy(const flatbuffers::String* string) {
    if (string == nullptr) {
      return {};
    }
    budget_.spend(string->size());
    return string->str();
  }

  template <typename Pool>
  void decode_window(const Pool& from) {
    out_.kernel = copy(from.kernel());
    out_.stride = copy(from.stride());
    out_.pad = copy(from.pad());
  }

  template <typename Convolution>
  void decode_convolution(const Convolution& from) {
    out_.pad = copy(from.pad());
    out_.stride = copy(from.stride());
    out_.dilation = copy(from.dilation());
    out_.local_bound = from.local_bound();
    out_.acc_type = acc_type(from.acc_type());
  }

  Budget& budget_;
  Attributes& out_;
};

template <typename Table>
const Table& required(const Table* table) {
  if (table == nullptr) {
    throw Error(ErrorCode::kBadArgument, "it has no attributes");
  }
  return *table;
}

}  // namespace

void decode_attributes(const tosa::TosaOperator& op, tosa::Attribute table, Budget& budget, Attributes& out) {
  Decoder decoder(budget, out);
  switch (table) {
#define NPU_DECODE(table)      \
  case tosa::Attribute::table: \
    return decoder.decode(required(op.attribute_as_##table()))
    NPU_DECODE(ArgMaxAttribute);
    NPU_DECODE(AvgPool2dAttribute);
    NPU_DECODE(MaxPool2dAttribute);
    NPU_DECODE(Conv2dAttribute);
    NPU_DECODE(Conv3dAttribute);
    NPU_DECODE(DepthwiseConv2dAttribute);
    NPU_DECODE(TransposeConv2dAttribute);
    NPU_DECODE(FFT2dAttribute);
    NPU_DECODE(RFFT2dAttribute);
    NPU_DECODE(ClampAttribute);
    NPU_DECODE(ArithmeticRightShiftAttribute);
    NPU_DECODE(MaximumAttribute);
    NPU_DECODE(MinimumAttribute);
    NPU_DECODE(ReduceAllAttribute);
    NPU_DECODE(ReduceAnyAttribute);
    NPU_DECODE(ReduceProductAttribute);
    NPU_DECODE(ReduceSumAttribute);
    NPU_DECODE(ReduceMaxAttribute);
    NPU_DECODE(ReduceMinAttribute);
    NPU_DECODE(ConcatAttribute);
    NPU_DECODE(ReverseAttribute);
    NPU_DECODE(TransposeAttribute);
    NPU_DECODE(ResizeAttribute);
    NPU_DECODE(RescaleAttribute);
    NPU_DECODE(CustomAttribute);
    NPU_DECODE(CondIfAttribute);
    NPU_DECODE(WhileLoopAttribute);
    NPU_DECODE(DimAttribute);
    NPU_DECODE(AssertEqualShapeAttribute);
#undef NPU_DECODE
    default:
      return;  // the table has no fields
  }
}

}  // namespace npu::graph
