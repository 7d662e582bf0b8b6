// SPDX-License-Identifier: Apache-2.0
// A simulated chip whose control CPU runs programs/echo.c.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "hw/contract/gen/registers.h"
#include "sim/platform/platform.h"

namespace npu::platform::testing {

namespace reg = contract::reg;
using runtime::Window;

class ChipFixture : public ::testing::Test {
 protected:
  static std::vector<uint8_t> program() {
    std::ifstream file(NPU_ECHO_PROGRAM ".bin", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void open(PlatformOptions options = {}) {
    options.preset = presets::load_preset("edge");
    caps_ = options.preset.caps;
    device_ = open_tlm_device(options);
  }
  // Loads the program, lets the CPU go, and waits until the program says that it is ready.
  void boot() {
    device_->write_register(reg::kCpuControl, reg::kCpuControlResetAllMask);
    device_->write_window(Window::kCode, 0, program());
    device_->write_register(reg::kHostIrqStatus, ~0u);
    device_->write_register(reg::kHostIrqEnable, ~0u);
    device_->write_register(reg::kCpuControl, reg::kCpuControlRunMask);
    ASSERT_TRUE(device_->wait_interrupt(std::chrono::seconds(60)));
    EXPECT_EQ(device_->read_register(reg::kHostIrqStatus), uint32_t{reg::kHostIrqStatusFirmwareMask});
    device_->write_register(reg::kHostIrqStatus, ~0u);
  }
  void ring(uint32_t bell) { device_->write_register(reg::kDoorbell, bell); }
  // Waits for the answer to a doorbell.
  [[nodiscard]] bool answered(std::chrono::nanoseconds timeout = std::chrono::seconds(60)) {
    const bool up = device_->wait_interrupt(timeout);
    device_->write_register(reg::kHostIrqStatus, ~0u);
    return up;
  }
  uint64_t time() {
    const uint64_t low = device_->read_register(reg::kTimeLo);
    return low | uint64_t{device_->read_register(reg::kTimeHi)} << 32;
  }
  uint32_t data_word(uint32_t offset) {
    std::vector<uint8_t> bytes(4);
    device_->read_window(Window::kData, offset, bytes);
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
  }

  contract::Capabilities caps_;
  std::unique_ptr<runtime::Hal> device_;
};

}  // namespace npu::platform::testing
