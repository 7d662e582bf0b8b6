// SPDX-License-Identifier: Apache-2.0
// One operator on given values, for tests: as a graph that reference::run executes, or as a bare call.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"
#include "sim/reference/call.h"
#include "sim/reference/reference.h"

namespace npu::reference::test {

using contract::ErrorCode;
using graph::Attributes;
using graph::DType;
using graph::Op;
using graph::Shape;
using graph::Value;

// A value of any type from numbers.
inline Value value_of(DType type, const Shape& shape, const std::vector<int64_t>& numbers) {
  const auto width = static_cast<size_t>(graph::machine_width(type));
  Value value{type, shape, std::vector<uint8_t>(numbers.size() * width)};
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::memcpy(value.bytes.data() + i * width, &numbers[i], width);
  }
  EXPECT_EQ(graph::element_count(shape).value_or(-1), static_cast<int64_t>(numbers.size()));
  return value;
}
inline Value i8(const Shape& shape, const std::vector<int64_t>& numbers) {
  return value_of(DType::kInt8, shape, numbers);
}
inline Value i16(const Shape& shape, const std::vector<int64_t>& numbers) {
  return value_of(DType::kInt16, shape, numbers);
}
inline Value i32(const Shape& shape, const std::vector<int64_t>& numbers) {
  return value_of(DType::kInt32, shape, numbers);
}
inline Value i48(const Shape& shape, const std::vector<int64_t>& numbers) {
  return value_of(DType::kInt48, shape, numbers);
}
inline Value boolean(const Shape& shape, const std::vector<int64_t>& numbers) {
  return value_of(DType::kBool, shape, numbers);
}
inline Value dims(const std::vector<int64_t>& numbers) {
  return value_of(DType::kShape, {static_cast<int64_t>(numbers.size())}, numbers);
}

// The elements as numbers, sign extended (booleans as 0 and 1).
inline std::vector<int64_t> numbers_of(const Value& value) {
  const auto width = static_cast<size_t>(graph::machine_width(value.type));
  std::vector<int64_t> numbers(value.bytes.size() / width);
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, value.bytes.data() + i * width, width);
    const auto unused = static_cast<unsigned>(64 - 8 * width);
    numbers[i] = static_cast<int64_t>(bits << unused) >> unused;
  }
  return numbers;
}

// Numbers between two limits, with the limits themselves often among them.
inline std::vector<int64_t> random_numbers(std::mt19937& random, const Shape& shape, int64_t low, int64_t high) {
  std::vector<int64_t> numbers(static_cast<size_t>(graph::element_count(shape).value()));
  std::uniform_int_distribution<int64_t> any(low, high);
  std::uniform_int_distribution<int> corner(0, 15);
  for (int64_t& number : numbers) {
    const int kind = corner(random);
    number = kind == 0 ? low : kind == 1 ? high : any(random);
  }
  return numbers;
}

struct OperatorCase {
  Op op = Op::kUnknown;
  std::vector<Value> inputs;
  DType result_type = DType::kUnknown;
  Shape result_shape;
  Attributes attributes = {};

  [[nodiscard]] graph::Graph graph() const {
    graph::Block block{.name = "main", .tensors = {}, .operators = {}, .inputs = {}, .outputs = {}};
    graph::Operator the_operator{.op = op, .attributes = attributes, .inputs = {}, .outputs = {}, .location = "here"};
    for (const Value& input : inputs) {
      the_operator.inputs.push_back(static_cast<graph::TensorId>(block.tensors.size()));
      graph::Tensor tensor;
      tensor.name = "in" + std::to_string(block.tensors.size());
      tensor.type = input.type;
      tensor.shape = input.shape;
      block.tensors.push_back(tensor);
    }
    block.inputs = the_operator.inputs;
    the_operator.outputs.push_back(static_cast<graph::TensorId>(block.tensors.size()));
    graph::Tensor result;
    result.name = "result";
    result.type = result_type;
    result.shape = result_shape;
    block.tensors.push_back(result);
    block.outputs = the_operator.outputs;
    block.operators.push_back(the_operator);
    graph::Graph graph;
    graph.regions.push_back({"main", {block}});
    return graph;
  }

  [[nodiscard]] Value run() const {
    Context context;
    return reference::run(graph(), inputs, context).at(0);
  }
  [[nodiscard]] std::vector<int64_t> numbers() const { return numbers_of(run()); }

  // Calls one implementation without the table of operators; its result, also when it leaves without one.
  template <typename F>
  Value call(F&& function) const {
    const graph::Graph g = graph();
    std::vector<const Value*> operands;
    for (const Value& input : inputs) {
      operands.push_back(&input);
    }
    const auto count = static_cast<size_t>(graph::element_count(result_shape).value());
    Value result{result_type, result_shape,
                 std::vector<uint8_t>(count * static_cast<size_t>(graph::machine_width(result_type)))};
    Call call(g.main().operators[0], g.main(), operands, {&result});
    function(call);
    return result;
  }
};

// The code with which something fails, kOk when it does not; the message goes to `message`.
inline ErrorCode error_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) {
      *message = error.what();
    }
    return error.code();
  }
  return ErrorCode::kOk;
}
inline ErrorCode error_of(const OperatorCase& the_case, std::string* message = nullptr) {
  return error_of([&] { (void)the_case.run(); }, message);
}

}  // namespace npu::reference::test
