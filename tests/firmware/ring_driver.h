// SPDX-License-Identifier: Apache-2.0
// The least driver that the firmware can talk to: rings in device memory, written by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"
#include "tests/firmware/device_port.h"

namespace npu::firmware_test {

class RingDriver {
 public:
  static constexpr uint64_t kShared = 0x100000, kSharedBytes = 0x40000;
  static constexpr uint64_t kLog = kShared + 0x10000, kJobs = kShared + 0x20000, kSegments = kShared + 0x30000;
  static constexpr uint32_t kEntries = 8, kLogBytes = 0x4000;
  static constexpr uint32_t kRunBit = contract::reg::kCpuControlRunMask;

  explicit RingDriver(DevicePort& device) : device_(device) {}

  // Reset, code, ring 0, run; the test lets the device go on until the firmware is ready. `log_level` as in the ring.
  void boot(std::span<const uint8_t> image, uint32_t log_level = 3);
  // The header that boot() writes, for tests that damage it first.
  contract::Ring admin_header(uint32_t log_level) const;
  void boot_with(std::span<const uint8_t> image, const contract::Ring& admin, uint64_t admin_address = kShared);

  static uint64_t ring_address(uint32_t ring) { return kShared + 0x1000 * uint64_t{ring}; }
  // Writes a request and rings; returns its id.
  uint32_t submit(uint32_t ring, contract::Request type, uint64_t argument = 0, std::span<const uint32_t> value = {});
  void ring_doorbell(uint32_t ring);
  // Lays out a ring, with all its indices at `first_index`, and asks for its context.
  uint32_t open(uint32_t ring, uint32_t priority, uint32_t owner, uint32_t first_index = 0);
  // Puts a job into place `slot` of the shared memory and submits it.
  uint32_t run(uint32_t ring, const contract::Job& job, uint32_t slot);
  uint64_t put_job(const contract::Job& job, uint32_t slot);
  // The next completion of the ring, if there is one; takes it.
  std::optional<contract::RingCompletion> take(uint32_t ring);
  // Lets it lie.
  std::optional<contract::RingCompletion> peek(uint32_t ring);

  [[nodiscard]] contract::Ring header(uint32_t ring);
  void write_word(uint64_t address, uint32_t value);
  // What the log still holds, oldest first.
  [[nodiscard]] std::string log();

 private:
  struct Indices {
    uint32_t produced = 0, collected = 0;
  };
  void write_ring(uint32_t ring, const contract::Ring& header);

  DevicePort& device_;
  Indices indices_[16];
  uint32_t next_id_ = 100;
};

}  // namespace npu::firmware_test
