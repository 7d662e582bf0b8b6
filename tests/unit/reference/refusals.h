// SPDX-License-Identifier: Apache-2.0
// What the operators refuse in a graph that was not validated: a legal call of each, and the same call with one thing
// changed.
#pragma once

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test::refusals {

constexpr ErrorCode kShape = ErrorCode::kBadShape;
constexpr ErrorCode kArgument = ErrorCode::kBadArgument;
constexpr ErrorCode kType = ErrorCode::kTypeUnsupported;
constexpr ErrorCode kRequire = ErrorCode::kRequireFailed;

struct Change {
  const char* what;
  std::function<void(OperatorCase&)> make;
  ErrorCode code;
};

inline void expect_refused(const OperatorCase& legal, const std::vector<Change>& changes) {
  ASSERT_EQ(contract::name(error_of(legal)), contract::name(ErrorCode::kOk)) << graph::name(legal.op);
  for (const Change& change : changes) {
    OperatorCase changed = legal;
    change.make(changed);
    EXPECT_EQ(contract::name(error_of(changed)), contract::name(change.code))
        << graph::name(legal.op) << ": " << change.what;
  }
}

inline Value zeros(DType type, const Shape& shape) {
  return value_of(type, shape, std::vector<int64_t>(static_cast<size_t>(graph::element_count(shape).value())));
}

// Changes: another shape or type of operand `i` or of the result, or other values of operand `i`.
inline std::function<void(OperatorCase&)> shaped(size_t i, const Shape& shape) {
  return [=](OperatorCase& c) { c.inputs[i] = zeros(c.inputs[i].type, shape); };
}
inline std::function<void(OperatorCase&)> typed(size_t i, DType type) {
  return [=](OperatorCase& c) { c.inputs[i] = zeros(type, c.inputs[i].shape); };
}
inline std::function<void(OperatorCase&)> valued(size_t i, const std::vector<int64_t>& numbers) {
  return [=](OperatorCase& c) {
    const Shape shape{static_cast<int64_t>(numbers.size())};
    c.inputs[i] = value_of(c.inputs[i].type, c.inputs[i].shape.size() == 1 ? shape : c.inputs[i].shape, numbers);
  };
}
inline std::function<void(OperatorCase&)> result(const Shape& shape) {
  return [=](OperatorCase& c) { c.result_shape = shape; };
}
inline std::function<void(OperatorCase&)> result_type(DType type) {
  return [=](OperatorCase& c) { c.result_type = type; };
}
inline std::function<void(OperatorCase&)> list(std::vector<int32_t> Attributes::*which,
                                               const std::vector<int32_t>& values) {
  return [=](OperatorCase& c) { c.attributes.*which = values; };
}

inline Attributes with_axis(int32_t axis) {
  Attributes a;
  a.axis = axis;
  return a;
}

}  // namespace npu::reference::test::refusals
