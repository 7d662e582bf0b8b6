// SPDX-License-Identifier: Apache-2.0
// A C++ device behind the function pointers of the C API: the other direction of what libnpu does with them.
#pragma once

#include <memory>

#include "driver/capi/npu.h"
#include "driver/runtime/hal.h"

namespace npu::capi {

// Fills every function of version 1, which leads to `hal`; its destroy() deletes it. What the device throws becomes
// status and error_text(): codes of npu::Error as they are, everything else NPU_STATUS_BUG. `ops.struct_size` stays.
void fill_ops(std::unique_ptr<runtime::Hal> hal, npu_hal_ops& ops);

}  // namespace npu::capi
