// SPDX-License-Identifier: Apache-2.0
// The limits of the levels: a graph just inside each one, and one above it.
#include "driver/graph/level.h"

#include <gtest/gtest.h>

#include <functional>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

struct Bound {
  const char* quantity;
  int64_t most;                                // of level 8K
  std::function<Graph(int64_t value)> graph;   // with the quantity at that value
  ErrorCode code = ErrorCode::kRequireFailed;  // above it
};

void PrintTo(const Bound& bound, std::ostream* stream) { *stream << bound.quantity; }

Graph pooled(int64_t kernel, int64_t stride, int64_t pad) {
  GraphBuilder b;
  const auto k = static_cast<int32_t>(kernel), s = static_cast<int32_t>(stride), p = static_cast<int32_t>(pad);
  b.output(b.max_pool2d(b.input("x", DType::kInt8, {1, 1, kernel - pad, 1}), {1, k}, {1, s}, {0, 0, p, 0}));
  return b.build();
}

Graph convolved(int64_t kernel, int32_t dilation) {
  GraphBuilder b;
  const int64_t width = (kernel - 1) * dilation + 1;
  b.output(b.conv2d(b.input("x", DType::kInt8, {1, 1, width, 1}), b.input("w", DType::kInt8, {1, 1, kernel, 1}),
                    b.constant(DType::kInt32, {1}, {0}), {.dilation = {1, dilation}}));
  return b.build();
}

Graph ranked(int64_t rank) {
  GraphBuilder b;
  b.output(b.op(Op::kAbs, {b.input("x", DType::kInt32, Shape(static_cast<size_t>(rank), 1))}));
  return b.build();
}

Graph enlarged(int64_t scale) {
  GraphBuilder b;
  b.output(b.resize(b.input("x", DType::kInt8, {1, 1, 1, 1}), ResizeMode::kNearest, {1, 1, scale, 1}, {0, 0}, {0, 0},
                    DType::kInt8));
  return b.build();
}

Graph joined(int64_t parts) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1});
  b.output(b.concat(std::vector<TensorId>(static_cast<size_t>(parts), x), 0));
  return b.build();
}

Graph sized(int64_t bytes) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt16, {1, 2});
  b.output(b.op(Op::kTile, {x, b.shape({bytes / 4, 1})}));
  return b.build();
}

// GCC 12 warns wrongly about adding to a literal.
std::string region_name(int64_t number) {
  std::string text = "r";
  text += std::to_string(number);
  return text;
}

// `depth` conditions, each inside the branches of the one before.
Graph nested(int64_t depth) {
  const auto fill = [](GraphBuilder& region, int64_t inner) {
    const TensorId flag = region.input("flag", DType::kBool, {});
    Attributes a;
    a.then_graph = a.else_graph = region_name(inner - 1);
    region.output(inner == 0 ? region.op(Op::kLogicalNot, {flag})
                             : region.raw(Op::kCondIf, {flag, flag}, a, DType::kBool, {}));
  };
  GraphBuilder main;
  fill(main, depth);
  for (int64_t i = 0; i < depth; ++i) {
    GraphBuilder region(region_name(i));
    fill(region, i);
    main.add_region(region);
  }
  return main.build();
}

const std::vector<Bound>& bounds() {
  static const std::vector<Bound> kBounds = {
      {"rank", 6, ranked, ErrorCode::kBadShape},
      {"kernel", 8192, [](int64_t value) { return pooled(value, 1, 0); }},
      {"stride", 8192, [](int64_t value) { return pooled(4, value, 0); }},
      {"kernel times dilation", 8192, [](int64_t value) { return convolved(value, 1); }},
      {"scale", 256, enlarged},
      {"number of inputs", 64, joined},
      {"size in bytes", (int64_t{1} << 31) - 1, [](int64_t value) { return sized(value + 3); }},
      {"nesting", 6, nested, ErrorCode::kBadStructure},
  };
  return kBounds;
}

class Levels : public testing::TestWithParam<Bound> {};

TEST_P(Levels, AllowTheBoundAndNoMore) {
  const Bound& bound = GetParam();
  const Graph fits = bound.graph(bound.most - (std::string(bound.quantity) == "size in bytes" ? 4 : 0));
  ASSERT_NO_THROW(validate(fits));
  EXPECT_NO_THROW(check_level(fits, Level::k8K));
  const Graph exceeds = bound.graph(bound.most + 1);
  ASSERT_NO_THROW(validate(exceeds)) << "legal at level none";
  EXPECT_TRUE(above(exceeds, Level::kNone).empty());
  try {
    check_level(exceeds, Level::k8K);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(contract::name(error.code()), contract::name(bound.code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(std::string("its ") + bound.quantity), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Bounds, Levels, testing::ValuesIn(bounds()));

TEST(Levels, DilationCounts) {
  EXPECT_TRUE(above(convolved(4, 2048), Level::k8K).empty());
  EXPECT_EQ(above(convolved(4, 2049), Level::k8K).size(), 1u);
}

TEST(Levels, NoneHasLimitsToo) {
  EXPECT_TRUE(above(joined(256), Level::kNone).empty());
  EXPECT_EQ(above(joined(257), Level::kNone).size(), 1u);
}

TEST(Levels, HaveNames) {
  EXPECT_EQ(level_from_name("8k"), Level::k8K);
  EXPECT_EQ(level_from_name("8K"), Level::k8K);
  EXPECT_EQ(level_from_name("none"), Level::kNone);
  EXPECT_EQ(level_from_name("4K"), std::nullopt);
}

}  // namespace
}  // namespace npu::graph
