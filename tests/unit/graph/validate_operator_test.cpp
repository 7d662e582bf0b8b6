// SPDX-License-Identifier: Apache-2.0
// Rules of validate(): what single operators ask for.
#include "tests/unit/graph/validate_cases.h"

namespace npu::graph {
namespace {

using samples::input;
using samples::output;
using samples::set_constant;

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

INSTANTIATE_TEST_SUITE_P(Elementwise, Illegal, testing::ValuesIn(elementwise_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Layout, Illegal, testing::ValuesIn(layout_cases()), case_name);

}  // namespace
}  // namespace npu::graph
