// SPDX-License-Identifier: Apache-2.0
// The two 32-bit registers that show a 64-bit value.
#pragma once

#include <cstdint>

namespace npu::model {

[[nodiscard]] constexpr uint32_t low_word(uint64_t value) { return static_cast<uint32_t>(value); }
[[nodiscard]] constexpr uint32_t high_word(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

}  // namespace npu::model
