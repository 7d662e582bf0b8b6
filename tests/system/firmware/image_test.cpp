// SPDX-License-Identifier: Apache-2.0
// Images that are none, or not for this device: refused with a clear error before anything runs.
#include "firmware/image.h"

#include <gtest/gtest.h>

#include <iostream>

#include "hw/contract/gen/commands.h"
#include "tests/system/firmware/patch.h"
#include "tests/system/firmware/streams.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using contract::FirmwareHeader;

// Each is a process of its own, because SystemC elaborates once.
void expect_refused(std::vector<uint8_t> image, ErrorCode code) {
  try {
    static_cast<void>(
        runtime::Device::open(platform::open_tlm_device(options("nano")), options_with(std::move(image))));
    FAIL() << "the image was accepted";
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
    EXPECT_EQ(error.code(), code) << error.what();
  }
}

std::vector<uint8_t> first_bytes(size_t bytes) {
  return {firmware::image().begin(), firmware::image().begin() + static_cast<ptrdiff_t>(bytes)};
}

TEST(Image, TruncatedInTheHeader) { expect_refused(first_bytes(FirmwareHeader::kBytes - 1), ErrorCode::kBadFirmware); }

TEST(Image, TruncatedInTheCode) { expect_refused(first_bytes(firmware::image().size() / 2), ErrorCode::kBadFirmware); }

TEST(Image, TooBig) {
  std::vector<uint8_t> image = image_with_header([](FirmwareHeader& header) { header.code_bytes = 0x8004; });
  image.resize(FirmwareHeader::kBytes + 0x8004);
  expect_refused(std::move(image), ErrorCode::kBadFirmware);
}

TEST(Image, TooMuchData) {
  expect_refused(image_with_header([](FirmwareHeader& header) { header.data_bytes = 0x4004; }),
                 ErrorCode::kBadFirmware);
}

TEST(Image, NoImage) {
  expect_refused(image_with_header([](FirmwareHeader& header) { header.magic = 0x464c457f; }), ErrorCode::kBadFirmware);
}

TEST(Image, DamagedInTheCode) {
  std::vector<uint8_t> image = first_bytes(firmware::image().size());
  image[FirmwareHeader::kBytes + 1000] ^= 1;
  expect_refused(std::move(image), ErrorCode::kBadFirmware);
}

TEST(Image, OfAnotherVersion) {
  expect_refused(image_with_header([](FirmwareHeader& header) { ++header.major; }), ErrorCode::kFirmwareMismatch);
}

// The header lies: only the firmware knows what it was built for.
TEST(Image, ThatDoesNotStart) { expect_refused(image_with("npu_main", kJumpToItself), ErrorCode::kFaultFirmware); }

TEST(Image, ThatTrapsBeforeItCanTakeTraps) {
  expect_refused(image_with("npu_reset", kIllegal), ErrorCode::kFaultFirmware);
}

}  // namespace
}  // namespace npu::test
