// SPDX-License-Identifier: Apache-2.0
// A host that writes registers at moments while its driver waits for the device.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "hw/contract/gen/registers.h"
#include "tests/system/device/forwarding_hal.h"

namespace npu::test {

// Writes, one after the other, after so many short stretches of device time (10 us on the simulated device) in which
// the driver waited.
struct Strike {
  struct Write {
    uint32_t offset = 0, value = 0;
  };
  uint32_t moment = 0;
  std::vector<Write> writes;
};

class StrikingHal final : public ForwardingHal {
 public:
  using ForwardingHal::ForwardingHal;

  // From now on, in the place of what was planned before.
  void plan(std::vector<Strike> strikes) {
    strikes_ = std::move(strikes);
    moment_ = 0;
    strike();
  }
  // What has not struck never will.
  [[nodiscard]] std::vector<Strike> take_left() { return std::exchange(strikes_, {}); }

  [[nodiscard]] bool wait_interrupt(std::chrono::nanoseconds timeout) override {
    while (!strikes_.empty()) {
      const uint32_t before = read_register(contract::reg::kTimeLo);
      const bool up = ForwardingHal::wait_interrupt(std::chrono::nanoseconds(0));
      if (read_register(contract::reg::kTimeLo) == before) {  // up already, or nothing moves: no moment will come
        if (up) return true;
        break;
      }
      ++moment_;
      strike();
      if (up) return true;
    }
    return ForwardingHal::wait_interrupt(timeout);
  }

 private:
  void strike() {
    for (const Strike& strike : strikes_) {
      if (strike.moment != moment_) continue;
      for (const Strike::Write& write : strike.writes) write_register(write.offset, write.value);
    }
    std::erase_if(strikes_, [&](const Strike& strike) { return strike.moment <= moment_; });
  }

  std::vector<Strike> strikes_;
  uint32_t moment_ = 0;
};

}  // namespace npu::test
