// SPDX-License-Identifier: Apache-2.0
// Random legal machines.
#pragma once

#include <cstdint>

#include "hw/presets/preset.h"

namespace npu::test {

// A machine whose file is accepted, the same for the same seed. What does not fit together is drawn again.
[[nodiscard]] presets::Preset random_machine(uint32_t seed);

}  // namespace npu::test
