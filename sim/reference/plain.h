// SPDX-License-Identifier: Apache-2.0
// The plain version of the operators that fast.h also has, multiply by multiply as the specification says.
#pragma once

#include "sim/reference/call.h"

namespace npu::reference::plain {

void convolution(Call& call);  // CONV2D, CONV3D
void depthwise_conv2d(Call& call);
void matmul(Call& call);

}  // namespace npu::reference::plain
