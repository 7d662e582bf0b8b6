// SPDX-License-Identifier: Apache-2.0
// What `npu info` says of a network whose file leaves sizes open.
#include "sim/inspect/open_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "driver/graph/builder.h"
#include "hw/contract/error.h"

namespace npu::inspect {
namespace {

using graph::DType;
using graph::Op;
using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

workload::Network network_of(const graph::GraphBuilder& builder) {
  workload::Network network;
  network.path = "open.tosa";
  network.file = std::make_shared<const std::vector<uint8_t>>(3, uint8_t{1});
  network.file_bytes = network.file->size();
  network.graph = builder.build();
  network.was_open = true;
  for (const graph::TensorId id : network.graph.main().inputs) {
    const graph::Tensor& tensor = network.graph.main().tensors[id];
    network.inputs.push_back({tensor.name, tensor.type, tensor.shape, false});
  }
  network.outputs = {{"out", DType::kInt8, {-1, -1, -1, -1}, false}};
  return network;
}

// Of every second row, the largest; and a state of the same sizes.
graph::GraphBuilder halved(const graph::Shape& state) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {1, -1, 2, 4});
  graph::Attributes pool;
  pool.kernel = {3, 1};
  pool.stride = {2, 1};
  pool.pad = {0, 0, 0, 0};
  pool.nan_mode = graph::NanMode::kPropagate;
  const graph::TensorId half = b.raw(Op::kMaxPool2d, {x}, pool, DType::kInt8, {1, -1, 2, 4});
  b.rename(half, "half");
  b.output(b.raw(Op::kBitwiseNot, {half}, {}, DType::kInt8, {1, -1, 2, 4}), "out");
  if (!state.empty()) b.write(b.variable("s", DType::kInt8, state), half);
  return b;
}

TEST(OpenNetwork, SaysWhatIsOpenAndWhatMustHold) {
  const workload::Network network = network_of(halved({1, 0, 2, 4}));
  const OpenNetwork open = inspect_open_network(network);
  const std::string text = to_text(open, false);
  EXPECT_THAT(text, HasSubstr("inputs      'x'  INT8[1, x.1, 2, 4]\n"));
  EXPECT_THAT(text, HasSubstr("outputs     'out'  INT8[1, (x.1 - 1) / 2, 2, 4]\n"));
  EXPECT_THAT(text, HasSubstr("variables   's'  INT8[1, (x.1 - 1) / 2, 2, 4]\n"));
  EXPECT_THAT(text, HasSubstr("            s.1 = (x.1 - 1) / 2   operator 2 (VARIABLE_WRITE)\n"));
  EXPECT_THAT(text, HasSubstr("must hold   x.1 must be at least 3   operator 0 (MAX_POOL2D)\n"));
  EXPECT_THAT(text, HasSubstr("x.1 - 1 must be a multiple of 2 (stride)   operator 0 (MAX_POOL2D)\n"));
  EXPECT_THAT(text, HasSubstr("        1  MAX_POOL2D\n"));
  EXPECT_THAT(text, Not(HasSubstr("'half'")));
  EXPECT_THAT(to_text(open, true), ContainsRegex("'half' +main +INT8.1, .x.1 - 1. / 2, 2, 4.\n"));
  // An example that was tried.
  EXPECT_THAT(text, HasSubstr("npu resolve open.tosa --shape 's=1x1x2x4' --shape 'x=1x3x2x4' -o fixed.tosa"));
}

TEST(OpenNetwork, SaysTheSameInJson) {
  const workload::Network network = network_of(halved({1, 0, 2, 4}));
  const json document = json::parse(to_json_text(inspect_open_network(network)));
  EXPECT_EQ(document["schema"], "npu-info");
  EXPECT_EQ(document["inputs"][0]["shape"], (json{1, -1, 2, 4}));
  EXPECT_EQ(document["outputs"][0]["sizes"], (json{1, "(x.1 - 1) / 2", 2, 4}));
  const json& open = document["open_sizes"];
  EXPECT_EQ(open["level"], "8K");
  EXPECT_EQ(open["symbols"][0]["name"], "x.1");
  EXPECT_EQ(open["symbols"][0]["of"], "input");
  EXPECT_EQ(open["symbols"][0]["least"], 3);
  EXPECT_EQ(open["symbols"][1]["value"], "(x.1 - 1) / 2");
  EXPECT_EQ(open["symbols"][1]["demanded_by"]["name"], "VARIABLE_WRITE");
  EXPECT_EQ(open["must_hold"][0]["text"], "x.1 must be at least 3");
  EXPECT_EQ(open["example"]["x"], (json{1, 3, 2, 4}));
}

// x [?, ?] as rows of `size`.
graph::GraphBuilder rows_of(int64_t size) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, -1});
  b.output(b.raw(Op::kReshape, {x, b.shape({-1, size})}, {}, DType::kInt8, {-1, size}), "out");
  return b;
}

TEST(OpenNetwork, AnExampleOfSizesThatFewFulfil) {
  EXPECT_THAT(to_text(inspect_open_network(network_of(rows_of(11))), false),
              HasSubstr("npu resolve open.tosa --shape 'x=11x11' -o fixed.tosa"));
  EXPECT_THAT(to_text(inspect_open_network(network_of(rows_of(100))), false),
              HasSubstr("npu resolve open.tosa --shape 'x=10x10' -o fixed.tosa"));
  EXPECT_THAT(to_text(inspect_open_network(network_of(rows_of(1009))), false),
              HasSubstr("None of the sizes that were tried fit. Others may: npu resolve open.tosa --shape 'x=...' -o "
                        "fixed.tosa\n"));
}

TEST(OpenNetwork, SaysWhoGivesNoSizes) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1});
  graph::Attributes custom;
  custom.custom_operator = custom.custom_domain = "own";
  b.output(b.raw(Op::kCustom, {x}, custom, DType::kInt8, {-1}), "out");
  const workload::Network network = network_of(b);
  const std::string text = to_text(inspect_open_network(network), false);
  EXPECT_THAT(text, HasSubstr("out.0   from 1 to 2147483647, and follows from nothing\n"));
  EXPECT_THAT(text, HasSubstr("no sizes    operator 0 (CUSTOM"));
  EXPECT_THAT(text, HasSubstr("\nThe file has to give size out.0, which follows from nothing\n"));
}

TEST(OpenNetwork, AContradictionIsAnError) {
  const workload::Network network = network_of(halved({2, 0, 2, 4}));
  try {
    static_cast<void>(inspect_open_network(network));
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(contract::name(error.code()), "size_mismatch");
    EXPECT_THAT(error.what(), HasSubstr("'open.tosa': operator 2 (VARIABLE_WRITE"));
  }
}

TEST(OpenNetwork, WithoutALevelWhereNoSizesAreWithinIt) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kInt8, {-1, 1, 1, 1}),
                        large = b.input("w", DType::kInt8, {1, 1 << 30, 4, 1});
  b.output(b.raw(Op::kBitwiseXor, {x, large}, {}, DType::kInt8, {-1, 1 << 30, 4, 1}), "out");
  const workload::Network network = network_of(b);
  EXPECT_THAT(to_text(inspect_open_network(network), false), HasSubstr("level       none\n"));
}

}  // namespace
}  // namespace npu::inspect
