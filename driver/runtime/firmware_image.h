// SPDX-License-Identifier: Apache-2.0
// The image that the control CPU runs: the contract's structure `firmware_header`, then the code.
#pragma once

#include <cstdint>
#include <span>

#include "hw/contract/gen/commands.h"

namespace npu::runtime {

struct FirmwareImage {
  contract::FirmwareHeader header;
  std::span<const uint8_t> code;  // into the bytes that were parsed
};

// Throws Error: kBadFirmware for bytes that are no image, too short or too long for what their header says, too big for
// the CPU's memories, or damaged; kFirmwareMismatch for an image of another contract version than this driver.
[[nodiscard]] FirmwareImage parse_firmware(std::span<const uint8_t> bytes);

}  // namespace npu::runtime
