// SPDX-License-Identifier: Apache-2.0
// Random poolings and reductions of the VPU, with sizes next to its lanes.
#pragma once

#include <cstdint>
#include <string>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "sim/cosim/made_tile.h"
#include "sim/cosim/random.h"

namespace npu::cosim {

// Without places and strides. Windows may lie in front of the input, behind it or around it; half of them are as the
// operator wants them.
[[nodiscard]] contract::VpuPoolCommand random_pool(Random& random, int64_t lanes);
// The same of floating point.
void make_float(contract::VpuPoolCommand& command, Random& random);
// Places the operands and fills them; `plain`: dense, with zero points 0.
[[nodiscard]] MadeTile<contract::VpuPoolCommand> make_pool_tile(const contract::VpuPoolCommand& shape, Random& random,
                                                                bool plain = false);
[[nodiscard]] std::string kind(const contract::VpuPoolCommand& command);
[[nodiscard]] std::string describe(const contract::VpuPoolCommand& command);

// Of all operators and types, along an axis with inner elements and across the lanes. Without places and strides.
[[nodiscard]] contract::VpuReduceCommand random_reduce(Random& random, int64_t lanes);
// The same of floating point; `all` and `any` have none, and become another.
void make_float(contract::VpuReduceCommand& command, Random& random);
[[nodiscard]] MadeTile<contract::VpuReduceCommand> make_reduce_tile(const contract::VpuReduceCommand& shape,
                                                                    Random& random);
[[nodiscard]] std::string kind(const contract::VpuReduceCommand& command);
[[nodiscard]] std::string describe(const contract::VpuReduceCommand& command);

}  // namespace npu::cosim
