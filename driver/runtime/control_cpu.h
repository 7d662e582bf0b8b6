// SPDX-License-Identifier: Apache-2.0
// The control CPU as the host sees it through the mailbox: loading and starting its firmware, its clock, its
// interrupts, and why it stopped.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driver/runtime/backtrace.h"
#include "driver/runtime/firmware_image.h"
#include "driver/runtime/monitor.h"
#include "driver/runtime/ring.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::runtime {

// Device time within which the firmware answers.
inline constexpr uint64_t kAnswerMicroseconds = 10'000;

class ControlCpu {
 public:
  // How long a wait is when no interrupt can end it.
  static constexpr std::chrono::nanoseconds kPollSlice = std::chrono::milliseconds(1);

  // Checks the image; throws as parse_firmware().
  ControlCpu(Hal& hal, const contract::Capabilities& caps, std::vector<uint8_t> image, std::string_view symbols,
             bool polling);

  // Holds the CPU, resets everything behind it (`cold`: persistent memory too) and writes the code.
  void load(bool cold);
  // Where the firmware finds ring 0, and a buffer for so many phase records.
  struct Memory {
    uint64_t admin_ring = 0, phases = 0;
    uint32_t phase_capacity = 0;
  };
  // Lets the CPU run and waits until its firmware is ready. Throws FirmwareGone, or Error(kFirmwareMismatch) when what
  // runs is not the image.
  void start(const Memory& memory);

  // Device time.
  [[nodiscard]] uint64_t time();
  // The bits of host_irq_status that are up; clears them. Throws FirmwareGone when the CPU has stopped, or when its
  // firmware has started again without being asked to.
  uint32_t take_interrupts();

  // Lets the device run for a moment; for waits that hold the lock.
  [[nodiscard]] Wakeup wait();
  [[nodiscard]] bool polling() const { return polling_; }
  // Cycles of its own clock in which it did not wait in wfi, since it was started.
  [[nodiscard]] uint64_t busy_cycles();
  // Cycles of device time within which the firmware answers that has so much `more` to do, in cycles of its own clock.
  [[nodiscard]] uint64_t patience(uint64_t more) const {
    return clock_mhz_ * kAnswerMicroseconds + more * clock_mhz_ / cpu_clock_mhz_;
  }

  // Where a CPU that runs is, for a message; holds it in reset. Empty for one that does not run: the reason of its stop
  // was told.
  [[nodiscard]] std::string hold_and_describe();

 private:
  [[nodiscard]] StoppedCpu read_stop();
  void check_running_version();

  Hal& hal_;
  const uint32_t clock_mhz_, cpu_clock_mhz_;
  const bool polling_;
  const std::vector<uint8_t> bytes_;
  const FirmwareImage image_;
  const Symbols symbols_;
  bool ready_ = false;  // the firmware has said so, and says nothing more of its state
};

// Sees that nothing in the device moves any more: several waits one after the other ended early, and no device time
// passed. (A debugger that holds the CPU lets no time pass either, but then every wait takes its whole slice.)
class Standstill {
 public:
  // After a wait that ended so, in vain. True: it stands still.
  [[nodiscard]] bool check(Wakeup wakeup, uint64_t time);
  void restart() { waits_ = 0; }

 private:
  uint64_t last_ = 0;
  int waits_ = 0;
};

// Ends a wait for the firmware's answer: when its time is over, or when nothing in the device moves any more.
class Patience {
 public:
  // `more`: as of patience().
  explicit Patience(ControlCpu& cpu, uint64_t more = 0) : cpu_(cpu), start_(cpu.time()), limit_(cpu.patience(more)) {}
  // After a wait that ended so, in vain. Throws FirmwareGone: "the firmware " + what + " within ...".
  void check(Wakeup wakeup, std::string_view what);

 private:
  ControlCpu& cpu_;
  const uint64_t start_, limit_;
  Standstill standstill_;
};

}  // namespace npu::runtime
