// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "driver/graph/float_format.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/report/table.h"
#include "sim/workload/float_check.h"

namespace npu::workload {
namespace {

// Position of an element in C order: "[0, 3, 17]".
std::string position(const graph::Shape& shape, int64_t element) {
  graph::Shape index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = element % shape[i];
    element /= shape[i];
  }
  return graph::to_string(index);
}

// An element as a number; one of floating point with its bits.
std::string element_text(const graph::Value& value, int64_t element) {
  const int64_t width = graph::machine_width(value.type);
  int64_t number = 0;
  std::memcpy(&number, value.bytes.data() + element * width, static_cast<size_t>(width));
  const auto unused = static_cast<int>(64 - 8 * width);
  if (const auto format = graph::float_format(value.type)) {
    return fmt::format("{:.9g} ({:#x})", decode(*format, static_cast<uint32_t>(number)), number);
  }
  return std::to_string(static_cast<int64_t>(static_cast<uint64_t>(number) << unused) >> unused);
}

}  // namespace

int64_t compare_output(const graph::Value& got, const graph::Value& want, report::CheckResult& result) {
  if (graph::float_format(want.type)) {
    const FloatDifference difference = compare_floats(got, want);
    result.compared += static_cast<uint64_t>(difference.compared);
    result.floats += static_cast<uint64_t>(difference.compared);
    result.differing += static_cast<uint64_t>(difference.differing);
    result.rounded += static_cast<uint64_t>(difference.rounded);
    result.far += static_cast<uint64_t>(difference.differing);
    result.nans += static_cast<uint64_t>(difference.nans);
    result.worst = std::max(result.worst, difference.worst);
    return difference.first;
  }
  const graph::Difference difference = graph::compare(got, want);
  result.compared += static_cast<uint64_t>(difference.compared);
  result.differing += static_cast<uint64_t>(difference.differing);
  return difference.first;
}

std::string float_line(const report::CheckResult& check) {
  if (check.floats == 0) return "";
  std::string text = fmt::format(
      "          floating point: {} of {} elements have other bits, {} of these are more than {} units in the last "
      "place of their output's largest number off (FP16 {}, BF16 {}, FP8 {}), the farthest {:.2g}",
      report::grouped(check.rounded + check.far), report::grouped(check.floats), report::grouped(check.far),
      most_units(graph::DType::kFp32), most_units(graph::DType::kFp16), most_units(graph::DType::kBf16),
      most_units(graph::DType::kFp8E4M3), check.worst);
  if (check.nans > 0) text += fmt::format("; {} are NaN on both sides", report::grouped(check.nans));
  return text + "\n";
}

Oracle::Oracle(const Network& network, bool zero_init, reference::Context start)
    : network_(network), context_(std::move(start)) {
  if (!zero_init) return;
  for (const graph::Tensor& tensor : network.graph.main().tensors) {
    if (!tensor.variable || tensor.has_data) continue;
    const int64_t bytes = graph::element_count(tensor.shape).value_or(0) * graph::machine_width(tensor.type);
    reference::VariableState state{{tensor.type, tensor.shape, std::vector<uint8_t>(static_cast<size_t>(bytes))}, true};
    context_.variables.emplace(graph::variable_identity(tensor), std::move(state));
  }
}

std::vector<graph::Value> Oracle::run(const Network& network, const std::vector<graph::Value>& inputs) {
  const int64_t invocation = invocation_++;
  try {
    return reference::run(network.graph, inputs, context_);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("reference, invocation {}: {}", invocation, error.what()));
  }
}

void Oracle::check(const Network& network, const std::vector<graph::Value>& inputs,
                   const std::vector<graph::Value>& outputs) {
  const int64_t invocation = invocation_;
  const std::vector<graph::Value> wanted = run(network, inputs);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t first = compare_output(outputs[i], wanted[i], result_);
    if (first < 0 || !result_.first.empty()) continue;
    result_.first = fmt::format("output {} at {} of invocation {}: device {}, reference {}",
                                graph::in_quotes(network.outputs[i].name), position(wanted[i].shape, first), invocation,
                                element_text(outputs[i], first), element_text(wanted[i], first));
  }
}

}  // namespace npu::workload
