// SPDX-License-Identifier: Apache-2.0
// Operators by their numbers in a file. Private to this folder.
#pragma once

#include <cstdint>

#include "driver/graph/graph.h"
#include "driver/graph/tosa_generated.h"

namespace npu::graph {

// Up to CONST_SHAPE the numbers are the same. Behind it, a file's numbers start with three operators on block-scaled
// tensors, which are not read here.
inline constexpr uint32_t kSkippedFileNumbers = 3;

[[nodiscard]] constexpr tosa::Op file_number(Op op) {
  const auto number = static_cast<uint32_t>(op);
  return static_cast<tosa::Op>(number < kTensorOpCount ? number : number + kSkippedFileNumbers);
}
static_assert(file_number(Op::kConstShape) == tosa::Op::CONST_SHAPE);
static_assert(file_number(Op::kDim) == tosa::Op::DIM);
static_assert(file_number(Op::kAssertEqualShape) == tosa::Op::ASSERT_EQUAL_SHAPE);

// kUnknown for one that is not read here.
[[nodiscard]] constexpr Op op_of_file(tosa::Op op) {
  const auto number = static_cast<uint32_t>(op);
  if (number < kTensorOpCount) return static_cast<Op>(number);
  const bool known = number >= kTensorOpCount + kSkippedFileNumbers && number < kOpCount + kSkippedFileNumbers;
  return known ? static_cast<Op>(number - kSkippedFileNumbers) : Op::kUnknown;
}

// Attribute tables are numbered like the operators of a file.
[[nodiscard]] constexpr tosa::Attribute attribute_table(Op op) { return static_cast<tosa::Attribute>(file_number(op)); }

}  // namespace npu::graph
