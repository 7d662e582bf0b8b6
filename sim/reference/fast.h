// SPDX-License-Identifier: Apache-2.0
// Vector loops for the operators in which a network spends its time, equal in every bit to plain.h. On integers they
// apply when the largest operands present cannot make any partial sum leave the accumulator, in whatever order it is
// formed; on floating point, where there are any, they keep the order.
#pragma once

#include "sim/reference/call.h"

namespace npu::reference::fast {

// Each computes the result, or returns false and leaves it to the plain version, which finds out whether and where the
// accumulator of integers overflows.
[[nodiscard]] bool convolution(Call& call);  // CONV2D, CONV3D
[[nodiscard]] bool depthwise_conv2d(Call& call);
[[nodiscard]] bool matmul(Call& call);  // of integers

}  // namespace npu::reference::fast
