// SPDX-License-Identifier: Apache-2.0
// The order in which tiles join values of floating point, as the contract has it. Values are FP32 patterns.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::engine::testing::scalar {

// An accumulator of the MXU: of the products of one result, in the order of the reduction (depthwise: of the kernel
// positions).
[[nodiscard]] uint32_t accumulate(const contract::MxuCommand& command, const contract::Capabilities& caps,
                                  const std::vector<uint32_t>& products);

// The elements of an axis, which is not the innermost one, or is: then across the lanes.
[[nodiscard]] uint32_t reduce(const contract::VpuReduceCommand& command, const contract::Capabilities& caps,
                              const std::vector<uint32_t>& values);
[[nodiscard]] int64_t index_of_greatest(const std::vector<uint32_t>& values, bool ignore_nan);

// The elements of a window.
[[nodiscard]] uint32_t pool(const contract::VpuPoolCommand& command, const std::vector<uint32_t>& values);

}  // namespace npu::engine::testing::scalar
