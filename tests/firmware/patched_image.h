// SPDX-License-Identifier: Apache-2.0
// The built-in firmware with a function that does something else.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "firmware/image.h"
#include "hw/contract/gen/commands.h"

namespace npu::firmware_test {

// Fails the test for a function that there is not.
inline uint32_t address_of(std::string_view name) {
  std::istringstream lines{std::string(firmware::symbols())};
  for (std::string address, symbol; lines >> address >> symbol;) {
    if (symbol == name) return static_cast<uint32_t>(std::stoul(address, nullptr, 16));
  }
  ADD_FAILURE() << "no function " << name;
  return 0;
}

// Where the next function begins; UINT32_MAX for the last one.
inline uint32_t end_of(std::string_view name) {
  const uint32_t begin = address_of(name);
  uint32_t end = UINT32_MAX;
  std::istringstream lines{std::string(firmware::symbols())};
  for (std::string address, symbol; lines >> address >> symbol;) {
    const auto other = static_cast<uint32_t>(std::stoul(address, nullptr, 16));
    if (other > begin) end = std::min(end, other);
  }
  return end;
}

// The image with another first instruction of a function.
inline std::vector<uint8_t> patched(std::string_view function, uint16_t instruction) {
  std::vector<uint8_t> image(firmware::image().begin(), firmware::image().end());
  std::memcpy(image.data() + contract::FirmwareHeader::kBytes + address_of(function), &instruction, 2);
  return image;
}

}  // namespace npu::firmware_test
