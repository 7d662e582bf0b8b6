// SPDX-License-Identifier: Apache-2.0
// All that profiles and extensions of TOSA allow, a sample each: the rows of the table of operators, operands that come
// at run time, rounding modes.
#pragma once

#include <string>
#include <vector>

#include "driver/graph/operators.h"
#include "sim/generator/operator_sample.h"

namespace npu::generator {

struct OperatorForm {
  const graph::OperatorInfo* info = nullptr;
  std::string text;  // of its types, and what is special: "INT8", "input INT8, output INT32, table at run time"
  // It needs one of `any_of` and all of `all_of`.
  graph::Features any_of = 0, all_of = 0;
  OperatorSample sample;
};

// Of all operators, in the order of graph::Op.
[[nodiscard]] std::vector<OperatorForm> operator_forms();

}  // namespace npu::generator
