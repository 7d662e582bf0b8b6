// SPDX-License-Identifier: Apache-2.0
// A check of the check: what judges operators of random graphs reports each deliberate mistake.
#include "tests/system/graphs/operator_judge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "driver/graph/builder.h"
#include "driver/graph/float_format.h"
#include "hw/contract/error.h"
#include "sim/reference/reference.h"
#include "tests/system/graphs/mixed_graph.h"
#include "tests/system/graphs/operator_bounds.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::Op;
using graph::Value;
using testing::StartsWith;

// The last bit of an element; where the result is rounded, or no number, another kind of number.
void spoil(const graph::Operator& op, Value& value, int64_t element) {
  const auto width = static_cast<size_t>(graph::machine_width(value.type));
  uint8_t* at = &value.bytes[static_cast<size_t>(element) * width];
  const double number = number_at(value, element);
  const Bound bound = bound_of(op);
  const bool rounded = graph::float_format(value.type) && bound != Bound::kBits && bound != Bound::kNumber;
  if (!std::isnan(number) && !rounded) {
    at[0] ^= 1;
    return;
  }
  std::fill(at, at + width, std::isnan(number) ? 0 : 0x7f);
}

// The open form of a graph, as the reference computes it. Empty where it gives no result.
Values reference_values(const graph::Graph& graph, uint32_t seed) {
  const graph::Graph open = open_form(graph);
  const std::vector<Value> inputs = mixed_inputs(graph, seed, 1)[0];
  reference::Context context;
  try {
    return values_of(open, inputs, reference::run(open, inputs, context));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kRequireFailed) << error.what();
    return {};
  }
}

// Spoils a result of each operator in turn. Returns how many were judged.
int64_t judge_spoilt(const graph::Graph& graph, const Values& values, std::mt19937& random) {
  Judgements clean;
  EXPECT_EQ(OperatorJudge(graph, clean).judge(values), "");
  int64_t silent = 0, spoilt = 0;
  for (size_t i = 0; i < graph.main().operators.size(); ++i) {
    const graph::Operator& op = graph.main().operators[i];
    if (op.outputs.empty() || op.op == Op::kConst || values[op.outputs[0]].bytes.empty()) continue;
    if (op.op == Op::kVariableWrite || op.op == Op::kVariable) continue;
    Values wrong = values;
    Value& value = wrong[op.outputs[random() % op.outputs.size()]];
    spoil(op, value, static_cast<int64_t>(random() % graph::element_count(value.shape).value()));
    Judgements all;
    const std::string complaint = OperatorJudge(graph, all).judge(wrong);
    ++spoilt;
    if (complaint.empty()) {
      ++silent;
    } else {
      EXPECT_THAT(complaint, StartsWith(fmt::format("operator {}, ", i)));
    }
  }
  EXPECT_EQ(silent, clean.undefined) << "mistakes of operators whose results are defined were not reported";
  return spoilt - silent;
}

TEST(OperatorJudge, ReportsAMistakeInAnyOperator) {
  std::mt19937 random(1);
  int64_t judged = 0;
  for (uint32_t seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const graph::Graph graph = mixed_graph(seed);
    const Values values = reference_values(graph, seed);
    if (!values.empty()) judged += judge_spoilt(graph, values, random);
  }
  EXPECT_GT(judged, 500);
}

Value floats(DType type, const std::vector<double>& numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return {type, {count}, graph::encode(type, count, numbers)};
}

TEST(OperatorJudge, CountsUnitsOfWhatWasAdded) {
  const graph::Operator sum{Op::kReduceSum, {}, {}, {}, {}};
  const auto differing = [&](DType type, double got, double want, double magnitude) {
    const Value result = floats(type, {got}), expected = floats(type, {want}), terms = floats(type, {magnitude});
    return judge({sum, {floats(type, {1})}, result, expected, terms}).differing;
  };
  const double unit = std::ldexp(1.0, -21);  // of FP32, from 4 on
  EXPECT_EQ(differing(DType::kFp32, 1 + 4 * unit, 1, 4), 0);
  EXPECT_EQ(differing(DType::kFp32, 1 + 5 * unit, 1, 4), 1);
  EXPECT_EQ(differing(DType::kFp32, 1 + 4 * unit, 1, 2), 1);
  EXPECT_EQ(differing(DType::kFp16, 1 + std::ldexp(1.0, -10), 1, 1), 0);
  EXPECT_EQ(differing(DType::kFp16, 1 + std::ldexp(2.0, -10), 1, 1), 1);
  EXPECT_EQ(differing(DType::kFp32, INFINITY, 1, 4), 1);
  EXPECT_EQ(differing(DType::kFp32, INFINITY, 1, INFINITY), 0);  // a part of the sum may be infinite
  EXPECT_EQ(differing(DType::kFp32, NAN, INFINITY, 4), 1);
}

TEST(OperatorJudge, KnowsWhatVariablesHold) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", DType::kFp16, {1});
  const graph::TensorId state = b.variable("state", DType::kFp16, {1}, std::vector<double>{1});
  b.output(b.read(state));
  b.write(state, x);
  b.output(b.read(state));
  const graph::Graph graph = b.build(), open = open_form(graph);
  const auto values = [&](double input, double before, double after) {
    return values_of(open, {floats(DType::kFp16, {input})},
                     {floats(DType::kFp16, {before}), floats(DType::kFp16, {after})});
  };
  Judgements all;
  OperatorJudge judge(graph, all);
  EXPECT_EQ(judge.judge(values(2, 1, 2)), "");
  EXPECT_EQ(judge.judge(values(3, 2, 3)), "");
  EXPECT_EQ(judge.judge(values(4, 2, 4)), "operator 0, VARIABLE_READ: not what was written last");
}

}  // namespace
}  // namespace npu::test
