// SPDX-License-Identifier: Apache-2.0
// Steps whose smallest tile is larger than the scratchpad, or than the VPU's table memory, become several steps that
// compute the same bits.
#pragma once

#include "driver/compiler/ir.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Reductions are cut along their axis, element-wise steps with an entry of parameters for each channel along the
// channels, windows of pooling in rows and columns, and convolutions and matrix products along what they accumulate:
// the VPU adds the sums of the parts, and scales them. Others stay as they are. All other steps of the module stay the
// same.
void split_large_steps(Module& module, const contract::Capabilities& capabilities);

}  // namespace npu::compiler::backend
