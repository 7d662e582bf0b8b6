// SPDX-License-Identifier: Apache-2.0
// Products of formats that a machine's MXU lacks, in FP32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/compiler/lower.h"
#include "driver/compiler/promote.h"
#include "driver/compiler/support.h"
#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "tests/unit/compiler/front_run.h"

namespace npu::compiler {
namespace {

using contract::Capabilities;
using contract::ErrorCode;
using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Capabilities machine_with_fp32() {
  Capabilities caps = testing::front_machine();
  caps.vpu_float = 1;
  caps.mxu_fp32_cycles = 4;
  return caps;
}

// A convolution of FP16 with constants, and a product of its result with itself, cast to BF16.
graph::Graph half_network() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp16, {1, 4, 4, 2});
  const TensorId weights = b.constant(DType::kFp16, {3, 1, 1, 2}, {0.5});
  const TensorId y = b.conv2d(x, weights, b.constant(DType::kFp16, {3}, {1.}));
  const TensorId rows = b.cast(b.cast(b.reshape(y, {1, 16, 3}), DType::kFp32), DType::kBf16);
  b.output(b.matmul(rows, b.transpose(rows, {0, 2, 1})));
  return b.build();
}

TEST(Promotion, NamesWhatTheMxuLacks) {
  const graph::Graph graph = half_network();
  const std::vector<Promotion> found = promotions(graph, machine_with_fp32());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(in_words(found), "1 CONV2D of FP16, 1 MATMUL of BF16 in FP32");

  Capabilities halves = machine_with_fp32();
  halves.mxu_fp16_cycles = 1;
  EXPECT_EQ(in_words(promotions(graph, halves)), "1 MATMUL of BF16 in FP32");
}

TEST(Promotion, NeedsFp32AndCasts) {
  Capabilities no_casts = machine_with_fp32(), no_fp32 = machine_with_fp32();
  no_casts.vpu_float = 0;
  no_fp32.mxu_fp32_cycles = 0;
  EXPECT_THAT(promotions(half_network(), no_casts), IsEmpty());
  EXPECT_THAT(promotions(half_network(), no_fp32), IsEmpty());
}

TEST(Promotion, MakesAGraphThatIsLegalAndRuns) {
  const Capabilities machine = machine_with_fp32();
  const graph::Graph wide = promote(half_network(), machine);
  EXPECT_NO_THROW(graph::validate(wide));
  EXPECT_THAT(promotions(wide, machine), IsEmpty());
  EXPECT_NO_THROW(static_cast<void>(lower(wide, machine)));
}

TEST(Promotion, CastsConstantsWhenCompiling) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp16, {1, 4, 4, 2});
  const TensorId weights = b.constant(DType::kFp16, {3, 1, 1, 2}, {0.5});
  b.output(b.conv2d(x, weights, b.constant(DType::kFp16, {3}, {1.})));
  const Capabilities machine = machine_with_fp32();
  size_t casts_that_run = 0;
  for (const SupportRow& row : support(promote(b.build(), machine), machine)) {
    if (row.name == "CAST" && row.engine != "folded") ++casts_that_run;
  }
  EXPECT_EQ(casts_that_run, 2u);  // of the input and the result
}

TEST(Promotion, IsAWayOutOfARefusal) {
  const auto rows = support(half_network(), machine_with_fp32());
  const auto refused = std::find_if(rows.begin(), rows.end(), [](const SupportRow& row) { return !row.ok; });
  ASSERT_NE(refused, rows.end());
  EXPECT_THAT(refused->way_out, HasSubstr("--promote fp32"));
}

}  // namespace
}  // namespace npu::compiler
