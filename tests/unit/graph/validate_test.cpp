// Every rule of validate(): a legal graph, and the same graph with one thing changed.
#include "driver/graph/validate.h"

#include <gtest/gtest.h>

#include <functional>

#include "driver/graph/operators.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;
using samples::find;
using samples::input;
using samples::output;
using samples::set_constant;

// The graph is samples::of(op).
struct Spoilt {
  const char* name;
  Op op;
  std::function<void(Graph&)> change;
  ErrorCode code;
  const char* says;
};

void PrintTo(const Spoilt& spoilt, std::ostream* stream) { *stream << spoilt.name; }

Attributes& attributes(Graph& graph, Op op) { return find(graph, op).attributes; }

class Illegal : public testing::TestWithParam<Spoilt> {};

TEST_P(Illegal, IsRefused) {
  Graph graph = samples::of(GetParam().op);
  ASSERT_NO_THROW(validate(graph));
  GetParam().change(graph);
  try {
    validate(graph);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(contract::name(error.code()), contract::name(GetParam().code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one sentence";
  }
}

constexpr ErrorCode kStructure = ErrorCode::kBadStructure;
constexpr ErrorCode kArgument = ErrorCode::kBadArgument;
constexpr ErrorCode kType = ErrorCode::kBadType;
constexpr ErrorCode kShape = ErrorCode::kBadShape;
constexpr ErrorCode kData = ErrorCode::kBadData;

const std::vector<Spoilt>& structure_cases() {
  static const std::vector<Spoilt> kCases = {
      {"no_region", Op::kAdd, [](Graph& g) { g.regions.clear(); }, kStructure, "no region"},
      {"no_block", Op::kAdd, [](Graph& g) { g.regions[0].blocks.clear(); }, kStructure, "0 blocks"},
      {"two_blocks", Op::kAdd, [](Graph& g) { g.regions[0].blocks.push_back(g.main()); }, kStructure, "2 blocks"},
      {"region_twice", Op::kAdd, [](Graph& g) { g.regions.push_back(g.regions[0]); }, kStructure, "occurs twice"},
      {"tensor_twice", Op::kAdd, [](Graph& g) { g.main().tensors[1].name = "x"; }, kStructure, "'x'"},
      {"tensor_without_name", Op::kAdd, [](Graph& g) { g.main().tensors[1].name = ""; }, kStructure, "is empty"},
      {"tensor_number", Op::kAdd, [](Graph& g) { find(g, Op::kAdd).inputs[0] = 99; }, kStructure, "99"},
      {"output_number", Op::kAdd, [](Graph& g) { g.main().outputs[0] = 99; }, kStructure, "99"},
      {"input_not_listed", Op::kAdd, [](Graph& g) { g.main().inputs.pop_back(); }, kStructure,
       "uses 'y', which no operator produces"},
      {"input_listed_twice", Op::kAdd, [](Graph& g) { g.main().inputs.push_back(0); }, kStructure, "listed twice"},
      {"input_is_produced", Op::kAdd, [](Graph& g) { g.main().inputs.push_back(find(g, Op::kAdd).outputs[0]); },
       kStructure, "is a graph input"},
      {"input_with_data", Op::kPad, [](Graph& g) { g.main().inputs.push_back(find(g, Op::kPad).inputs[2]); },
       kStructure, "constant data"},
      {"output_not_produced", Op::kAdd, [](Graph& g) { g.main().operators.clear(); }, kStructure,
       "no operator produces the graph output"},
      {"output_is_shape", Op::kReshape, [](Graph& g) { g.main().outputs[0] = find(g, Op::kReshape).inputs[1]; },
       kStructure, "is a shape"},
      {"input_is_shape", Op::kReshape, [](Graph& g) { g.main().inputs.push_back(find(g, Op::kReshape).inputs[1]); },
       kStructure, "is a shape"},
      {"output_is_variable", Op::kVariableRead,
       [](Graph& g) { g.main().outputs[0] = find(g, Op::kVariableRead).inputs[0]; }, kStructure, "is a variable"},
      {"produced_twice", Op::kAdd, [](Graph& g) { g.main().operators.push_back(Operator(g.main().operators.back())); },
       kStructure, "has a value already"},
      {"wrong_order", Op::kPad, [](Graph& g) { std::swap(g.main().operators.front(), g.main().operators.back()); },
       kStructure, "before operator"},
      {"uses_itself", Op::kAdd, [](Graph& g) { find(g, Op::kAdd).inputs[0] = find(g, Op::kAdd).outputs[0]; },
       kStructure, "before operator 0"},
      {"result_with_data", Op::kConst, [](Graph& g) { find(g, Op::kConst).op = Op::kIdentity; }, kArgument,
       "0 inputs, but needs 1"},
      {"unknown_operator", Op::kAdd, [](Graph& g) { find(g, Op::kAdd).op = Op::kUnknown; }, ErrorCode::kUnknownOperator,
       "operator 0"},
      {"operator_of_later_version", Op::kAdd, [](Graph& g) { find(g, Op::kAdd).op = static_cast<Op>(kOpCount); },
       ErrorCode::kUnknownOperator, "operator 0"},
      {"type_unknown", Op::kAdd, [](Graph& g) { g.main().tensors[0].type = DType::kUnknown; }, kType, "'x'"},
      {"type_of_later_version", Op::kAdd, [](Graph& g) { g.main().tensors[0].type = DType::kMxInt8; }, kType, "'x'"},
      {"size_0", Op::kAdd, [](Graph& g) { g.main().tensors[0].shape[1] = 0; }, kShape, "[2, 0]"},
      {"size_negative", Op::kAdd, [](Graph& g) { g.main().tensors[0].shape[1] = -1; }, kShape, "dynamic"},
      {"size_huge", Op::kAdd, [](Graph& g) { g.main().tensors[0].shape[1] = int64_t{1} << 31; }, kShape, "'x'"},
      {"product_huge", Op::kAdd,
       [](Graph& g) {
         g.main().tensors[0].shape = {INT32_MAX, INT32_MAX};
       },
       kShape, "too large"},
      {"rank_huge", Op::kAdd, [](Graph& g) { g.main().tensors[0].shape = Shape(33, 1); }, kShape, "rank 33"},
      {"data_too_short", Op::kPad, [](Graph& g) { input(g, Op::kPad, 1).data = input(g, Op::kPad, 1).data.first(8); },
       kData, "8 bytes"},
      {"const_without_data", Op::kConst, [](Graph& g) { output(g, Op::kConst, 0).has_data = false; }, kData,
       "has no data"},
      {"shape_without_data", Op::kConstShape, [](Graph& g) { output(g, Op::kConstShape, 0).has_data = false; }, kData,
       "has no data"},
  };
  return kCases;
}

const std::vector<Spoilt>& operand_cases() {
  static const std::vector<Spoilt> kCases = {
      {"input_missing", Op::kAdd, [](Graph& g) { find(g, Op::kAdd).inputs.pop_back(); }, kArgument,
       "has 1 inputs, but needs 2"},
      {"input_surplus", Op::kAdd, [](Graph& g) { find(g, Op::kAdd).inputs.push_back(0); }, kArgument, "has 3 inputs"},
      {"output_missing", Op::kFft2d, [](Graph& g) { find(g, Op::kFft2d).outputs.pop_back(); }, kArgument,
       "has 1 outputs, but needs 2"},
      {"no_concat_input", Op::kConcat, [](Graph& g) { find(g, Op::kConcat).inputs.clear(); }, kArgument,
       "needs 1 or more"},
      {"no_condition", Op::kCondIf, [](Graph& g) { find(g, Op::kCondIf).inputs.clear(); }, kArgument,
       "needs 1 or more"},
      {"tensor_for_shape", Op::kReshape, [](Graph& g) { find(g, Op::kReshape).inputs[1] = 0; }, kArgument,
       "shape 'x' is a tensor"},
      {"shape_for_tensor", Op::kReshape,
       [](Graph& g) { find(g, Op::kReshape).inputs[0] = find(g, Op::kReshape).inputs[1]; }, kArgument,
       "must be a tensor"},
      {"const_of_shape", Op::kConstShape, [](Graph& g) { find(g, Op::kConstShape).op = Op::kConst; }, kType, "SHAPE"},
      {"const_shape_of_tensor", Op::kConst, [](Graph& g) { find(g, Op::kConst).op = Op::kConstShape; }, kArgument,
       "must be a shape"},
      {"types_differ", Op::kAdd, [](Graph& g) { input(g, Op::kAdd, 1).type = DType::kInt8; }, kType,
       "input2 'y' is INT8, but input1 'x' is INT32"},
      {"type_not_in_table", Op::kAbs,
       [](Graph& g) {
         input(g, Op::kAbs, 0).type = DType::kInt8;
         output(g, Op::kAbs, 0).type = DType::kInt8;
       },
       kType, "input1 'x' = INT8"},
      {"reshape_of_int48", Op::kReshape,
       [](Graph& g) {
         input(g, Op::kReshape, 0).type = DType::kInt48;
         output(g, Op::kReshape, 0).type = DType::kInt48;
       },
       kType, "INT48"},
      {"result_type", Op::kEqual, [](Graph& g) { output(g, Op::kEqual, 0).type = DType::kInt32; }, kType,
       "output 'layer_0' = INT32"},
      {"fixed_type", Op::kMul, [](Graph& g) { find(g, Op::kMul).inputs[2] = 0; }, kType, "shift 'x' is INT32"},
      {"select_condition", Op::kSelect, [](Graph& g) { find(g, Op::kSelect).inputs[0] = 1; }, kType, "must be BOOL"},
      {"rank_too_low", Op::kMatMul,
       [](Graph& g) {
         input(g, Op::kMatMul, 0).shape = {3, 4};
       },
       kShape, "A 'x' has rank 2, but must have 3"},
      {"rank_too_high", Op::kConv2d, [](Graph& g) { input(g, Op::kConv2d, 0).shape.push_back(1); }, kShape,
       "has rank 5, but must have 4"},
      {"rank_0", Op::kReduceSum, [](Graph& g) { input(g, Op::kReduceSum, 0).shape = {}; }, kShape, "has rank 0"},
      {"zero_point_rank", Op::kNegate, [](Graph& g) { input(g, Op::kNegate, 1).shape = {}; }, kShape, "has rank 0"},
      {"result_shape", Op::kAdd,
       [](Graph& g) {
         output(g, Op::kAdd, 0).shape = {2, 4};
       },
       kShape, "output 'layer_0' has shape [2, 4], but must have [2, 3]"},
      {"axis_negative", Op::kReduceSum, [](Graph& g) { attributes(g, Op::kReduceSum).axis = -1; }, kArgument,
       "axis -1"},
      {"axis_too_large", Op::kConcat, [](Graph& g) { attributes(g, Op::kConcat).axis = 2; }, kArgument, "axis 2"},
      {"axis_of_argmax", Op::kArgMax, [](Graph& g) { attributes(g, Op::kArgMax).axis = 3; }, kArgument, "axis 3"},
      {"axis_of_reverse", Op::kReverse, [](Graph& g) { attributes(g, Op::kReverse).axis = 2; }, kArgument, "axis 2"},
      {"nan_mode", Op::kClamp,
       [](Graph& g) {
         input(g, Op::kClamp, 0).type = DType::kFp32;
         output(g, Op::kClamp, 0).type = DType::kFp32;
         attributes(g, Op::kClamp).nan_mode = NanMode::kUnknown;
       },
       kArgument, "nan_mode is not set"},
  };
  return kCases;
}

const std::vector<Spoilt>& tensor_cases() {
  static const std::vector<Spoilt> kCases = {
      {"pad_count", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).pad.pop_back(); }, kArgument,
       "pad has 3 values, but needs 4"},
      {"stride_count", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).stride = {1}; }, kArgument, "stride"},
      {"dilation_count", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).dilation = {}; }, kArgument,
       "dilation"},
      {"kernel_count", Op::kMaxPool2d, [](Graph& g) { attributes(g, Op::kMaxPool2d).kernel = {2}; }, kArgument,
       "kernel"},
      {"out_pad_count", Op::kTransposeConv2d, [](Graph& g) { attributes(g, Op::kTransposeConv2d).out_pad = {}; },
       kArgument, "out_pad"},
      {"conv3d_pad_count", Op::kConv3d,
       [](Graph& g) {
         attributes(g, Op::kConv3d).pad = {0, 0, 0, 0};
       },
       kArgument, "needs 6"},
      {"acc_type", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).acc_type = DType::kInt48; }, kType,
       "acc_type = INT48"},
      {"pad_negative", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).pad[0] = -1; }, kArgument, "pad -1"},
      {"stride_0", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).stride[0] = 0; }, kArgument, "stride 0"},
      {"dilation_0", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).dilation[0] = 0; }, kArgument,
       "dilation 0"},
      {"window_not_multiple", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).pad[0] = 0; }, kShape,
       "not a multiple of the stride 2"},
      {"window_too_large", Op::kConv2d, [](Graph& g) { attributes(g, Op::kConv2d).dilation[1] = 9; }, kShape,
       "window of 10 is larger than the padded width of 7"},
      {"conv_channels", Op::kConv2d, [](Graph& g) { input(g, Op::kConv2d, 0).shape[3] = 4; }, kShape,
       "input 'x' has 4 channels, but weight"},
      {"conv3d_channels", Op::kConv3d, [](Graph& g) { input(g, Op::kConv3d, 0).shape[4] = 4; }, kShape, "channels"},
      {"depthwise_channels", Op::kDepthwiseConv2d, [](Graph& g) { input(g, Op::kDepthwiseConv2d, 0).shape[3] = 2; },
       kShape, "channels"},
      {"transpose_conv_channels", Op::kTransposeConv2d,
       [](Graph& g) { input(g, Op::kTransposeConv2d, 0).shape[3] = 2; }, kShape, "channels"},
      {"bias_length", Op::kConv2d,
       [](Graph& g) {
         input(g, Op::kConv2d, 2).shape = {3};
         set_constant(g, input(g, Op::kConv2d, 2), {1});
       },
       kShape, "has 3 elements, but there are 4 output channels"},
      {"conv_zero_point_length", Op::kConv2d,
       [](Graph& g) {
         input(g, Op::kConv2d, 3).shape = {2};
         set_constant(g, input(g, Op::kConv2d, 3), {0});
       },
       kShape, "input_zp"},
      {"conv_zero_point_type", Op::kConv2d,
       [](Graph& g) {
         for (const size_t i : {0, 3}) {
           input(g, Op::kConv2d, i).type = DType::kInt16;
         }
         input(g, Op::kConv2d, 2).type = DType::kInt48;
         output(g, Op::kConv2d, 0).type = DType::kInt48;
         attributes(g, Op::kConv2d).acc_type = DType::kInt48;
         set_constant(g, input(g, Op::kConv2d, 2), {1});
         set_constant(g, input(g, Op::kConv2d, 3), {1});
       },
       kArgument, "must be 0 for INT16"},
      {"conv_output", Op::kConv2d, [](Graph& g) { output(g, Op::kConv2d, 0).shape[3] = 5; }, kShape, "must have"},
      {"out_pad", Op::kTransposeConv2d, [](Graph& g) { attributes(g, Op::kTransposeConv2d).out_pad[0] = -3; },
       kArgument, "out_pad -3"},
      {"transpose_conv_stride", Op::kTransposeConv2d,
       [](Graph& g) { attributes(g, Op::kTransposeConv2d).stride[1] = 0; }, kArgument, "stride 0"},
      {"pool_pad_of_kernel_size", Op::kMaxPool2d, [](Graph& g) { attributes(g, Op::kMaxPool2d).pad[3] = 3; }, kArgument,
       "pad 3 must be smaller than the kernel of 3"},
      {"pool_kernel_0", Op::kMaxPool2d, [](Graph& g) { attributes(g, Op::kMaxPool2d).kernel[0] = 0; }, kArgument,
       "kernel 0"},
      {"pool_stride_0", Op::kAvgPool2d, [](Graph& g) { attributes(g, Op::kAvgPool2d).stride[1] = 0; }, kArgument,
       "stride 0"},
      {"pool_pad_negative", Op::kAvgPool2d, [](Graph& g) { attributes(g, Op::kAvgPool2d).pad[1] = -1; }, kArgument,
       "pad -1"},
      {"pool_window", Op::kMaxPool2d, [](Graph& g) { attributes(g, Op::kMaxPool2d).pad[3] = 0; }, kShape,
       "not a multiple"},
      {"pool_zero_point", Op::kAvgPool2d,
       [](Graph& g) {
         for (const size_t i : {0, 1, 2}) {
           input(g, Op::kAvgPool2d, i).type = DType::kInt16;
         }
         output(g, Op::kAvgPool2d, 0).type = DType::kInt16;
         set_constant(g, input(g, Op::kAvgPool2d, 1), {0});
         set_constant(g, input(g, Op::kAvgPool2d, 2), {1});
       },
       kArgument, "output_zp"},
      {"matmul_inner", Op::kMatMul, [](Graph& g) { input(g, Op::kMatMul, 1).shape[1] = 5; }, kShape, "do not fit"},
      {"matmul_batch", Op::kMatMul, [](Graph& g) { input(g, Op::kMatMul, 1).shape[0] = 1; }, kShape, "do not fit"},
      {"matmul_zero_point", Op::kMatMul,
       [](Graph& g) {
         for (const size_t i : {0, 1, 2, 3}) {
           input(g, Op::kMatMul, i).type = DType::kInt16;
         }
         output(g, Op::kMatMul, 0).type = DType::kInt48;
         set_constant(g, input(g, Op::kMatMul, 2), {0});
         set_constant(g, input(g, Op::kMatMul, 3), {7});
       },
       kArgument, "B_zp"},
      {"fft_power", Op::kFft2d,
       [](Graph& g) { input(g, Op::kFft2d, 0).shape[1] = input(g, Op::kFft2d, 1).shape[1] = 6; }, kShape,
       "height 6, which is not a power of two"},
      {"fft_shapes", Op::kFft2d, [](Graph& g) { input(g, Op::kFft2d, 1).shape[1] = 2; }, kShape, "same shape"},
      {"rfft_power", Op::kRfft2d, [](Graph& g) { input(g, Op::kRfft2d, 0).shape[2] = 7; }, kShape, "width 7"},
  };
  return kCases;
}

const std::vector<Spoilt>& elementwise_cases() {
  static const std::vector<Spoilt> kCases = {
      {"broadcast_rank", Op::kAdd, [](Graph& g) { input(g, Op::kAdd, 1).shape = {1}; }, kShape, "do not broadcast"},
      {"broadcast_size", Op::kAdd,
       [](Graph& g) {
         input(g, Op::kAdd, 1).shape = {2, 2};
       },
       kShape, "[2, 3] and input2 'y' [2, 2]"},
      {"select_shape", Op::kSelect,
       [](Graph& g) {
         input(g, Op::kSelect, 0).shape = {3, 1};
       },
       kShape, "do not broadcast"},
      {"same_shape", Op::kAbs,
       [](Graph& g) {
         input(g, Op::kAbs, 0).shape = {3, 2};
       },
       kShape, "must have [3, 2]"},
      {"mul_shift_length", Op::kMul,
       [](Graph& g) {
         input(g, Op::kMul, 2).shape = {2};
         set_constant(g, input(g, Op::kMul, 2), {0});
       },
       kShape, "shift"},
      {"clamp_order", Op::kClamp, [](Graph& g) { attributes(g, Op::kClamp).max_val = {0xf0}; }, kArgument,
       "max_val is smaller"},
      {"clamp_width", Op::kClamp,
       [](Graph& g) {
         attributes(g, Op::kClamp).max_val = {1, 0};
       },
       kArgument, "1 bytes"},
      {"clamp_nan", Op::kClamp,
       [](Graph& g) {
         input(g, Op::kClamp, 0).type = output(g, Op::kClamp, 0).type = DType::kFp16;
         attributes(g, Op::kClamp).min_val = {1, 0x7c};
         attributes(g, Op::kClamp).max_val = {0, 0x3c};
       },
       kArgument, "NaN"},
      {"clamp_float_order", Op::kClamp,
       [](Graph& g) {
         input(g, Op::kClamp, 0).type = output(g, Op::kClamp, 0).type = DType::kBf16;
         attributes(g, Op::kClamp).min_val = encode(DType::kBf16, 1, {1});
         attributes(g, Op::kClamp).max_val = encode(DType::kBf16, 1, {-1});
       },
       kArgument, "max_val is smaller"},
      {"table_length", Op::kTable,
       [](Graph& g) {
         input(g, Op::kTable, 1).shape = {255};
         set_constant(g, input(g, Op::kTable, 1), {0});
       },
       kShape, "must have [256]"},
      {"negate_zero_point", Op::kNegate,
       [](Graph& g) {
         for (const size_t i : {0, 1, 2}) {
           input(g, Op::kNegate, i).type = DType::kInt32;
         }
         output(g, Op::kNegate, 0).type = DType::kInt32;
         set_constant(g, input(g, Op::kNegate, 1), {1});
         set_constant(g, input(g, Op::kNegate, 2), {0});
       },
       kArgument, "must be 0 for INT32"},
      {"reduce_shape", Op::kReduceSum,
       [](Graph& g) {
         output(g, Op::kReduceSum, 0).shape = {2, 4};
       },
       kShape, "must have [2, 1, 4]"},
      {"rescale_multiplier_type", Op::kRescale, [](Graph& g) { attributes(g, Op::kRescale).scale32 = false; },
       kArgument, "DOUBLE_ROUND needs scale32"},
      {"rescale_multiplier_16", Op::kRescale,
       [](Graph& g) {
         attributes(g, Op::kRescale).scale32 = false;
         attributes(g, Op::kRescale).rounding_mode = RoundingMode::kSingleRound;
       },
       kType, "scale32 = false needs INT16"},
      {"rescale_rounding", Op::kRescale,
       [](Graph& g) { attributes(g, Op::kRescale).rounding_mode = RoundingMode::kUnknown; }, kArgument,
       "rounding_mode is not set"},
      {"rescale_channels", Op::kRescale, [](Graph& g) { attributes(g, Op::kRescale).per_channel = false; }, kShape,
       "must have [1]"},
      {"rescale_shift_length", Op::kRescale,
       [](Graph& g) {
         input(g, Op::kRescale, 2).shape = {2};
         set_constant(g, input(g, Op::kRescale, 2), {30});
       },
       kShape, "shift"},
      {"rescale_input_zero_point", Op::kRescale, [](Graph& g) { set_constant(g, input(g, Op::kRescale, 3), {1}); },
       kArgument, "input_zp"},
      {"rescale_unsigned_input", Op::kRescale, [](Graph& g) { attributes(g, Op::kRescale).input_unsigned = true; },
       kArgument, "input_unsigned"},
      {"rescale_unsigned_output", Op::kRescale, [](Graph& g) { attributes(g, Op::kRescale).output_unsigned = true; },
       kArgument, "output_unsigned"},
      {"rescale_both_unsigned", Op::kRescale,
       [](Graph& g) {
         attributes(g, Op::kRescale).input_unsigned = attributes(g, Op::kRescale).output_unsigned = true;
       },
       kArgument, "exclude each other"},
      {"rescale_int48_scale32", Op::kRescale,
       [](Graph& g) {
         input(g, Op::kRescale, 0).type = input(g, Op::kRescale, 3).type = DType::kInt48;
         set_constant(g, input(g, Op::kRescale, 3), {0});
       },
       kArgument, "scale32 is not allowed for INT48"},
      {"rescale_int16_zero_point", Op::kRescale,
       [](Graph& g) {
         output(g, Op::kRescale, 0).type = input(g, Op::kRescale, 4).type = DType::kInt16;
         set_constant(g, input(g, Op::kRescale, 4), {5});
       },
       kArgument, "must be 0 for signed INT16"},
      {"cast_types", Op::kCast, [](Graph& g) { output(g, Op::kCast, 0).type = DType::kInt48; }, kType, "INT48"},
  };
  return kCases;
}

const std::vector<Spoilt>& layout_cases() {
  static const std::vector<Spoilt> kCases = {
      {"concat_sizes", Op::kConcat, [](Graph& g) { input(g, Op::kConcat, 1).shape[0] = 3; }, kShape, "axis 1"},
      {"concat_ranks", Op::kConcat, [](Graph& g) { input(g, Op::kConcat, 1).shape = {2}; }, kShape, "differs"},
      {"pad_length", Op::kPad,
       [](Graph& g) {
         input(g, Op::kPad, 0).shape = {2, 3, 1};
       },
       kShape, "must have [6]"},
      {"pad_negative", Op::kPad,
       [](Graph& g) {
         set_constant(g, input(g, Op::kPad, 1), {1, 0, -1, 3});
       },
       kArgument, "padding -1"},
      {"pad_huge", Op::kPad,
       [](Graph& g) {
         set_constant(g, input(g, Op::kPad, 1), {1, 0, 1e18, 3});
       },
       kArgument, "out of range"},
      {"pad_value", Op::kPad,
       [](Graph& g) {
         input(g, Op::kPad, 2).shape = {2};
         set_constant(g, input(g, Op::kPad, 2), {0});
       },
       kShape, "one element"},
      {"pad_not_constant", Op::kPad,
       [](Graph& g) {
         input(g, Op::kPad, 1).has_data = false;
         input(g, Op::kPad, 1).data = {};
       },
       kData, "has no data"},
      {"reshape_elements", Op::kReshape,
       [](Graph& g) {
         set_constant(g, input(g, Op::kReshape, 1), {3, 1, 3});
       },
       kShape, "cannot take the shape [3, 1, 3]"},
      {"reshape_minus_1", Op::kReshape,
       [](Graph& g) {
         set_constant(g, input(g, Op::kReshape, 1), {3, -1, 2});
       },
       kShape, "-1"},
      {"slice_start", Op::kSlice,
       [](Graph& g) {
         set_constant(g, input(g, Op::kSlice, 1), {-1, 0});
       },
       kArgument, "start -1"},
      {"slice_end", Op::kSlice,
       [](Graph& g) {
         set_constant(g, input(g, Op::kSlice, 1), {3, 0});
       },
       kArgument, "leave the 4 elements"},
      {"slice_size_0", Op::kSlice,
       [](Graph& g) {
         set_constant(g, input(g, Op::kSlice, 2), {0, 5});
       },
       kArgument, "size 0"},
      {"slice_overflow", Op::kSlice,
       [](Graph& g) {
         set_constant(g, input(g, Op::kSlice, 2), {9e18, 5});
       },
       kArgument, "size 9"},
      {"slice_length", Op::kSlice,
       [](Graph& g) {
         input(g, Op::kSlice, 0).shape = {4, 5, 1};
       },
       kShape, "must have [3]"},
      {"tile_0", Op::kTile,
       [](Graph& g) {
         set_constant(g, input(g, Op::kTile, 1), {0, 2});
       },
       kArgument, "multiple 0"},
      {"tile_huge", Op::kTile,
       [](Graph& g) {
         set_constant(g, input(g, Op::kTile, 1), {1e18, 2});
       },
       kArgument, "out of range"},
      {"perms_repeated", Op::kTranspose,
       [](Graph& g) {
         attributes(g, Op::kTranspose).perms = {2, 0, 2};
       },
       kArgument, "2 does not fit"},
      {"perms_range", Op::kTranspose,
       [](Graph& g) {
         attributes(g, Op::kTranspose).perms = {3, 0, 1};
       },
       kArgument, "3 does not fit"},
      {"perms_negative", Op::kTranspose,
       [](Graph& g) {
         attributes(g, Op::kTranspose).perms = {-1, 0, 1};
       },
       kArgument, "-1 does not fit"},
      {"perms_count", Op::kTranspose,
       [](Graph& g) {
         attributes(g, Op::kTranspose).perms = {1, 0};
       },
       kArgument, "needs 3"},
      {"gather_batch", Op::kGather, [](Graph& g) { input(g, Op::kGather, 1).shape[0] = 1; }, kShape, "first dimension"},
      {"scatter_batch", Op::kScatter, [](Graph& g) { input(g, Op::kScatter, 1).shape[0] = 1; }, kShape, "do not fit"},
      {"scatter_channels", Op::kScatter, [](Graph& g) { input(g, Op::kScatter, 2).shape[2] = 1; }, kShape,
       "do not fit"},
      {"resize_mode", Op::kResize, [](Graph& g) { attributes(g, Op::kResize).resize_mode = ResizeMode::kUnknown; },
       kArgument, "mode is not set"},
      {"resize_type", Op::kResize, [](Graph& g) { attributes(g, Op::kResize).resize_mode = ResizeMode::kNearest; },
       kType, "NEAREST does not give INT32"},
      {"resize_scale_0", Op::kResize,
       [](Graph& g) {
         set_constant(g, input(g, Op::kResize, 1), {0, 2, 4, 2});
       },
       kArgument, "must be positive"},
      {"resize_scale_large", Op::kResize,
       [](Graph& g) {
         set_constant(g, input(g, Op::kResize, 1), {2049, 2, 4, 2});
       },
       kArgument, "at most 2048"},
      {"resize_scale_small", Op::kResize,
       [](Graph& g) {
         set_constant(g, input(g, Op::kResize, 1), {4, 64, 4, 2});
       },
       kArgument, "larger than 1/16"},
      {"resize_offset", Op::kResize,
       [](Graph& g) {
         set_constant(g, input(g, Op::kResize, 2), {-5, 0});
       },
       kArgument, "height: offset -5"},
      {"resize_border", Op::kResize,
       [](Graph& g) {
         set_constant(g, input(g, Op::kResize, 3), {1, 4});
       },
       kArgument, "width: border 4"},
      {"resize_multiple", Op::kResize,
       [](Graph& g) {
         set_constant(g, input(g, Op::kResize, 3), {2, 1});
       },
       kShape, "multiple of 2"},
      {"resize_too_large", Op::kResize,
       [](Graph& g) { input(g, Op::kResize, 0).shape[1] = output(g, Op::kResize, 0).shape[1] = 16384; }, kShape,
       "below 16384"},
  };
  return kCases;
}

const std::vector<Spoilt>& control_cases() {
  static const std::vector<Spoilt> kCases = {
      {"branch_missing", Op::kCondIf, [](Graph& g) { attributes(g, Op::kCondIf).then_graph = "nowhere"; }, kStructure,
       "then_graph names the region 'nowhere'"},
      {"branch_inputs", Op::kCondIf, [](Graph& g) { find(g, Op::kCondIf).inputs.pop_back(); }, kStructure,
       "has 1 inputs, but the operator has 0"},
      {"branch_type", Op::kCondIf, [](Graph& g) { input(g, Op::kCondIf, 1).type = DType::kFp32; }, kType, "FP32"},
      {"branch_shape", Op::kCondIf, [](Graph& g) { input(g, Op::kCondIf, 1).shape = {4}; }, kShape, "INT32[4]"},
      {"branch_outputs", Op::kCondIf, [](Graph& g) { g.regions[2].blocks[0].outputs.clear(); }, kStructure,
       "has 0 outputs"},
      {"condition_type", Op::kCondIf, [](Graph& g) { input(g, Op::kCondIf, 0).type = DType::kInt8; }, kType,
       "must be BOOL"},
      {"condition_size", Op::kCondIf, [](Graph& g) { input(g, Op::kCondIf, 0).shape = {2}; }, kShape, "one element"},
      {"loop_body_missing", Op::kWhileLoop, [](Graph& g) { attributes(g, Op::kWhileLoop).body_graph = ""; }, kStructure,
       "body_graph"},
      {"loop_flag", Op::kWhileLoop, [](Graph& g) { attributes(g, Op::kWhileLoop).cond_graph = "body"; }, kArgument,
       "must give one BOOL"},
      {"loop_result", Op::kWhileLoop, [](Graph& g) { output(g, Op::kWhileLoop, 0).shape = {1}; }, kShape,
       "must have []"},
      {"loop_in_itself", Op::kWhileLoop,
       [](Graph& g) {
         Block& body = g.regions[2].blocks[0];
         body.operators[1] = {Op::kWhileLoop, attributes(g, Op::kWhileLoop), {body.inputs[0]}, body.outputs, {}};
       },
       kStructure, "contains itself"},
      {"block_is_checked", Op::kWhileLoop, [](Graph& g) { g.regions[2].blocks[0].operators.clear(); }, kStructure,
       "of block 'body'"},
      {"variable_as_tensor", Op::kVariableRead, [](Graph& g) { find(g, Op::kVariableRead).op = Op::kIdentity; },
       kStructure, "read it with VARIABLE_READ"},
      {"variable_written_by_other", Op::kVariableWrite,
       [](Graph& g) { find(g, Op::kVariableWrite).op = Op::kIdentity; }, kStructure, "only VARIABLE_WRITE"},
      {"read_of_tensor", Op::kIdentity, [](Graph& g) { find(g, Op::kIdentity).op = Op::kVariableRead; }, kArgument,
       "'x' is not a variable"},
      {"write_of_tensor", Op::kIdentity, [](Graph& g) { find(g, Op::kIdentity).op = Op::kVariableWrite; }, kArgument,
       "is not a variable"},
      {"variable_type", Op::kVariableRead, [](Graph& g) { output(g, Op::kVariableRead, 0).type = DType::kInt16; },
       kType, "must have the same type"},
      {"variable_shape", Op::kVariableRead, [](Graph& g) { output(g, Op::kVariableRead, 0).shape = {3}; }, kShape,
       "must have [1, 3]"},
      {"variable_of_int48", Op::kVariableWrite,
       [](Graph& g) { input(g, Op::kVariableWrite, 0).type = output(g, Op::kVariableWrite, 0).type = DType::kInt48; },
       kType, "INT48"},
      {"variable_initial_value", Op::kVariableRead,
       [](Graph& g) { input(g, Op::kVariableRead, 0).data = input(g, Op::kVariableRead, 0).data.first(2); }, kData,
       "2 bytes"},
      {"variable_twice", Op::kVariableRead,
       [](Graph& g) {
         Tensor other = input(g, Op::kVariableRead, 0);
         other.name = "another";
         g.main().tensors.push_back(other);
       },
       ErrorCode::kVariableRedeclared, "'state'"},
      {"declared_twice", Op::kVariable,
       [](Graph& g) { g.main().operators.push_back(Operator(g.main().operators.front())); },
       ErrorCode::kVariableRedeclared, "declared twice"},
      {"declared_late", Op::kVariableWrite,
       [](Graph& g) {
         g.main().operators.push_back({Op::kVariable, {}, {}, find(g, Op::kVariableWrite).outputs, {}});
       },
       ErrorCode::kVariableUndeclared, "is written before this declaration"},
      {"declaration_mismatch", Op::kWhileLoop,
       [](Graph& g) {
         Tensor state;
         state.name = "v";
         state.type = DType::kInt8;
         state.shape = {1, 2};
         state.variable = true;
         g.main().tensors.push_back(state);
         state.shape = {2, 1};
         g.regions[2].blocks[0].tensors.push_back(state);
       },
       ErrorCode::kVariableMismatch, "INT8[1, 2] and as INT8[2, 1]"},
  };
  return kCases;
}

std::string case_name(const testing::TestParamInfo<Spoilt>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Structure, Illegal, testing::ValuesIn(structure_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Operands, Illegal, testing::ValuesIn(operand_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Tensor, Illegal, testing::ValuesIn(tensor_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Elementwise, Illegal, testing::ValuesIn(elementwise_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Layout, Illegal, testing::ValuesIn(layout_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Control, Illegal, testing::ValuesIn(control_cases()), case_name);

TEST(Validate, AcceptsEveryOperator) {
  for (const Op op : samples::all_operators()) {
    Graph graph = samples::of(op);
    EXPECT_NO_THROW(validate(graph)) << name(op);
    EXPECT_NO_THROW(static_cast<void>(find(graph, op))) << name(op);
  }
  EXPECT_NO_THROW(validate(samples::network()));
  EXPECT_NO_THROW(validate(samples::nested_control_flow()));
}

TEST(Validate, AcceptsAReadBeforeTheDeclaration) {
  GraphBuilder b;
  const TensorId state = b.variable("state", DType::kInt8, {1});
  b.output(b.read(state));
  b.declare(state);
  EXPECT_NO_THROW(validate(b.build()));
}

TEST(Validate, AcceptsUnsignedSixteenBitZeroPoints) {
  GraphBuilder b;
  Rescaling options;
  options.input_unsigned = true;
  options.input_zp = -32768;  // the bits of 32768
  b.output(b.rescale(b.input("x", DType::kInt16, {3}), DType::kInt8, options));
  EXPECT_NO_THROW(validate(b.build()));
}

TEST(Validate, AcceptsNegativeZeroAsZeroPoint) {
  GraphBuilder b;
  b.output(b.negate(b.input("x", DType::kFp16, {3}), -0.0, 0));
  EXPECT_NO_THROW(validate(b.build()));
}

TEST(Validate, AcceptsRunTimeZeroPoint) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {3});
  const TensorId zp = b.input("zp", DType::kInt8, {1});
  b.output(b.op(Op::kNegate, {x, zp, zp}));
  EXPECT_NO_THROW(validate(b.build()));
}

TEST(Validate, AcceptsAliases) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {1});
  const TensorId one = b.constant(DType::kInt32, {1}, {1});
  for (const TensorId id : {x, one, x, b.add(one, one)}) {
    b.output(id);
  }
  EXPECT_NO_THROW(validate(b.build()));
}

std::string numbered(const char* name, int number) {
  std::string text = name;
  text += std::to_string(number);
  return text;
}

TEST(Validate, RefusesDeepNestingWithoutDeepRecursion) {
  // Region k runs region k - 1 twice: reached over many ways, and too deep.
  constexpr int kDepth = 2000;
  GraphBuilder b;
  const auto add_level = [](GraphBuilder& region, int inner) {
    const TensorId x = region.input(numbered("x", inner), DType::kInt32, {1});
    Operator op;
    op.op = Op::kCondIf;
    op.attributes.then_graph = op.attributes.else_graph = numbered("r", inner);
    const TensorId flag = region.op(Op::kEqual, {x, x});
    const TensorId y = region.raw(Op::kCondIf, {flag, x}, op.attributes, DType::kInt32, {1});
    region.output(y);
  };
  GraphBuilder leaf("r0");
  const TensorId x = leaf.input("x", DType::kInt32, {1});
  leaf.output(leaf.add(x, x));
  add_level(b, kDepth - 1);
  b.add_region(leaf);
  for (int i = 1; i < kDepth; ++i) {
    GraphBuilder region(numbered("r", i));
    add_level(region, i - 1);
    b.add_region(region);
  }
  try {
    validate(b.build());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kStructure) << error.what();
    EXPECT_NE(std::string(error.what()).find("deeper than 256"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace npu::graph
