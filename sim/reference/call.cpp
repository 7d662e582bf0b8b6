// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/call.h"

#include <fmt/format.h>

#include "sim/reference/execution.h"

namespace npu::reference {

using contract::ErrorCode;

std::string Call::describe() const {
  std::string text{graph::name(op_.op)};
  if (!op_.outputs.empty()) {
    text += fmt::format(" '{}'", tensor(op_.outputs[0]).name);
  }
  if (!op_.location.empty()) {
    text += " at " + op_.location;
  }
  return text;
}

Execution& Call::execution() const {
  NPU_CHECK(execution_ != nullptr);
  return *execution_;
}

Variables& Call::variables() const { return execution().variables(); }

const graph::Value& Call::input(size_t index) const {
  if (index >= inputs_.size()) {
    fail(ErrorCode::kBadArgument, fmt::format("operand {} is missing", index));
  }
  NPU_CHECK(inputs_[index] != nullptr);
  return *inputs_[index];
}

graph::Value& Call::output(size_t index) const {
  if (index >= outputs_.size()) {
    fail(ErrorCode::kBadArgument, fmt::format("result {} is missing", index));
  }
  NPU_CHECK(outputs_[index] != nullptr);
  return *outputs_[index];
}

void Call::unsupported_types() const {
  std::string types;
  for (const graph::Value* value : inputs_) {
    if (value != nullptr && value->type != graph::DType::kShape) {
      types += fmt::format("{}{}", types.empty() ? "" : ", ", graph::name(value->type));
    }
  }
  std::string results;
  for (const graph::Value* value : outputs_) {
    results += fmt::format("{}{}", results.empty() ? "" : ", ", graph::name(value->type));
  }
  fail(ErrorCode::kTypeUnsupported,
       fmt::format("the reference has no {} of ({}) to {}", graph::name(op_.op), types, results));
}

void Call::fail(ErrorCode code, std::string_view what_is_wrong) const {
  throw Error(code, fmt::format("{}: {}", describe(), what_is_wrong));
}

}  // namespace npu::reference
