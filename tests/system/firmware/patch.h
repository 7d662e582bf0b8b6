// SPDX-License-Identifier: Apache-2.0
// Firmware images that are damaged on purpose.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/runtime/runtime.h"

namespace npu::test {

// RV32 instructions.
inline constexpr uint32_t kEbreak = 0x00100073;
inline constexpr uint32_t kJumpToItself = 0x0000006f;
inline constexpr uint32_t kIllegal = 0x00000000;

// The built-in image with the first instruction of a function replaced, and a checksum that is right again: the
// self-test accepts it. Fails the test when there is no such function.
[[nodiscard]] std::vector<uint8_t> image_with(std::string_view function, uint32_t instruction);
// With a header that was changed, and the code as it is.
[[nodiscard]] std::vector<uint8_t> image_with_header(void (*change)(contract::FirmwareHeader&));

// To open a device with such an image, with the symbols of the built-in one.
[[nodiscard]] runtime::DeviceOptions options_with(std::vector<uint8_t> image);

}  // namespace npu::test
