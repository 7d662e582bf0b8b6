// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/front_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "driver/compiler/lower.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "sim/reference/reference.h"

namespace npu::compiler::testing {

graph::Value random_value(graph::DType type, const graph::Shape& shape, std::mt19937& random, int64_t range) {
  const auto width = static_cast<size_t>(graph::machine_width(type));
  int64_t low = -range, high = range;
  if (type == graph::DType::kBool) low = 0, high = 1;
  if (type == graph::DType::kInt4) low = std::max<int64_t>(low, -8), high = std::min<int64_t>(high, 7);
  if (type == graph::DType::kInt8) low = std::max<int64_t>(low, INT8_MIN), high = std::min<int64_t>(high, INT8_MAX);
  std::uniform_int_distribution<int64_t> any(low, high);
  std::uniform_int_distribution<int> corner(0, 15);
  graph::Value value{type, shape, {}};
  const int64_t count = graph::element_count(shape).value();
  value.bytes.resize(static_cast<size_t>(count) * width);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const int kind = corner(random);
    const int64_t number = kind == 0 ? low : kind == 1 ? high : any(random);
    std::memcpy(value.bytes.data() + i * width, &number, width);
  }
  return value;
}

int compare_with_reference(const graph::Graph& graph, int invocations, uint32_t seed,
                           const contract::Capabilities& machine) {
  graph::validate(graph);
  FrontRun device(graph, machine);
  reference::Context context;
  std::mt19937 random(seed);
  for (int i = 0; i < invocations; ++i) {
    std::vector<graph::Value> inputs, want;
    for (const Port& port : device.module().inputs) inputs.push_back(random_value(port.type, port.shape, random));
    try {
      want = reference::run(graph, inputs, context);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), contract::ErrorCode::kRequireFailed) << error.what();
      return i;
    }
    const std::vector<graph::Value> got = device.run(inputs);
    EXPECT_EQ(got.size(), want.size());
    for (size_t k = 0; k < std::min(got.size(), want.size()); ++k) {
      const graph::Difference difference = graph::compare(got[k], want[k]);
      EXPECT_EQ(difference.differing, 0) << "output " << k << ", first at " << difference.first << ", invocation " << i;
    }
  }
  return invocations;
}

Module lowered(const graph::Graph& graph, const contract::Capabilities& machine) {
  graph::validate(graph);
  return lower(graph, machine);
}

}  // namespace npu::compiler::testing
