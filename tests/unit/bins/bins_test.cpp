// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/bins/bins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "driver/graph/builder.h"
#include "tests/unit/bins/float_bins.h"
#include "tests/unit/bins/graph_bins.h"

namespace npu::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(Bins, CountWhatHoldsAndFailsTogether) {
  Bins bins("things", {"a", "b", "c"}, {});
  for (const uint64_t facts : {0b001, 0b011, 0b111, 0b011}) bins.add(facts);
  EXPECT_EQ(bins.count("a"), 4U);
  EXPECT_EQ(bins.count("a & b"), 3U);
  EXPECT_EQ(bins.count("a & !b"), 1U);
  EXPECT_EQ(bins.count("!c & b"), 2U);
  EXPECT_EQ(bins.count("!a"), 0U);
}

TEST(Bins, MissedAreListedPairedAndSingleOnes) {
  static constexpr std::string_view kListed[] = {"a & b & c"}, kPaired[] = {"a", "b"}, kNever[] = {"!a & !b"};
  Bins bins("things", {"a", "b", "c"}, {kListed, kPaired, kNever});
  bins.add(0b001);
  bins.add(0b010);
  EXPECT_THAT(bins.missed(), ElementsAre("things: a & b & c", "things: a & b", "things: c"));
  bins.add(0b111);
  EXPECT_THAT(bins.missed(), ElementsAre());
}

TEST(Bins, PrintTheListedOnesFirst) {
  static constexpr std::string_view kListed[] = {"a & b"};
  Bins bins("things", {"a", "b"}, {kListed, {}, {}});
  for (const uint64_t facts : {0b11, 0b11, 0b01}) bins.add(facts);
  std::ostringstream out;
  bins.print(out);
  EXPECT_THAT(out.str(), HasSubstr("things: 3 drawn, 4 of 5 bins hit\n  2  a & b\n  0  !a\n"));
}

TEST(Bins, AFactThatDoesNotExistIsAnError) {
  static constexpr std::string_view kListed[] = {"a & d"};
  EXPECT_THROW(Bins("things", {"a"}, {kListed, {}, {}}), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(Bins("things", {"a"}, {}).count("b")), std::invalid_argument);
}

// What nothing reads is not compiled, and what depends on constants alone is folded: neither shows anything of a
// device.
TEST(GraphBins, CountOnlyWhatADeviceRuns) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kInt32, {2, 1});
  const graph::TensorId c = b.constant(graph::DType::kInt32, {2, 1}, {3.0});
  b.output(b.add(x, x));
  b.output(b.sub(c, c));
  static_cast<void>(b.op(graph::Op::kAbs, {x}));
  GraphBins bins;
  bins.add(b.build());
  EXPECT_EQ(bins.count(graph::Op::kAdd), 1U);
  EXPECT_EQ(bins.count(graph::Op::kSub), 0U);
  EXPECT_EQ(bins.count(graph::Op::kAbs), 0U);
  EXPECT_EQ(bins.family(graph::Op::kAdd).count("outermost > 1 & !innermost > 1 & same twice"), 1U);
  EXPECT_THAT(bins.missed(), IsSupersetOf({"SUB", "CONV2D", "CONV2D: batch > 1 & stride y > 1 & one pixel & one tap"}));
}

TEST(FloatBins, CountOperatorsByTheirTypes) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kFp16, {1}), n = b.input("n", graph::DType::kInt32, {1});
  b.output(b.add(x, x));
  b.output(b.add(n, n));
  b.output(b.cast(x, graph::DType::kInt8));
  const graph::Graph graph = b.build();
  FloatBins bins;
  const size_t all = bins.missed().size();
  for (const graph::Operator& op : graph.main().operators) bins.add(graph, op);
  EXPECT_EQ(bins.count("ADD FP16"), 1U);
  EXPECT_EQ(bins.count("CAST input FP16, output INT8"), 1U);
  EXPECT_EQ(bins.missed().size(), all - 2);
  EXPECT_THAT(bins.missed(), IsSupersetOf({"ADD FP32", "COND_IF BF16", "CAST input INT8, output FP16"}));
}

}  // namespace
}  // namespace npu::test
