// SPDX-License-Identifier: Apache-2.0
// What a device serves at a time.
#pragma once

#include <cstdint>

namespace npu::runtime {

// Contexts that may be open at a time: a ring of the firmware each, beside the driver's own.
inline constexpr uint32_t kMaxContexts = 15;

}  // namespace npu::runtime
