// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/oracle.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

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

// An element as a number; floating point types, which no device computes yet, as their bits.
std::string element_text(const graph::Value& value, int64_t element) {
  const int64_t width = graph::machine_width(value.type);
  int64_t number = 0;
  std::memcpy(&number, value.bytes.data() + element * width, static_cast<size_t>(width));
  const auto unused = static_cast<int>(64 - 8 * width);
  switch (value.type) {
    case graph::DType::kFp32:
    case graph::DType::kFp16:
    case graph::DType::kBf16:
      return fmt::format("{:#x}", number);
    default:
      return std::to_string(static_cast<int64_t>(static_cast<uint64_t>(number) << unused) >> unused);
  }
}

}  // namespace

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
    const graph::Difference difference = graph::compare(outputs[i], wanted[i]);
    if (difference.differing > 0 && result_.first.empty()) {
      result_.first = fmt::format(
          "output {} at {} of invocation {}: device {}, reference {}", graph::in_quotes(network.outputs[i].name),
          position(wanted[i].shape, difference.first), invocation, element_text(outputs[i], difference.first),
          element_text(wanted[i], difference.first));
    }
    result_.compared += static_cast<uint64_t>(difference.compared);
    result_.differing += static_cast<uint64_t>(difference.differing);
  }
}

}  // namespace npu::workload
