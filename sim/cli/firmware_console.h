// SPDX-License-Identifier: Apache-2.0
// What the firmware has to say, on the standard error: its log, and what it prints to its UART.
#pragma once

#include <functional>
#include <memory>

#include "driver/runtime/runtime.h"

namespace npu::cli {

class FirmwareConsole {
 public:
  // Says nothing unless it is on.
  explicit FirmwareConsole(bool on);

  // For PlatformOptions::uart; empty when off. Prints whole lines, each as soon as it ends; the rest when the device is
  // gone. Lines that the firmware could not end because it stopped are printed then, too.
  [[nodiscard]] std::function<void(char)> uart() const;

  // Prints what was logged since the last call.
  void show(runtime::Device& device) const;

 private:
  class Uart;
  std::shared_ptr<Uart> uart_;  // null: off
};

}  // namespace npu::cli
