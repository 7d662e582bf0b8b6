// SPDX-License-Identifier: Apache-2.0
// Networks compute the same when operands that are constants come at run time.
#include "sim/generator/run_time_operands.h"

#include <gtest/gtest.h>

#include <utility>

#include "driver/graph/analyse.h"
#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "sim/reference/reference.h"

namespace npu::generator {
namespace {

TEST(RunTimeOperands, KeepTheirValues) {
  graph::GraphBuilder b;
  using graph::DType;
  const graph::TensorId x = b.input("x", DType::kInt8, {1, 2, 2, 2});
  const graph::TensorId sums =
      b.conv2d(x, b.constant(DType::kInt8, {3, 1, 1, 2}, {2.}), b.constant(DType::kInt32, {3}, {1., -2., 3.}),
               {.input_zp = 4, .weight_zp = -5});
  b.output(b.rescale(sums, DType::kInt8, {.shift = {32}, .output_zp = 7}));
  const graph::Graph known = b.build();
  const std::vector<graph::Value> inputs = {{DType::kInt8, {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 200}}};
  reference::Context context;
  const std::vector<graph::Value> want = reference::run(known, inputs, context);
  for (const auto& [percent, count] : {std::pair{0, 0}, std::pair{100, 7}}) {
    graph::Graph changed = known;
    cosim::Random random(1);
    // Bias, two zero points; multiplier, shift, two zero points.
    EXPECT_EQ(make_run_time_operands(changed, random, percent), count);
    graph::validate(changed);
    EXPECT_EQ(graph::analyse(changed).extensions.contains("EXT-DYNAMIC"), percent > 0);
    EXPECT_EQ(reference::run(changed, inputs, context).at(0).bytes, want.at(0).bytes);
  }
}

}  // namespace
}  // namespace npu::generator
