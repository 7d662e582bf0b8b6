// SPDX-License-Identifier: Apache-2.0
// Operands that come at run time (EXT-DYNAMIC) on the device: parameters of more channels than a tile holds against the
// reference, and values that their operators do not allow, which may give any result but no fault.
#include "sim/generator/run_time_operands.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "driver/compiler/compile.h"
#include "driver/graph/builder.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::test {
namespace {

using graph::Attributes;
using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;

class RunTimeOperands : public testing::TestWithParam<const char*> {
 protected:
  RunTimeOperands() : device_(open_graph_device(presets::load_preset(GetParam()))) {}

  // A network of what `make` adds, with the RESCALE of its channels.
  void expect_equal(const std::function<TensorId(GraphBuilder&)>& make) {
    GraphBuilder b;
    const TensorId sums = make(b);
    const int64_t channels = b.tensor(sums).shape.back();
    graph::Rescaling how{.multiplier = {}, .shift = {}, .output_zp = 3, .per_channel = true};
    for (int64_t c = 0; c < channels; ++c) {
      how.multiplier.push_back(static_cast<double>((1 << 30) + c * 12347));
      how.shift.push_back(static_cast<double>(38 + c % 3));
    }
    b.output(b.rescale(sums, DType::kInt8, how), "y");
    graph::Graph graph = b.build();
    cosim::Random all(1);
    EXPECT_GT(generator::make_run_time_operands(graph, all, 100), 0);
    std::mt19937 random(1);
    int64_t compared = 0;
    EXPECT_TRUE(equals_reference(graph, device_, random, compared));
    EXPECT_GT(compared, 0);
    device_.cold_reset();
  }

  runtime::Device device_;
};

std::vector<double> numbers_of(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 37 % 251 - 120));
  return values;
}

TensorId tensor_of(GraphBuilder& b, DType type, const graph::Shape& shape) {
  return b.constant(type, shape, numbers_of(*graph::element_count(shape)));
}

// Weights of 64 KiB and of 1 MiB and more: a scratchpad of nano and one of edge.
TEST_P(RunTimeOperands, ParametersOfMoreChannelsThanATileHas) {
  for (const int64_t channels : {int64_t{333}, int64_t{5001}}) {
    SCOPED_TRACE(channels);
    expect_equal([=](GraphBuilder& b) {
      const TensorId x = b.input("x", DType::kInt8, {1, 3, 4, 211});
      return b.conv2d(x, tensor_of(b, DType::kInt8, {channels, 1, 1, 211}), tensor_of(b, DType::kInt32, {channels}),
                      {.input_zp = 4, .weight_zp = -5});
    });
    expect_equal([=](GraphBuilder& b) {
      return b.matmul(b.input("a", DType::kInt8, {2, 3, 211}), b.input("b", DType::kInt8, {2, 211, channels}), 7, -3);
    });
    expect_equal([=](GraphBuilder& b) {
      const TensorId x = b.input("x", DType::kInt8, {1, 12, 11, channels});
      return b.depthwise_conv2d(x, tensor_of(b, DType::kInt8, {9, 8, channels, 3}),
                                tensor_of(b, DType::kInt32, {3 * channels}), {.pad = {1, 0, 2, 1}, .input_zp = -9});
    });
  }
}

// The reference refuses these. The device computes what it computes, and the job ends.
TEST_P(RunTimeOperands, ValuesThatAreNotAllowedEndTheJob) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 4, 5, 6}), wide = b.input("wide", DType::kInt32, {5, 6});
  const auto scalar = [&](const char* name, DType type) { return b.input(name, type, {1}); };
  const TensorId i8 = scalar("i8", DType::kInt8), i16 = scalar("i16", DType::kInt16),
                 i32 = scalar("i32", DType::kInt32);
  Attributes window;
  window.pad = {1, 0, 1, 0}, window.stride = {1, 1}, window.dilation = {1, 1}, window.acc_type = DType::kInt32;
  const TensorId sums = b.op(
      Op::kConv2d, {x, b.input("w", DType::kInt8, {4, 2, 2, 6}), b.input("bias", DType::kInt32, {4}), i8, i8}, window);
  b.output(sums);
  Attributes scale;
  scale.per_channel = true;
  for (const bool scale32 : {false, true}) {
    scale.scale32 = scale32;
    scale.rounding_mode = scale32 ? graph::RoundingMode::kDoubleRound : graph::RoundingMode::kSingleRound;
    const TensorId multiplier = b.input(scale32 ? "m32" : "m16", scale32 ? DType::kInt32 : DType::kInt16, {6});
    b.output(b.op(Op::kRescale, {wide, multiplier, b.input(scale32 ? "s32" : "s16", DType::kInt8, {6}), i32, i8}, scale,
                  DType::kInt8));
  }
  b.output(b.op(Op::kMul, {wide, wide, i8}));
  b.output(b.op(Op::kNegate, {wide, i32, i32}));
  Attributes pool;
  pool.kernel = {2, 2}, pool.stride = {1, 1}, pool.pad = {0, 0, 0, 0}, pool.acc_type = DType::kInt32;
  b.output(b.op(Op::kAvgPool2d, {b.input("image", DType::kInt16, {1, 3, 3, 2}), i16, i16}, pool));
  const graph::Graph graph = b.build();

  runtime::Context context = device_.create_context();
  runtime::LoadedProgram program = context.load(compiler::compile(graph, device_.capabilities()));
  runtime::Job job = program.create_job();
  std::mt19937 random(3);
  for (int run = 0; run < 20; ++run) {
    size_t index = 0;
    for (const TensorId id : graph.main().inputs) {
      const graph::Tensor& tensor = graph.main().tensors[id];
      job.set_input(index++, compiler::testing::random_value(tensor.type, tensor.shape, random, INT32_MAX));
    }
    EXPECT_NO_THROW(static_cast<void>(job.run()));
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RunTimeOperands, testing::Values("nano", "edge", "server"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace npu::test
