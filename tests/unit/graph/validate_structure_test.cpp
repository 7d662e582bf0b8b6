// SPDX-License-Identifier: Apache-2.0
// Rules of validate(): regions, blocks, operands and tensors.
#include "tests/unit/graph/validate_cases.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;
using samples::find;
using samples::input;
using samples::output;
using samples::set_constant;

const std::vector<Spoilt>& structure_cases() {
  static const std::vector<Spoilt> kCases = {
      {"no_region", Op::kAdd, [](Graph& g) { g.regions.clear(); }, kStructure, "no region"},
      {"no_block", Op::kAdd, [](Graph& g) { g.regions[0].blocks.clear(); }, kStructure, "0 blocks"},
      {"two_blocks", Op::kAdd, [](Graph& g) { g.regions[0].blocks.push_back(g.main()); }, kStructure, "2 blocks"},
      {"region_twice", Op::kAdd, [](Graph& g) { g.regions.push_back(g.regions[0]); }, kStructure, "occurs twice"},
      {"tensor_twice", Op::kAdd, [](Graph& g) { g.main().tensors[1].name = "x"; }, kStructure, "'x'"},
      {"tensor_without_name", Op::kAdd, [](Graph& g) { g.main().tensors[1].name.clear(); }, kStructure, "is empty"},
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
      {"size_negative", Op::kAdd, [](Graph& g) { g.main().tensors[0].shape[1] = -2; }, kShape, "[2, -2]"},
      {"size_unknown", Op::kAdd, [](Graph& g) { g.main().tensors[0].shape[1] = -1; }, ErrorCode::kFeatureUnsupported,
       "[2, -1], of which a size is unknown (-1); it runs with fixed sizes only"},
      {"rank_beside_an_unknown_size", Op::kConv2d,
       [](Graph& g) {
         Shape& shape = input(g, Op::kConv2d, 0).shape;
         shape.push_back(-1);
       },
       kShape, "has rank 5, but must have 4"},
      {"rank_of_a_result_of_unknown_size", Op::kConv2d,
       [](Graph& g) {
         output(g, Op::kConv2d, 0).shape = {1, -1, 2};
       },
       kShape, "has rank 3, but must have 4"},
      {"type_beside_an_unknown_size", Op::kAdd,
       [](Graph& g) {
         g.main().tensors[0].shape[1] = -1;
         output(g, Op::kAdd, 0).type = DType::kBool;
       },
       kType, "they must have the same type"},
      {"size_impossible_beside_an_unknown_one", Op::kAdd,
       [](Graph& g) {
         g.main().tensors[0].shape = {-1, 0};
       },
       kShape, "[-1, 0]; each size must be at least 1"},
      {"size_of_a_variable_unknown", Op::kVariableRead, [](Graph& g) { input(g, Op::kVariableRead, 0).shape[0] = 0; },
       ErrorCode::kFeatureUnsupported, "of which a size is unknown (0)"},
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

INSTANTIATE_TEST_SUITE_P(Structure, Illegal, testing::ValuesIn(structure_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Operands, Illegal, testing::ValuesIn(operand_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Tensor, Illegal, testing::ValuesIn(tensor_cases()), case_name);

}  // namespace
}  // namespace npu::graph
