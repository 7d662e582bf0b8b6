// SPDX-License-Identifier: Apache-2.0
// COND_IF, WHILE_LOOP and CUSTOM: operators whose work is done by others.
#include <fmt/format.h>

#include "driver/graph/text.h"
#include "sim/reference/execution.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;
using graph::Value;

std::vector<const Value*> operands_from(const Call& call, size_t first) {
  std::vector<const Value*> operands;
  for (size_t i = first; i < call.input_count(); ++i) {
    operands.push_back(&call.input(i));
  }
  return operands;
}

bool is_true(const Call& call, const Value& flag) {
  call.error_if(flag.type != graph::DType::kBool || flag.bytes.size() != 1, ErrorCode::kBadShape,
                "its condition is not one BOOL");
  return flag.bytes[0] != 0;
}

// A validated graph gives as many results of the same types and shapes.
void set_result(const Call& call, size_t index, Value value) {
  Value& result = call.output(index);
  call.error_if(value.type != result.type || value.shape != result.shape, ErrorCode::kBadShape,
                "a region's result has another type or shape than the operator's");
  result.bytes = std::move(value.bytes);
}

}  // namespace

void cond_if(Call& call) {
  call.execution().count_iteration(call);  // branches of branches can be exponentially many
  const graph::Attributes& a = call.attributes();
  const std::string& region = is_true(call, call.input(0)) ? a.then_graph : a.else_graph;
  auto results = call.execution().run_region(call, region, operands_from(call, 1));
  for (size_t i = 0; i < results.size(); ++i) {
    set_result(call, i, std::move(results[i]));
  }
}

void while_loop(Call& call) {
  const graph::Attributes& a = call.attributes();
  std::vector<Value> values;
  std::vector<const Value*> list = operands_from(call, 0);
  const auto goes_on = [&] {
    const auto flags = call.execution().run_region(call, a.cond_graph, list);
    call.error_if(flags.size() != 1, ErrorCode::kBadStructure, "its condition has not one result");
    return is_true(call, flags[0]);
  };
  while (goes_on()) {
    call.execution().count_iteration(call);
    values = call.execution().run_region(call, a.body_graph, list);
    list.clear();
    for (const Value& value : values) {
      list.push_back(&value);
    }
  }
  for (size_t i = 0; i < list.size(); ++i) {
    set_result(call, i, *list[i]);
  }
}

void custom(Call& call) {
  const graph::Attributes& a = call.attributes();
  const CustomOperators* operators = call.execution().options().custom;
  const CustomFunction* function = operators == nullptr ? nullptr : operators->find(a.custom_domain, a.custom_operator);
  if (function == nullptr) {
    call.fail(ErrorCode::kOperatorUnsupported,
              fmt::format("no function is registered for the custom operator {} of {}",
                          graph::in_quotes(a.custom_operator), graph::in_quotes(a.custom_domain)));
  }
  (*function)(call);
  for (size_t i = 0; i < call.op().outputs.size(); ++i) {
    const graph::Tensor& tensor = call.tensor(call.op().outputs[i]);
    const Value& value = call.output(i);
    const auto bytes = graph::element_count(tensor.shape).value_or(0) * graph::machine_width(tensor.type);
    if (value.type != tensor.type || value.shape != tensor.shape || static_cast<int64_t>(value.bytes.size()) != bytes) {
      call.fail(ErrorCode::kBadInput,
                fmt::format("the function of the custom operator changed the type or the size of result {}", i));
    }
  }
}

}  // namespace npu::reference
