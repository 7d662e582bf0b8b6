// SPDX-License-Identifier: Apache-2.0
// Floating point that does not fit into the scratchpad: cut where nothing is rounded for it, else refused.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <limits>
#include <random>

#include "driver/compiler/compile.h"
#include "driver/graph/builder.h"
#include "driver/graph/float_format.h"
#include "hw/contract/error.h"
#include "sim/reference/reference.h"
#include "sim/workload/float_check.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/unit/errors/code_of.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::NanMode;
using graph::Op;
using graph::Value;

constexpr int64_t kRows = 40'000;  // 80 KB of FP16 and more, of 64 KB

// Numbers of which many are equal; a few NaNs, none in column 2.
Value rows_of(DType type, int64_t columns) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> number(-50, 50), one_in(0, 9'999);
  std::vector<double> numbers;
  for (int64_t i = 0; i < kRows * columns; ++i) {
    const bool nan = i % columns != 2 && one_in(random) == 0;
    numbers.push_back(nan ? std::numeric_limits<double>::quiet_NaN() : number(random) / 8.0);
  }
  return {type, {1, kRows, columns}, graph::encode(type, kRows * columns, numbers)};
}

graph::Graph reduction(Op op, DType type, int64_t columns, NanMode mode) {
  graph::GraphBuilder b;
  graph::Attributes attributes;
  attributes.axis = 1;
  attributes.nan_mode = mode;
  b.output(b.op(op, {b.input("x", type, {1, kRows, columns})}, attributes));
  return b.build();
}

std::vector<Value> run(const graph::Graph& graph, runtime::Device& device, const std::vector<Value>& inputs) {
  runtime::Context context = device.create_context();
  runtime::LoadedProgram program = context.load(compiler::compile(graph, device.capabilities()));
  runtime::Job job = program.create_job();
  for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
  static_cast<void>(job.run());
  return job.outputs();
}

TEST(FloatSplits, MaximaAreThoseOfTheirParts) {
  runtime::Device device = open_graph_device(small_float_machine());
  int64_t compared = 0;
  for (const Op op : {Op::kReduceMax, Op::kReduceMin, Op::kArgMax}) {
    for (const DType type : {DType::kFp32, DType::kFp16}) {
      for (const int64_t columns : {1, 3}) {
        for (const NanMode mode : {NanMode::kPropagate, NanMode::kIgnore}) {
          SCOPED_TRACE(::testing::Message() << graph::name(op) << " " << graph::name(type) << ", " << columns
                                            << " columns, NaN mode " << static_cast<int>(mode));
          const graph::Graph graph = reduction(op, type, columns, mode);
          const std::vector<Value> inputs = {rows_of(type, columns)};
          reference::Context state;
          const Value want = reference::run(graph, inputs, state)[0], got = run(graph, device, inputs)[0];
          compared += columns;
          if (op == Op::kArgMax) {
            EXPECT_EQ(graph::compare(got, want).differing, 0);
            continue;
          }
          const workload::FloatDifference difference = workload::compare_floats(got, want);
          EXPECT_EQ(difference.differing, 0);
          EXPECT_EQ(difference.worst, 0) << "a maximum is one of the numbers";
        }
      }
    }
  }
  std::cout << compared << " elements compared\n";
}

// Sums of parts would be rounded before they meet.
TEST(FloatSplits, SumsAreRefused) {
  const contract::Capabilities machine = small_float_machine().caps;
  for (const Op op : {Op::kReduceSum, Op::kReduceProduct}) {
    const graph::Graph graph = reduction(op, DType::kFp32, 1, NanMode::kUnknown);
    EXPECT_EQ(code_of([&] { static_cast<void>(compiler::compile(graph, machine)); }),
              contract::ErrorCode::kScratchpadFull);
  }
}

// A bias that comes at run time makes the parameters of all channels too large for a tile.
TEST(FloatSplits, ChannelsAreApart) {
  constexpr int64_t kChannels = 4'096;
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kFp32, {1, 1, 2, 8}), bias = b.input("bias", DType::kFp32, {kChannels});
  std::vector<double> weights;
  for (int64_t i = 0; i < 8 * kChannels; ++i) weights.push_back(static_cast<double>(i * 37 % 251 - 125) / 97);
  b.output(b.conv2d(x, b.constant(DType::kFp32, {kChannels, 1, 1, 8}, weights), bias));
  const graph::Graph graph = b.build();
  const auto numbers = [](const graph::Shape& shape) {
    const int64_t count = graph::element_count(shape).value();
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 53 % 101 - 50) / 16);
    return Value{DType::kFp32, shape, graph::encode(DType::kFp32, count, values)};
  };
  const std::vector<Value> inputs = {numbers({1, 1, 2, 8}), numbers({kChannels})};
  runtime::Device device = open_graph_device(small_float_machine());
  reference::Context state;
  const Value want = reference::run(graph, inputs, state)[0];
  const workload::FloatDifference difference = workload::compare_floats(run(graph, device, inputs)[0], want);
  EXPECT_EQ(difference.differing, 0);
  EXPECT_LE(difference.worst, 1) << "of sums of nine";
  std::cout << difference.compared << " elements compared\n";
}

}  // namespace
}  // namespace npu::test
