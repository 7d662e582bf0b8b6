// SPDX-License-Identifier: Apache-2.0
#include "tests/system/firmware/patch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "firmware/image.h"
#include "hw/contract/gen/commands.h"

namespace npu::test {
namespace {

using contract::FirmwareHeader;

std::vector<uint8_t> built_in() { return {firmware::image().begin(), firmware::image().end()}; }

uint32_t address_of(std::string_view function) {
  std::istringstream lines{std::string(firmware::symbols())};
  std::string address, name;
  while (lines >> address >> name) {
    if (name == function) return static_cast<uint32_t>(std::stoul(address, nullptr, 16));
  }
  ADD_FAILURE() << "the firmware has no function " << function;
  return 0;
}

// FNV-1a, as the contract defines the checksum.
uint32_t checksum(std::span<const uint8_t> code) {
  uint32_t value = 2166136261u;
  for (const uint8_t byte : code) value = (value ^ byte) * 16777619u;
  return value;
}

}  // namespace

std::vector<uint8_t> image_with(std::string_view function, uint32_t instruction) {
  std::vector<uint8_t> image = built_in();
  const uint32_t address = address_of(function);
  if (FirmwareHeader::kBytes + address + 4 > image.size()) {
    ADD_FAILURE() << function << " lies at " << address << ", behind the code";
    return image;
  }
  std::memcpy(image.data() + FirmwareHeader::kBytes + address, &instruction, sizeof(instruction));
  FirmwareHeader header = FirmwareHeader::load(image.data());
  header.checksum = checksum(std::span<const uint8_t>(image).subspan(FirmwareHeader::kBytes));
  header.store(image.data());
  return image;
}

std::vector<uint8_t> image_with_header(void (*change)(FirmwareHeader&)) {
  std::vector<uint8_t> image = built_in();
  FirmwareHeader header = FirmwareHeader::load(image.data());
  change(header);
  header.store(image.data());
  return image;
}

runtime::DeviceOptions options_with(std::vector<uint8_t> image) {
  runtime::DeviceOptions options;
  options.firmware = std::move(image);
  options.firmware_symbols = std::string(firmware::symbols());
  return options;
}

}  // namespace npu::test
