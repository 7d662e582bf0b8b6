// SPDX-License-Identifier: Apache-2.0
// What becomes one step, and what must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/compiler/lower.h"
#include "tests/unit/compiler/front_check.h"
#include "tests/unit/compiler/front_run.h"

namespace npu::compiler::testing {
namespace {

using graph::Convolution;
using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Rescaling;
using graph::TensorId;
using ::testing::ElementsAre;
using ::testing::SizeIs;

Rescaling to_int8(int64_t channels = 1, double output_zp = -3) {
  Rescaling how;
  how.multiplier.assign(static_cast<size_t>(channels), 1 << 30);
  how.shift.assign(static_cast<size_t>(channels), 37);
  how.per_channel = channels > 1;
  how.rounding = graph::RoundingMode::kDoubleRound;
  how.output_zp = output_zp;
  return how;
}

TensorId convolve(GraphBuilder& b, TensorId x, int64_t in, int64_t out, const Convolution& how = {}) {
  return b.conv2d(x, b.constant(DType::kInt8, {out, 1, 1, in}, {3.}), b.constant(DType::kInt32, {1}, {7.}), how);
}

TEST(Fusion, ConvolutionTakesRescaleAndClamps) {
  GraphBuilder b;
  TensorId x = b.rescale(convolve(b, b.input("x", DType::kInt8, {1, 5, 4, 8}), 8, 6), DType::kInt8, to_int8(6));
  x = b.clamp(b.clamp(x, -90, 50), -100, 40);
  b.output(x);
  const Module module = lowered(b.build());
  ASSERT_THAT(module.steps, SizeIs(1));
  const MxuStep& step = *steps_of<MxuStep>(module).at(0);
  EXPECT_EQ(step.rescale, contract::Rescale::kDouble32);
  EXPECT_EQ(step.params.header.clamp_min, -90);
  EXPECT_EQ(step.params.header.clamp_max, 40);
  EXPECT_EQ(step.params.header.output_zp, -3);
  ASSERT_THAT(step.params.entries, SizeIs(6));
  EXPECT_EQ(step.params.entries[5].bias, 7);  // one bias for all channels
  ASSERT_THAT(module.layers, SizeIs(1));
  EXPECT_EQ(module.layers[0].operators, "CONV2D+RESCALE+CLAMP+CLAMP");
  EXPECT_EQ(module.layers[0].macs, 5 * 4 * 6 * 8);
  EXPECT_EQ(module.layers[0].engine, contract::Engine::kMxu);
  compare_with_reference(b.build());
}

// The output stage keeps NaNs, whatever CLAMPs it has taken before.
TEST(Fusion, AClampThatIgnoresNansIsTheVpus) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp32, {1, 2, 2, 4});
  const TensorId sum = b.conv2d(x, b.constant(DType::kFp32, {3, 1, 1, 4}, {0.5}), b.constant(DType::kFp32, {1}, {1.}));
  graph::Attributes ignore;
  ignore.min_val = graph::encode(DType::kFp32, 1, {-5});
  ignore.max_val = graph::encode(DType::kFp32, 1, {5});
  ignore.nan_mode = graph::NanMode::kIgnore;
  b.output(b.op(Op::kClamp, {b.clamp(sum, -9, 9)}, ignore));
  contract::Capabilities machine = front_machine();
  machine.vpu_float = machine.mxu_fp32_cycles = 1;
  const Module module = lower(b.build(), machine);
  ASSERT_THAT(module.layers, SizeIs(2));
  EXPECT_EQ(module.layers[0].operators, "CONV2D+CLAMP");
  EXPECT_EQ(module.layers[1].operators, "CLAMP");
}

TEST(Fusion, FullyConnectedIsOneImageBetweenViews) {
  GraphBuilder b;
  const TensorId x = b.reshape(b.input("x", DType::kInt8, {6, 8}), {6, 1, 1, 8});
  b.output(b.clamp(b.reshape(b.rescale(convolve(b, x, 8, 4), DType::kInt8, to_int8(4)), {6, 4}), 0, 9));
  const Module module = lowered(b.build());
  ASSERT_THAT(module.steps, SizeIs(1));
  EXPECT_THAT(steps_of<MxuStep>(module).at(0)->src.dims, ElementsAre(1, 1, 6, 8));
  EXPECT_EQ(module.buffers[steps_of<MxuStep>(module)[0]->dst.buffer].kind, BufferKind::kOutput);
  compare_with_reference(b.build());
}

TEST(Fusion, ASecondReaderOfTheSumKeepsItUnscaled) {
  GraphBuilder b;
  const TensorId sum = convolve(b, b.input("x", DType::kInt8, {1, 2, 2, 3}), 3, 2);
  b.output(b.rescale(sum, DType::kInt8, to_int8()));
  b.output(sum);
  const Module module = lowered(b.build());
  ASSERT_THAT(steps_of<MxuStep>(module), SizeIs(1));
  EXPECT_EQ(steps_of<MxuStep>(module)[0]->rescale, contract::Rescale::kNone);
  EXPECT_THAT(steps_of<EwiseStep>(module), SizeIs(1));
  compare_with_reference(b.build());
}

TEST(Fusion, ResidualConnectionIsOneStep) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 4, 4, 3}), y = b.input("y", DType::kInt8, {1, 4, 4, 3});
  Rescaling wide;
  wide.shift = {10};
  const TensorId sum = b.add(b.rescale(x, DType::kInt32, wide),
                             b.rescale(b.rescale(y, DType::kInt32, wide), DType::kInt32, to_int8(1, 0)));
  b.output(b.clamp(b.rescale(sum, DType::kInt8, to_int8()), 0, 127));
  const Module module = lowered(b.build());
  ASSERT_THAT(module.steps, SizeIs(1));
  const EwiseStep& step = *steps_of<EwiseStep>(module)[0];
  EXPECT_THAT(step.dims, ElementsAre(48));
  EXPECT_LE(step.register_count, 2u);
  EXPECT_THAT(step.uops, SizeIs(8));  // CLAMP is in the last RESCALE's parameter block
  compare_with_reference(b.build());
}

// Two blocks of a residual network: between them the sum lives in 8 bits, though the next addition wants 32.
TEST(Fusion, ABranchWaitsAsNarrowAsItIsMade) {
  GraphBuilder b;
  const auto wide = [&](TensorId id) { return b.rescale(id, DType::kInt32, to_int8(1, 0)); };
  const auto residual = [&](TensorId x) {
    const TensorId made = b.rescale(convolve(b, x, 3, 3), DType::kInt8, to_int8());
    return b.clamp(b.rescale(b.add(wide(x), wide(made)), DType::kInt8, to_int8()), 0, 127);
  };
  b.output(residual(residual(b.input("x", DType::kInt8, {1, 4, 4, 3}))));
  const Module module = lowered(b.build());
  EXPECT_THAT(steps_of<EwiseStep>(module), SizeIs(2));
  EXPECT_THAT(module.steps, SizeIs(4));
  for (const Buffer& buffer : module.buffers) {
    EXPECT_EQ(buffer.kind == BufferKind::kIntermediate ? buffer.bytes : 48, 4u * 4 * 3);
  }
  compare_with_reference(b.build());
}

// With two readers behind the group, each would make the wide value again.
TEST(Fusion, AWideValueOfTwoReadersIsMadeOnce) {
  GraphBuilder b;
  const TensorId x = b.op(Op::kAbs, {b.input("x", DType::kInt32, {1, 4, 4, 3})});
  const TensorId narrow = b.rescale(x, DType::kInt8, to_int8());
  const TensorId wide = b.rescale(narrow, DType::kInt32);
  const TensorId sum = b.rescale(convolve(b, narrow, 3, 3), DType::kInt32, to_int8(1, 0));
  b.output(b.add(wide, sum));
  b.output(b.op(Op::kSub, {sum, wide}));
  const Module module = lowered(b.build());
  EXPECT_THAT(steps_of<EwiseStep>(module), SizeIs(2));
  compare_with_reference(b.build());
}

// A residual connection as converters make it: each side is shifted left, one of them is scaled.
struct Residuals {
  contract::Capabilities machine = front_machine();
  bool scales_value = false, both = false, second_use = false, depthwise = false;
  int32_t taps = 1, multiplier = 1;  // of a depthwise convolution, along each side
  graph::RoundingMode last = graph::RoundingMode::kDoubleRound;

  Residuals() {
    machine.mxu_residual = 1;
    machine.spm_bytes = 1 << 20;
  }

  static Rescaling scale(int32_t multiplier, int32_t shift, double input_zp = 0, double output_zp = 0) {
    Rescaling how = to_int8(1, output_zp);
    how.multiplier = {static_cast<double>(multiplier)};
    how.shift = {static_cast<double>(shift)};
    how.input_zp = input_zp;
    return how;
  }

  [[nodiscard]] graph::Graph graph() const {
    GraphBuilder b;
    const TensorId x = b.input("x", DType::kInt8, {2, 5, 4, 6}),
                   y = b.input("y", DType::kInt8, {2, 5, 4, 6 * multiplier});
    graph::Convolution same;
    same.pad.assign(4, taps / 2);
    const TensorId sums = depthwise ? b.depthwise_conv2d(x, b.constant(DType::kInt8, {taps, taps, 6, multiplier}, {3.}),
                                                         b.constant(DType::kInt32, {1}, {7.}), same)
                                    : convolve(b, x, 6, 6);
    const TensorId value = b.rescale(sums, DType::kInt8, scale(1 << 30, 34, 0, 5));
    TensorId left = b.rescale(value, DType::kInt32, scale(1 << 30, 11, 5)),
             right = b.rescale(y, DType::kInt32, scale(1 << 30, 10, -128));
    if (scales_value || both) left = b.rescale(left, DType::kInt32, scale(1319873913, 33));
    if (!scales_value || both) right = b.rescale(right, DType::kInt32, scale(1319873913, 32));
    const TensorId sum = scales_value ? b.add(left, right) : b.add(right, left);
    Rescaling down = scale(1738800762, 50, 0, -9);
    down.rounding = last;
    b.output(b.clamp(b.rescale(sum, DType::kInt8, down), -100, 90));
    if (second_use) b.output(value);
    return b.build();
  }
};

TEST(Fusion, ConvolutionTakesTheResidual) {
  for (const bool scales_value : {false, true}) {
    for (const bool depthwise : {false, true}) {
      Residuals made;
      made.scales_value = scales_value;
      made.depthwise = depthwise;
      const graph::Graph graph = made.graph();
      const Module module = lowered(graph, made.machine);
      ASSERT_THAT(module.steps, SizeIs(1));
      const MxuStep& step = *steps_of<MxuStep>(module).at(0);
      ASSERT_TRUE(step.residual);
      EXPECT_EQ(step.residual->scales,
                scales_value ? contract::Residual::kScaleValue : contract::Residual::kScaleOperand);
      EXPECT_EQ(step.residual->value_left, 19u);
      EXPECT_EQ(step.residual->residual_left, 20u);
      EXPECT_EQ(step.params.header.value_zp, 5);
      EXPECT_EQ(step.params.header.residual_zp, -128);
      EXPECT_EQ(step.params.header.residual_multiplier, 1319873913);
      EXPECT_EQ(step.params.header.sum_shift, 50);
      EXPECT_EQ(step.params.header.output_zp, -9);
      EXPECT_EQ(step.params.header.clamp_min, -100);
      EXPECT_EQ(compare_with_reference(graph, 3, 1, made.machine), 3);
    }
  }
}

// What the operand is made of is read before a write that the convolution's input waits for.
TEST(Fusion, AResidualFromBeforeAWriteStaysOnTheVpu) {
  Residuals made;
  GraphBuilder b;
  const graph::Shape shape = {1, 5, 4, 6};
  const TensorId state = b.variable("s", DType::kInt8, shape, std::vector<double>{3});
  const TensorId operand = b.rescale(b.read(state), DType::kInt32, Residuals::scale(1 << 30, 10, -128));
  b.write(state, b.input("second", DType::kInt8, shape));
  const TensorId value = b.rescale(convolve(b, b.read(state), 6, 6), DType::kInt8, Residuals::scale(1 << 30, 34, 0, 5));
  const TensorId sum = b.add(b.rescale(value, DType::kInt32, Residuals::scale(1 << 30, 11, 5)), operand);
  b.output(b.rescale(sum, DType::kInt8, Residuals::scale(1738800762, 50, 0, -9)));
  compare_with_reference(b.build(), 3, 1, made.machine);
}

TEST(Fusion, ResidualsThatTheOutputStageDoesNotHaveStayOnTheVpu) {
  Residuals both, second_use, rounding, large, many, without;
  both.both = true;
  second_use.second_use = true;
  rounding.last = graph::RoundingMode::kSingleRound;
  large.machine.spm_bytes = 32;
  // A window is small, but the channels of one input channel, which no tile can part, are not.
  many.depthwise = true;
  many.taps = 7;
  many.multiplier = 250;
  many.machine.spm_bytes = 16 << 10;
  without.machine.mxu_residual = 0;
  for (const Residuals* made : {&both, &second_use, &rounding, &large, &many, &without}) {
    const graph::Graph graph = made->graph();
    const Module module = lowered(graph, made->machine);
    ASSERT_THAT(steps_of<MxuStep>(module), SizeIs(1));
    EXPECT_FALSE(steps_of<MxuStep>(module)[0]->residual);
    EXPECT_THAT(steps_of<EwiseStep>(module), SizeIs(1));
    compare_with_reference(graph, 3, 1, made->machine);
  }
}

// A residual connection of floating point: a convolution, ADD and CLAMP.
struct FloatResiduals {
  contract::Capabilities machine = front_machine();
  DType type = DType::kFp16;
  bool depthwise = false, value_first = false;
  bool second_use = false, clamps_value = false, subtracts = false, ignores_nans = false, bias_at_run_time = false;
  graph::Shape added = {2, 5, 4, 6};
  bool constant = false, twice = false;  // what is added: known, the value itself

  FloatResiduals() {
    machine.mxu_residual = machine.vpu_float = 1;
    machine.mxu_fp8_cycles = machine.mxu_fp16_cycles = machine.mxu_bf16_cycles = machine.mxu_fp32_cycles = 1;
    machine.spm_bytes = 1 << 20;
  }

  [[nodiscard]] graph::Graph graph() const {
    GraphBuilder b;
    const DType result = type == DType::kFp8E4M3 ? DType::kFp16 : type;
    const TensorId x = b.input("x", type, {2, 5, 4, 6}),
                   y = constant ? b.constant(result, added, {2.}) : b.input("y", result, added);
    graph::Convolution how;
    how.acc_type = result == DType::kFp16 ? result : DType::kFp32;
    const TensorId bias = bias_at_run_time ? b.input("bias", result, {6}) : b.constant(result, {1}, {7.});
    TensorId value = depthwise ? b.depthwise_conv2d(x, b.constant(type, {1, 1, 6, 1}, {3.}), bias, how)
                               : b.conv2d(x, b.constant(type, {6, 1, 1, 6}, {3.}), bias, how);
    if (clamps_value) value = b.clamp(value, 0, 6);
    const TensorId other = twice ? value : y;
    const Op op = subtracts ? Op::kSub : Op::kAdd;
    const TensorId sum = value_first ? b.op(op, {value, other}) : b.op(op, {other, value});
    graph::Attributes limits;
    limits.min_val = graph::encode(result, 1, {-1});
    limits.max_val = graph::encode(result, 1, {6});
    limits.nan_mode = ignores_nans ? graph::NanMode::kIgnore : graph::NanMode::kPropagate;
    b.output(b.op(Op::kClamp, {sum}, limits));
    if (second_use) b.output(value);
    return b.build();
  }
};

TEST(Fusion, ConvolutionTakesTheResidualOfFloatingPoint) {
  for (const DType type : {DType::kFp16, DType::kBf16, DType::kFp32, DType::kFp8E4M3}) {
    for (const bool depthwise : {false, true}) {
      for (const bool value_first : {false, true}) {
        FloatResiduals made;
        made.type = type;
        made.depthwise = depthwise;
        made.value_first = value_first;
        const Module module = lower(made.graph(), made.machine);
        ASSERT_THAT(module.steps, SizeIs(1));
        const MxuStep& step = *steps_of<MxuStep>(module).at(0);
        ASSERT_TRUE(step.residual);
        EXPECT_EQ(step.residual->scales, contract::Residual::kFloating);
        EXPECT_EQ(step.residual->view.type, step.dst.type);
        EXPECT_EQ(step.residual->view.dims, step.dst.dims);
        EXPECT_EQ(module.buffers[step.residual->view.buffer].kind, BufferKind::kInput);
        EXPECT_EQ(step.params.header.clamp_min, INT32_MIN | 0x3f800000);  // -1
        EXPECT_EQ(step.params.header.clamp_max, 0x40c00000);              // 6
        EXPECT_EQ(module.layers[0].operators, depthwise ? "DEPTHWISE_CONV2D+ADD+CLAMP" : "CONV2D+ADD+CLAMP");
      }
    }
  }
}

TEST(Fusion, MatrixProductTakesTheResidualOfFloatingPoint) {
  FloatResiduals made;
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp16, {2, 5, 6}), w = b.input("w", DType::kFp16, {2, 6, 4});
  b.output(b.add(b.input("y", DType::kFp16, {2, 5, 4}), b.matmul(x, w, 0, 0, DType::kFp16)));
  const Module module = lower(b.build(), made.machine);
  ASSERT_THAT(module.steps, SizeIs(1));
  const MxuStep& step = *steps_of<MxuStep>(module).at(0);
  ASSERT_TRUE(step.residual);
  EXPECT_THAT(step.residual->view.dims, ElementsAre(2, 1, 5, 4));
  EXPECT_EQ(module.buffers[step.dst.buffer].kind, BufferKind::kOutput);
}

// As converters make a fully connected layer: what is added has the rank that the results get.
TEST(Fusion, AResidualIsAddedBehindAReshape) {
  FloatResiduals made;
  GraphBuilder b;
  const TensorId rows = b.input("x", DType::kFp16, {1, 6, 8});
  const TensorId sums = b.conv2d(b.reshape(rows, {6, 1, 1, 8}), b.constant(DType::kFp16, {8, 1, 1, 8}, {3.}),
                                 b.constant(DType::kFp16, {8}, std::vector<double>(8, 1)));
  b.output(b.clamp(b.add(rows, b.reshape(sums, {1, 6, 8})), 0, 9));
  const Module module = lower(b.build(), made.machine);
  ASSERT_THAT(module.steps, SizeIs(1));
  const MxuStep& step = *steps_of<MxuStep>(module).at(0);
  ASSERT_TRUE(step.residual);
  EXPECT_THAT(step.residual->view.dims, ElementsAre(1, 1, 6, 8));
  EXPECT_EQ(step.residual->view.buffer, step.src.buffer);
}

// The output stage keeps NaNs: a CLAMP that ignores them is the VPU's, behind an addition that is not.
TEST(Fusion, AClampThatIgnoresNansLeavesTheResidual) {
  FloatResiduals made;
  made.ignores_nans = true;
  const Module module = lower(made.graph(), made.machine);
  ASSERT_THAT(module.layers, SizeIs(2));
  EXPECT_EQ(module.layers[0].operators, "CONV2D+ADD");
  EXPECT_EQ(module.layers[1].operators, "CLAMP");
}

TEST(Fusion, FloatResidualsThatTheOutputStageDoesNotHaveStayOnTheVpu) {
  FloatResiduals second_use, clamps_value, subtracts, bias, broadcast, constant, twice, large, without;
  second_use.second_use = true;
  clamps_value.clamps_value = true;
  subtracts.subtracts = true;
  bias.bias_at_run_time = true;
  broadcast.added = {1, 1, 1, 6};
  constant.constant = true;
  twice.twice = true;
  large.machine.spm_bytes = 160;  // a tile takes 44 bytes
  without.machine.mxu_residual = 0;
  for (const FloatResiduals* made :
       {&second_use, &clamps_value, &subtracts, &bias, &broadcast, &constant, &twice, &large, &without}) {
    const Module module = lower(made->graph(), made->machine);
    ASSERT_THAT(steps_of<MxuStep>(module), SizeIs(1));
    EXPECT_FALSE(steps_of<MxuStep>(module)[0]->residual);
    EXPECT_GE(steps_of<EwiseStep>(module).size(), 1u);
  }
  // What just fits.
  FloatResiduals fits;
  fits.machine.spm_bytes = 176;
  EXPECT_TRUE(steps_of<MxuStep>(lower(fits.graph(), fits.machine)).at(0)->residual);
}

TEST(Fusion, EqualComputationsAreDoneOnce) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {9});
  b.output(b.mul(b.rescale(x, DType::kInt32, to_int8(1, 0)), b.rescale(x, DType::kInt32, to_int8(1, 0))));
  const Module module = lowered(b.build());
  ASSERT_THAT(module.steps, SizeIs(1));
  EXPECT_THAT(steps_of<EwiseStep>(module)[0]->uops, SizeIs(4));  // load, rescale, mul, store
}

TEST(Fusion, EqualConstantsTakeNoOperand) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {9});
  b.output(b.add(b.add(x, b.constant(DType::kInt32, {1}, {5.})), b.constant(DType::kInt32, {9}, {6.})));
  const Module module = lowered(b.build());
  ASSERT_THAT(module.steps, SizeIs(1));
  EXPECT_THAT(steps_of<EwiseStep>(module)[0]->operands, SizeIs(2));
  compare_with_reference(b.build());
}

// A table is no stream: it is in memory before the group of the TABLE runs, whatever shape it has.
TEST(Fusion, ATableComesFromOutsideOfTheGroup) {
  GraphBuilder b;
  const TensorId table = b.op(Op::kBitwiseNot, {b.input("t", DType::kInt8, {256})});
  b.output(b.op(Op::kTable, {b.op(Op::kBitwiseNot, {b.input("x", DType::kInt8, {256})}), table}));
  EXPECT_THAT(steps_of<EwiseStep>(lowered(b.build())), SizeIs(2));
  EXPECT_EQ(compare_with_reference(b.build()), 3);
}

// As softmax: the maximum needs all of x before the subtraction may begin.
TEST(Fusion, NoGroupReadsWhatDependsOnItself) {
  GraphBuilder b;
  const TensorId x = b.rescale(b.input("x", DType::kInt8, {4, 6}), DType::kInt32);
  const TensorId top = b.reduce(Op::kReduceMax, x, 1);
  b.output(b.op(Op::kAbs, {b.sub(x, top)}));
  const Module module = lowered(b.build());
  EXPECT_THAT(steps_of<EwiseStep>(module), SizeIs(2));
  EXPECT_THAT(steps_of<ReduceStep>(module), SizeIs(1));
  compare_with_reference(b.build());
}

TEST(Fusion, ATransposedResultIsReadFromMemory) {
  GraphBuilder b;
  const TensorId x = b.op(Op::kAbs, {b.input("x", DType::kInt32, {5, 5})});
  b.output(b.sub(x, b.transpose(x, {1, 0})));
  EXPECT_THAT(steps_of<EwiseStep>(lowered(b.build())), SizeIs(2));
  compare_with_reference(b.build());
}

TEST(Fusion, OneTensorAlongTwoAxesIsTwoOperands) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {4});
  b.output(b.sub(b.reshape(x, {4, 1}), b.reshape(x, {1, 4})));
  EXPECT_THAT(steps_of<EwiseStep>(lowered(b.build())).at(0)->operands, SizeIs(3));
  compare_with_reference(b.build());
}

TEST(Fusion, LongChainsAreCutAtTheLimitsOfACommand) {
  GraphBuilder b;
  TensorId x = b.input("x", DType::kInt32, {12});
  for (int i = 0; i < 100; ++i) {
    x = i % 3 == 0 ? b.add(x, b.input(std::string("y").append(std::to_string(i)), DType::kInt32, {12}))
                   : b.op(i % 3 == 1 ? Op::kAbs : Op::kBitwiseNot, {x});
  }
  b.output(x);
  const Module module = lowered(b.build());
  for (const EwiseStep* step : steps_of<EwiseStep>(module)) {
    EXPECT_LE(step->operands.size(), contract::kMaxOperands);
    EXPECT_LE(step->uops.size(), contract::kMaxUops);
    EXPECT_LE(step->register_count, 16u);
  }
  EXPECT_LE(steps_of<EwiseStep>(module).size(), 7u);
  compare_with_reference(b.build());
}

// Ten values that live until all of them are there.
graph::Graph wide_product() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {12});
  std::vector<TensorId> values = {x};
  while (values.size() < 10) values.push_back(b.op(Op::kBitwiseXor, {b.op(Op::kBitwiseNot, {values.back()}), x}));
  TensorId all = values.back();
  for (size_t i = values.size() - 1; i-- > 0;) all = b.op(Op::kMaximum, {all, values[i]});
  b.output(all);
  return b.build();
}

TEST(Fusion, ProgramsTakeTheRegistersThatTheMachineHas) {
  for (const uint32_t registers : {32u, 16u, 8u}) {
    SCOPED_TRACE(registers);
    const contract::Capabilities machine = front_machine(registers);
    const Module module = lowered(wide_product(), machine);
    for (const EwiseStep* step : steps_of<EwiseStep>(module)) EXPECT_LE(step->register_count, registers);
    EXPECT_EQ(module.steps.size() == 1, registers > 8);
    EXPECT_EQ(compare_with_reference(wide_product(), 3, 1, machine), 3);
  }
}

TEST(Fusion, BlocksOfAStepFitIntoTheTableMemory) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {2, 60});
  b.output(b.rescale(b.rescale(x, DType::kInt8, to_int8(60)), DType::kInt8, to_int8(60, 5)));
  // Each takes 32 + 60 * 16 bytes, 4 rows of 256.
  EXPECT_THAT(lowered(b.build(), front_machine(16, 2048)).steps, SizeIs(1));
  EXPECT_THAT(lowered(b.build(), front_machine(16, 1024)).steps, SizeIs(2));
  EXPECT_EQ(compare_with_reference(b.build(), 3, 1, front_machine(16, 1024)), 3);
}

TEST(Fusion, PerChannelRescaleKeepsItsChannels) {
  GraphBuilder b;
  b.output(b.rescale(b.input("x", DType::kInt32, {2, 7, 3}), DType::kInt8, to_int8(3)));
  const Module module = lowered(b.build());
  const EwiseStep& step = *steps_of<EwiseStep>(module).at(0);
  EXPECT_TRUE(step.innermost_fixed);
  EXPECT_THAT(step.dims, ElementsAre(14, 3));
}

}  // namespace
}  // namespace npu::compiler::testing
