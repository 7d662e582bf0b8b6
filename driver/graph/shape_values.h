// SPDX-License-Identifier: Apache-2.0
// What the operators of TOSA 1.1 that compute shapes give. Private to this folder. Source: the draft of the TOSA 1.1
// specification, "Shape Operators".
#pragma once

#include "driver/graph/dim.h"

namespace npu::graph {

class OperatorView;

// The value of the result, with sizes and the values of shape operands known, as expressions where sizes stay open; of
// ASSERT_EQUAL_SHAPE nothing. The operator's rule holds. Throws Error(require_failed) for a value that the operator is
// not defined for, or that 64 bits do not hold, and NotExpressible.
[[nodiscard]] Dims shape_value(const OperatorView& op);
// Of ASSERT_EQUAL_SHAPE, with the values of its operands known. Throws Error(bad_argument) where they are not equal.
void require_equal_shapes(const OperatorView& op);

}  // namespace npu::graph
