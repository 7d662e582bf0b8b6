// SPDX-License-Identifier: Apache-2.0
// Operands that have to be constants without EXT-DYNAMIC, known at run time only: against the reference, and what the
// steps are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/compiler/support.h"
#include "sim/generator/run_time_operands.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::compiler::testing {
namespace {

using graph::DType;
using graph::Graph;
using graph::GraphBuilder;
using graph::Op;
using graph::Rescaling;
using graph::RoundingMode;
using graph::Shape;
using graph::TensorId;
using ::testing::SizeIs;

// The value of a constant, which the compiler does not know.
TensorId at_run_time(GraphBuilder& b, TensorId constant) { return b.op(Op::kBitwiseAnd, {constant, constant}); }
TensorId at_run_time(GraphBuilder& b, DType type, const Shape& shape, const std::vector<double>& values) {
  return at_run_time(b, b.constant(type, shape, values));
}

// All of the graph's operands that may be.
Graph all_at_run_time(const GraphBuilder& b) {
  Graph graph = b.build();
  cosim::Random random(1);
  EXPECT_GT(generator::make_run_time_operands(graph, random, 100), 0);
  return graph;
}

template <typename Make>
void check_at_run_time(Make make) {
  GraphBuilder b;
  b.output(make(b), "out");
  const Graph graph = all_at_run_time(b);
  for (const SupportRow& row : support(graph, contract::Capabilities{})) EXPECT_TRUE(row.ok) << row.reason;
  EXPECT_EQ(compare_with_reference(graph), 3);
}

std::vector<double> ramp_of(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 37 % 251 - 120));
  return values;
}

// Every shift, with products of all sizes that fit, of both signs, and those that lie half-way between two results.
TEST(RunTimeOperands, ShiftsOfProducts) {
  std::mt19937 random(7);
  const auto number = [&](int bits) {
    const int64_t magnitude = std::uniform_int_distribution<int64_t>(0, (int64_t{1} << bits) - 1)(random);
    return static_cast<double>(random() % 2 == 0 ? magnitude : -magnitude);
  };
  for (int shift = 0; shift <= 63; ++shift) {
    SCOPED_TRACE(shift);
    std::vector<double> left, right;
    for (int i = 0; i < 400; ++i) {
      const int bits = std::min(30 + shift, 62);
      const int first = std::uniform_int_distribution(std::max(0, bits - 31), std::min(31, bits))(random);
      if (i % 4 == 0) {  // odd multiples of one half
        const int low = std::clamp(shift - 1, 0, 62), one = std::min(low, 30), other = low - one;
        left.push_back(static_cast<double>(int64_t{1} << one) * (i % 8 == 0 ? 1 : -1));
        right.push_back(other > 30 ? -2147483648. : static_cast<double>(int64_t{1} << other));
      } else {
        left.push_back(number(first));
        right.push_back(number(bits - first));
      }
    }
    const auto count = static_cast<int64_t>(left.size());
    GraphBuilder b;
    const TensorId amount = at_run_time(b, DType::kInt8, {1}, {static_cast<double>(shift)});
    b.output(b.op(Op::kMul, {at_run_time(b, DType::kInt32, {count}, left),
                             at_run_time(b, DType::kInt32, {count}, right), amount}));
    EXPECT_EQ(compare_with_reference(b.build(), 1), 1);
    EXPECT_EQ(compare_with_reference(b.build(), 1, 1, front_machine(8)), 1);
  }
  for (const DType type : {DType::kInt8, DType::kInt16}) {
    check_at_run_time([=](GraphBuilder& b) { return b.mul(b.input("a", type, {3, 1}), b.input("b", type, {1, 5})); });
  }
}

TEST(RunTimeOperands, ZeroPointsOfNegate) {
  for (const double zero_point : {-128., -5., 0., 127.}) {
    check_at_run_time(
        [=](GraphBuilder& b) { return b.negate(b.input("a", DType::kInt8, {40}), zero_point, -zero_point - 1); });
    for (const bool input : {false, true}) {  // the other one is a constant
      GraphBuilder b;
      const TensorId known = b.constant(DType::kInt8, {1}, {zero_point}), late = at_run_time(b, known);
      b.output(b.op(Op::kNegate, {b.input("a", DType::kInt8, {2, 20}), input ? late : known, input ? known : late}));
      EXPECT_EQ(compare_with_reference(b.build()), 3);
    }
  }
  check_at_run_time([](GraphBuilder& b) { return b.negate(b.input("a", DType::kInt16, {40})); });
  check_at_run_time([](GraphBuilder& b) { return b.negate(b.input("a", DType::kInt32, {40})); });
}

TEST(RunTimeOperands, RescaleOfEveryKind) {
  struct Types {
    DType from, to;
    bool input_unsigned, output_unsigned, scale32;
  };
  const Types all[] = {
      {DType::kInt8, DType::kInt8, false, false, true},   {DType::kInt8, DType::kInt8, true, false, true},
      {DType::kInt8, DType::kInt8, false, true, true},    {DType::kInt8, DType::kInt16, false, true, true},
      {DType::kInt16, DType::kInt8, true, false, true},   {DType::kInt16, DType::kInt16, true, false, true},
      {DType::kInt8, DType::kInt32, false, false, true},  {DType::kInt32, DType::kInt16, false, false, true},
      {DType::kInt32, DType::kInt32, false, false, true}, {DType::kInt48, DType::kInt16, false, false, false},
      {DType::kInt16, DType::kInt32, false, false, false}};
  const auto zero_point = [](DType type, bool is_unsigned) {
    if (type == DType::kInt8) return -77.;  // 179 of an unsigned tensor
    return is_unsigned && type == DType::kInt16 ? -32768. : 0.;
  };
  for (const Types& t : all) {
    for (const bool per_channel : {false, true}) {
      for (const RoundingMode rounding :
           {RoundingMode::kSingleRound, RoundingMode::kDoubleRound, RoundingMode::kInexactRound}) {
        if (rounding == RoundingMode::kDoubleRound && !t.scale32) continue;
        Rescaling how{.multiplier = {}, .shift = {}};
        for (int c = 0; c < (per_channel ? 5 : 1); ++c) {
          how.multiplier.push_back(t.scale32 ? (1 << 30) + 99991 * c : (1 << 14) + 77 * c);
          how.shift.push_back((t.scale32 ? 31 : 15) + c % 3);
        }
        how.scale32 = t.scale32, how.rounding = rounding, how.per_channel = per_channel;
        how.input_unsigned = t.input_unsigned, how.output_unsigned = t.output_unsigned;
        how.input_zp = zero_point(t.from, t.input_unsigned), how.output_zp = zero_point(t.to, t.output_unsigned);
        check_at_run_time([&](GraphBuilder& b) { return b.rescale(b.input("x", t.from, {3, 4, 5}), t.to, how); });
      }
    }
  }
}

TEST(RunTimeOperands, Pooling) {
  check_at_run_time([](GraphBuilder& b) {
    return b.avg_pool2d(b.input("x", DType::kInt8, {2, 7, 6, 3}), {3, 2}, {2, 1}, {1, 1, 0, 1}, -9, 4);
  });
  check_at_run_time([](GraphBuilder& b) {
    return b.avg_pool2d(b.input("x", DType::kInt16, {1, 4, 4, 3}), {2, 2}, {1, 1}, {0, 0, 0, 0});
  });
}

TEST(RunTimeOperands, PaddingAndTables) {
  for (const DType type : {DType::kBool, DType::kInt8, DType::kInt16, DType::kInt32}) {
    check_at_run_time([=](GraphBuilder& b) { return b.pad(b.input("x", type, {3, 2, 4}), {1, 2, 0, 3, 2, 0}, 1); });
  }
  check_at_run_time([](GraphBuilder& b) { return b.table(b.input("a", DType::kInt8, {4, 8}), ramp_of(256)); });
  check_at_run_time([](GraphBuilder& b) { return b.table(b.input("a", DType::kInt16, {4, 8}), ramp_of(513)); });
}

TEST(RunTimeOperands, Products) {
  for (const bool rescaled : {false, true}) {
    const auto stage = [=](GraphBuilder& b, TensorId sums, int64_t channels) {
      if (!rescaled) return sums;
      Rescaling how{.multiplier = {}, .shift = {}, .output_zp = -7, .per_channel = true};
      for (int64_t c = 0; c < channels; ++c) {
        how.multiplier.push_back(static_cast<double>((1 << 30) + c * 1234567));
        how.shift.push_back(static_cast<double>(36 + c % 4));
      }
      return b.clamp(b.rescale(sums, DType::kInt8, how), -100, 90);
    };
    const auto weights = [](GraphBuilder& b, const Shape& shape) {
      return b.constant(DType::kInt8, shape, ramp_of(*graph::element_count(shape)));
    };
    const auto bias = [](GraphBuilder& b, int64_t channels) {
      return b.constant(DType::kInt32, {channels}, ramp_of(channels));
    };
    check_at_run_time([&](GraphBuilder& b) {
      const TensorId x = b.input("x", DType::kInt8, {2, 6, 5, 3});
      return stage(
          b, b.conv2d(x, weights(b, {4, 3, 2, 3}), bias(b, 4), {.pad = {1, 1, 0, 1}, .input_zp = 9, .weight_zp = -3}),
          4);
    });
    check_at_run_time([&](GraphBuilder& b) {
      const TensorId x = b.input("x", DType::kInt8, {1, 6, 5, 3});
      return stage(b, b.depthwise_conv2d(x, weights(b, {3, 2, 3, 2}), bias(b, 1), {.input_zp = -128, .weight_zp = 127}),
                   6);
    });
    check_at_run_time([&](GraphBuilder& b) {
      return stage(b, b.matmul(b.input("a", DType::kInt8, {2, 5, 7}), b.input("b", DType::kInt8, {2, 7, 4}), 3, -8), 4);
    });
    // Neighbours of a pixel have a copy of the block's entries each, or the bias alone.
    for (const std::vector<int32_t>& stride : {std::vector<int32_t>{2, 2}, {1, 3}, {5, 4}}) {
      check_at_run_time([&](GraphBuilder& b) {
        const TensorId x = b.input("x", DType::kInt8, {1, 4, 3, 3});
        return stage(b,
                     b.transpose_conv2d(x, weights(b, {2, 3, 3, 3}), bias(b, 2),
                                        {.pad = {0, 1, 1, 0}, .stride = stride, .input_zp = 5, .weight_zp = 2}),
                     2);
      });
    }
    check_at_run_time([&](GraphBuilder& b) {
      const TensorId x = b.input("x", DType::kInt8, {1, 4, 5, 6, 2});
      return stage(b,
                   b.conv3d(x, weights(b, {3, 2, 2, 3, 2}), bias(b, 3),
                            {.pad = {1, 0, 0, 1, 2, 1}, .stride = {1, 2, 1}, .dilation = {1, 1, 2}, .input_zp = 5}),
                   3);
    });
  }
}

// A bias of INT48 keeps its bits; all of the other operands come at run time, too.
TEST(RunTimeOperands, ProductsOfOtherTypes) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt16, {1, 4, 4, 2}), bias = b.input("bias", DType::kInt48, {3});
  const TensorId sums = b.op(Op::kConv2d,
                             {x, b.input("w", DType::kInt8, {3, 2, 2, 2}), bias,
                              at_run_time(b, DType::kInt16, {1}, {0}), at_run_time(b, DType::kInt8, {1}, {0})},
                             [] {
                               graph::Attributes how;
                               how.pad = {0, 0, 0, 0}, how.stride = {1, 1}, how.dilation = {1, 1};
                               how.acc_type = DType::kInt48;
                               return how;
                             }());
  b.output(sums);
  b.output(b.rescale(sums, DType::kInt16, {.multiplier = {1 << 14}, .shift = {16}, .scale32 = false}));
  EXPECT_EQ(compare_with_reference(all_at_run_time(b)), 3);
}

TEST(RunTimeOperands, OutputStageStaysWithItsOperator) {
  GraphBuilder b;
  const TensorId weights = b.constant(DType::kInt8, {6, 1, 1, 8}, {3.});
  const TensorId sums =
      b.conv2d(b.input("x", DType::kInt8, {1, 5, 4, 8}), weights, b.input("bias", DType::kInt32, {6}));
  b.output(b.clamp(b.rescale(sums, DType::kInt8, {.shift = {37}}), -90, 50));
  const Module module = lowered(b.build());
  const std::vector<const MxuStep*> steps = steps_of<MxuStep>(module);
  ASSERT_THAT(steps, SizeIs(1));
  ASSERT_TRUE(steps[0]->block.has_value());
  EXPECT_EQ(steps[0]->rescale, contract::Rescale::kSingle32);
  // What is known of the block comes in one copy, the bias in one step of the VPU.
  EXPECT_THAT(steps_of<CopyStep>(module), SizeIs(1));
  ASSERT_THAT(steps_of<EwiseStep>(module), SizeIs(1));
  EXPECT_THAT(steps_of<EwiseStep>(module)[0]->operands, SizeIs(2));
  EXPECT_THAT(module.steps, SizeIs(3));
  EXPECT_THAT(module.layers, SizeIs(1));
  EXPECT_EQ(compare_with_reference(b.build()), 3);
}

TEST(RunTimeOperands, EqualBlocksAreMadeOnce) {
  for (const bool equal : {false, true}) {
    GraphBuilder b;
    const TensorId x = b.input("x", DType::kInt32, {9}), y = b.input("y", DType::kInt32, {9});
    const TensorId zero = b.constant(DType::kInt32, {1}, {0.});
    const auto scale = [&](TensorId of, TensorId shift) {
      graph::Attributes how;
      how.scale32 = true;
      how.rounding_mode = RoundingMode::kSingleRound;
      return b.op(Op::kRescale, {of, b.constant(DType::kInt32, {1}, {1 << 30}), shift, zero, zero}, how, DType::kInt32);
    };
    const TensorId one = b.input("one", DType::kInt8, {1}), other = b.input("other", DType::kInt8, {1});
    b.output(b.mul(scale(x, one), scale(y, equal ? one : other)));
    const Module module = lowered(b.build());
    EXPECT_THAT(steps_of<CopyStep>(module), SizeIs(equal ? 1 : 2));
  }
}

// A tail of RESIZE is in many steps, and its block in memory once.
TEST(RunTimeOperands, TailOfAResize) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 5, 4, 3});
  const TensorId sums = b.resize(x, graph::ResizeMode::kBilinear, {4, 2, 4, 2}, {-1, -1}, {1, 1}, DType::kInt32);
  b.output(b.rescale(sums, DType::kInt8, {.shift = {35}}));
  const Graph graph = all_at_run_time(b);
  const Module module = lowered(graph);
  EXPECT_THAT(steps_of<CopyStep>(module), SizeIs(1));
  EXPECT_EQ(compare_with_reference(graph), 3);
}

// An operand of an element-wise operator that is not a stream is in memory before the group of the operator runs.
TEST(RunTimeOperands, ParametersComeFromOutsideOfTheGroup) {
  GraphBuilder b;
  const TensorId multiplier = b.clamp(b.input("m", DType::kInt16, {5}), 1 << 8, 1 << 14);
  const TensorId shift = b.clamp(b.input("s", DType::kInt8, {5}), 14, 30);
  graph::Attributes how;
  how.rounding_mode = RoundingMode::kSingleRound;
  how.per_channel = true;
  const TensorId x = b.op(Op::kBitwiseNot, {b.input("x", DType::kInt16, {5})});
  const auto zero = [&](DType type) { return b.constant(type, {1}, {0.}); };
  b.output(b.op(Op::kRescale, {x, multiplier, shift, zero(DType::kInt16), zero(DType::kInt8)}, how, DType::kInt8));
  EXPECT_EQ(compare_with_reference(b.build()), 3);
}

// A zero point that a loop changes.
TEST(RunTimeOperands, OfALoop) {
  GraphBuilder condition("condition"), body("body"), b;
  {
    const TensorId i = condition.input("i", DType::kInt32, {});
    static_cast<void>(condition.input("x", DType::kInt8, {6}));
    condition.output(condition.op(Op::kGreater, {condition.constant(DType::kInt32, {}, {4.}), i}));
  }
  {
    const TensorId i = body.input("i", DType::kInt32, {}), x = body.input("x", DType::kInt8, {6});
    const TensorId zero_point = body.reshape(body.cast(i, DType::kInt8), {1});
    body.output(body.add(i, body.constant(DType::kInt32, {}, {1.})));
    body.output(body.op(Op::kNegate, {x, zero_point, zero_point}));
  }
  const TensorId start = b.input("start", DType::kInt32, {}), x = b.input("x", DType::kInt8, {6});
  b.add_region(std::move(condition));
  b.add_region(std::move(body));
  const TensorId first = b.maximum(start, b.constant(DType::kInt32, {}, {-3.}));
  b.output(b.while_loop({first, x}, "condition", "body").at(1));
  EXPECT_EQ(compare_with_reference(b.build()), 3);
}

}  // namespace
}  // namespace npu::compiler::testing
