// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/operator_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "driver/graph/float_format.h"
#include "hw/contract/error.h"
#include "sim/reference/reference.h"
#include "tests/system/graphs/operator_bounds.h"

namespace npu::test {
namespace {

using graph::Op;
using graph::TensorId;
using graph::Value;

// Of the numbers: what is none makes the sum one of its like, unless numbers overflow.
Value magnitude_of(Value value) {
  const auto format = graph::float_format(value.type);
  if (!format) return value;
  const auto width = static_cast<size_t>(format->bits() / 8);
  for (size_t i = 0; i < value.bytes.size() / width; ++i) {
    uint8_t* bytes = &value.bytes[i * width];
    bytes[width - 1] &= 0x7f;
    if (!std::isfinite(number_at(value, static_cast<int64_t>(i)))) std::fill_n(bytes, width, uint8_t{0});
  }
  return value;
}

// Every result of a Fourier transform has terms of all elements, as large as these.
void raise_to_largest(std::vector<Value>& magnitudes) {
  float largest = 0;
  for (const Value& value : magnitudes) {
    for (size_t i = 0; i < value.bytes.size(); i += sizeof(float)) {
      float number = 0;
      std::memcpy(&number, &value.bytes[i], sizeof(float));
      largest = std::max(largest, number);
    }
  }
  for (Value& value : magnitudes) {
    for (size_t i = 0; i < value.bytes.size(); i += sizeof(float)) {
      std::memcpy(&value.bytes[i], &largest, sizeof(float));
    }
  }
}

// Whether no order of multiplication leaves the range of numbers.
bool is_tame(const Value& value) {
  const int64_t count = graph::element_count(value.shape).value();
  for (int64_t i = 0; i < count; ++i) {
    const double magnitude = std::abs(number_at(value, i));
    if (magnitude != 0 && !(magnitude >= 1.0 / 64 && magnitude <= 64)) return false;
  }
  return true;
}

bool all_finite(const Value& value) {
  const int64_t count = graph::element_count(value.shape).value();
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(number_at(value, i))) return false;
  }
  return true;
}

// Where the device multiplies by zeros what the specification multiplies by other zeros, or does not look at: NaNs are
// elsewhere than the reference's where that is no number.
bool is_open(const graph::Operator& op, const std::vector<Value>& operands) {
  switch (op.op) {
    case Op::kFft2d:
    case Op::kRfft2d:
      return !std::ranges::all_of(operands, all_finite);
    case Op::kResize:
      return op.attributes.resize_mode == graph::ResizeMode::kBilinear && !all_finite(operands[0]);
    case Op::kTransposeConv2d:  // neighbouring columns are channels, with weights of zero for what they do not read
      return !all_finite(operands[0]);
    case Op::kConv3d:  // columns are padded in memory
      return !all_finite(operands[1]) && (op.attributes.pad[4] != 0 || op.attributes.pad[5] != 0);
    case Op::kReduceProduct:
      return !is_tame(operands[0]);
    default:
      return false;
  }
}

}  // namespace

OperatorJudge::OperatorJudge(const graph::Graph& graph, Judgements& judgements, int64_t lanes)
    : graph_(graph), all_(judgements), lanes_(lanes) {
  for (const graph::Tensor& tensor : graph.main().tensors) {
    if (tensor.variable) variables_[tensor.variable_name] = value_of_constant(tensor);
  }
}

std::string OperatorJudge::judge(const Values& values) {
  for (size_t i = 0; i < graph_.main().operators.size(); ++i) {
    const graph::Operator& op = graph_.main().operators[i];
    const std::string wrong = judge_operator(op, values);
    if (!wrong.empty()) return fmt::format("operator {}, {}: {}", i, name(op.op), wrong);
  }
  return {};
}

std::string OperatorJudge::judge_operator(const graph::Operator& op, const Values& values) {
  const auto identity = [&](TensorId id) { return graph_.main().tensors[id].variable_name; };
  switch (op.op) {
    case Op::kConst:
    case Op::kConstShape:
      return {};
    case Op::kVariable:
      break;
    case Op::kVariableWrite:
      variables_[identity(op.outputs[0])] = values[op.inputs[0]];
      break;
    case Op::kVariableRead:
      if (values[op.outputs[0]].bytes == variables_.at(identity(op.inputs[0])).bytes) break;
      return "not what was written last";
    default:
      return judge_results(op, values);
  }
  ++all_.operators;
  all_.bins.add(graph_, op);
  return {};
}

std::string OperatorJudge::judge_results(const graph::Operator& op, const Values& values) {
  std::vector<Value> operands;
  for (const TensorId id : operands_of(graph_, op)) operands.push_back(values[id]);
  if (is_open(op, operands)) return ++all_.undefined, std::string();
  const graph::Graph one = alone(graph_, op);
  std::vector<Value> want, magnitudes;
  try {
    reference::Context context;
    want = reference::run(one, operands, context);
    if (bound_of(op) == Bound::kSum) {
      std::ranges::transform(operands, operands.begin(), magnitude_of);
      magnitudes = reference::run(one, operands, context);
      if (op.op == Op::kFft2d || op.op == Op::kRfft2d) raise_to_largest(magnitudes);
    }
  } catch (const Error& error) {
    if (error.code() != contract::ErrorCode::kRequireFailed) throw;
    ++all_.undefined;
    return {};
  }
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string wrong = judge_result(op, i, values, want[i], magnitudes.empty() ? want[i] : magnitudes[i]);
    if (!wrong.empty()) return wrong;
  }
  ++all_.operators;
  all_.bins.add(graph_, op);
  return {};
}

std::string OperatorJudge::judge_result(const graph::Operator& op, size_t result, const Values& values,
                                        const Value& want, const Value& magnitudes) {
  std::vector<Value> operands;
  for (const TensorId id : op.inputs) {
    if (!values[id].bytes.empty()) operands.push_back(values[id]);
  }
  const Value& got = values[op.outputs[result]];
  const Verdict verdict = test::judge({op, operands, got, want, magnitudes, lanes_});
  all_.compared += verdict.compared, all_.rounded += verdict.rounded;
  if (graph::float_format(want.type)) {
    for (int64_t i = 0; i < verdict.compared; ++i) all_.finite += std::isfinite(number_at(want, i)) ? 1 : 0;
  }
  double& worst = all_.worst[fmt::format("{} {}", name(op.op), name(want.type))];
  worst = std::max(worst, verdict.worst);
  if (verdict.differing == 0) return {};
  return fmt::format("{} of {} elements of result {} differ, {} {} of {}: the first at {}, {} instead of {}",
                     verdict.differing, verdict.compared, result, name(want.type), graph::to_string(want.shape),
                     graph::to_string(operands.at(0).shape), verdict.first, number_at(got, verdict.first),
                     number_at(want, verdict.first));
}

}  // namespace npu::test
