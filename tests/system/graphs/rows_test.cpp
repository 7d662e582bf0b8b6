// SPDX-License-Identifier: Apache-2.0
// GATHER and SCATTER on the device: tables beyond the scratchpad, of which only the chosen rows move; indices that
// choose none; state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "driver/compiler/compile.h"
#include "driver/graph/builder.h"
#include "hw/contract/error.h"
#include "sim/reference/reference.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Rows : public testing::TestWithParam<const char*> {
 protected:
  void expect_equal(GraphBuilder& b) {
    int64_t compared = 0;
    ASSERT_TRUE(equals_reference(b.build(), device_, random_, compared));
    EXPECT_GT(compared, 0);
  }

  // Of a run with inputs of zeros, but of the first INT32 one, which has `indices`.
  struct Ended {
    ErrorCode code = ErrorCode::kOk;
    std::string text;
    uint64_t dram_read = 0;
    int64_t differing = 0;
  };
  Ended run(const graph::Graph& graph, const std::vector<int32_t>& indices) {
    runtime::Context context = device_.create_context();
    runtime::LoadedProgram program = context.load(compiler::compile(graph, device_.capabilities()));
    runtime::Job job = program.create_job();
    std::vector<graph::Value> inputs;
    for (const TensorId id : graph.main().inputs) {
      const graph::Tensor& tensor = graph.main().tensors[id];
      inputs.push_back(compiler::testing::random_value(tensor.type, tensor.shape, random_));
      if (tensor.type == DType::kInt32) std::memcpy(inputs.back().bytes.data(), indices.data(), 4 * indices.size());
      job.set_input(inputs.size() - 1, inputs.back());
    }
    Ended ended;
    try {
      for (const contract::Event& event : job.run().events) ended.dram_read += event.dram_read;
      reference::Context state;
      const std::vector<graph::Value> want = reference::run(graph, inputs, state);
      ended.differing = graph::compare(job.outputs().at(0), want.at(0)).differing;
    } catch (const Error& error) {
      ended.code = error.code();
      ended.text = error.what();
      reference::Context state;
      EXPECT_THROW(static_cast<void>(reference::run(graph, inputs, state)), Error);
    }
    return ended;
  }

  std::mt19937 random_{11};
  runtime::Device device_ = open_graph_device(presets::load_preset(GetParam()));
};

// More bytes than the scratchpad has.
int64_t large_rows(const runtime::Device& device, int64_t row) {
  return 3 * int64_t{device.capabilities().spm_bytes} / row;
}

TEST_P(Rows, OfATableBeyondTheScratchpadOnlyThoseChosenMove) {
  constexpr int64_t kRow = 96, kIndices = 300;
  const int64_t choices = large_rows(device_, kRow);
  GraphBuilder b;
  const TensorId table = b.input("table", DType::kInt8, {1, choices, kRow});
  b.output(b.gather(table, b.input("index", DType::kInt32, {1, kIndices})));
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < kIndices; ++i) indices.push_back(static_cast<int32_t>(i * 7919 % choices));
  const Ended ended = run(b.build(), indices);
  EXPECT_EQ(ended.code, ErrorCode::kOk) << ended.text;
  EXPECT_EQ(ended.differing, 0);
  EXPECT_GE(ended.dram_read, static_cast<uint64_t>(kIndices * (kRow + 4)));
  EXPECT_LT(ended.dram_read, static_cast<uint64_t>(kIndices * (kRow + 4)) + 20'000);  // and the stream
}

// A constant table, and one row more than bytes fit into a command's buffer of indices.
TEST_P(Rows, OfAConstantTable) {
  const int64_t choices = large_rows(device_, 64);
  GraphBuilder b;
  const TensorId table = b.constant(DType::kInt16, {1, choices, 32}, {-7.});
  std::vector<int32_t> indices(257);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(choices - 1 - static_cast<int64_t>(i));
  b.output(b.gather(table, b.input("index", DType::kInt32, {1, 257})));
  const Ended ended = run(b.build(), indices);
  EXPECT_EQ(ended.code, ErrorCode::kOk) << ended.text;
  EXPECT_EQ(ended.differing, 0);
}

TEST_P(Rows, IntoATableBeyondTheScratchpad) {
  const int64_t choices = large_rows(device_, 64);
  GraphBuilder b;
  const TensorId table = b.input("table", DType::kInt8, {1, choices, 64});
  const TensorId index = b.input("index", DType::kInt32, {1, 40});
  b.output(b.scatter(table, index, b.input("rows", DType::kInt8, {1, 40, 64})));
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < 40; ++i) indices.push_back(static_cast<int32_t>((choices - 1 - 31 * i)));
  const Ended ended = run(b.build(), indices);
  EXPECT_EQ(ended.code, ErrorCode::kOk) << ended.text;
  EXPECT_EQ(ended.differing, 0);
}

TEST_P(Rows, AnIndexThatChoosesNoRowIsUnpredictable) {
  for (const bool scatters : {false, true}) {
    GraphBuilder b;
    const TensorId table = b.input("table", DType::kInt8, {2, 9, 5}), index = b.input("index", DType::kInt32, {2, 4});
    b.output(scatters ? b.scatter(table, index, b.input("rows", DType::kInt8, {2, 4, 5})) : b.gather(table, index));
    const graph::Graph graph = b.build();
    const std::string name = scatters ? "SCATTER" : "GATHER";
    for (const int32_t wrong : {-1, 9, INT32_MIN, INT32_MAX}) {
      const Ended ended = run(graph, {0, 8, 3, 4, 5, 6, wrong, 1});
      EXPECT_EQ(ended.code, ErrorCode::kIndexOutOfRange);
      EXPECT_EQ(contract::exit_status(ended.code), 1);
      EXPECT_THAT(ended.text, AllOf(HasSubstr("index " + std::to_string(wrong) + " of " + name), HasSubstr("0..8"),
                                    HasSubstr("region input"), HasSubstr("MAXIMUM and MINIMUM")));
    }
    EXPECT_EQ(run(graph, {0, 8, 3, 4, 5, 6, 7, 1}).differing, 0);  // the next job finds nothing of it
  }
}

// A cache whose rows are written one after the other, and read in another order.
TEST_P(Rows, OfState) {
  GraphBuilder b;
  const TensorId cache = b.variable("cache", DType::kInt8, {1, 12, 16}, std::vector<double>{3});
  b.declare(cache);
  const TensorId index = b.constant(DType::kInt32, {1, 2}, std::vector<double>{7, 2});
  const TensorId old = b.read(cache);
  b.output(b.gather(old, b.constant(DType::kInt32, {1, 3}, std::vector<double>{2, 11, 2})));
  const TensorId next = b.scatter(old, index, b.input("rows", DType::kInt8, {1, 2, 16}));
  b.write(cache, next);
  b.output(b.clamp(next, -100, 100));
  expect_equal(b);
}

// A new value that is all gathered: it may be made in the variable.
TEST_P(Rows, GatheredState) {
  GraphBuilder b;
  const TensorId cache = b.variable("cache", DType::kInt16, {1, 6, 8}, std::vector<double>{-2});
  b.declare(cache);
  b.output(b.read(cache));
  const TensorId index = b.constant(DType::kInt32, {1, 6}, std::vector<double>{5, 0, 0, 3, 1, 4});
  b.write(cache, b.gather(b.input("table", DType::kInt16, {1, 6, 8}), index));
  expect_equal(b);
}

// The new value is the old one in another order: reads of it come before all writes.
TEST_P(Rows, StateInAnotherOrder) {
  GraphBuilder b;
  const TensorId cache = b.variable("cache", DType::kInt8, {1, 6, 8}, std::vector<double>{1});
  b.declare(cache);
  const TensorId old = b.read(cache);
  const TensorId index = b.constant(DType::kInt32, {1, 6}, std::vector<double>{1, 2, 3, 4, 5, 0});
  const TensorId turned = b.gather(old, index);
  b.write(cache, b.op(graph::Op::kBitwiseXor, {turned, b.input("mask", DType::kInt8, {1, 6, 8})}));
  b.output(turned);
  expect_equal(b);
}

INSTANTIATE_TEST_SUITE_P(Machines, Rows, testing::Values("edge", "nano", "server"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace npu::test
