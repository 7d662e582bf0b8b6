// SPDX-License-Identifier: Apache-2.0
// The driver's side of a ring (the contract's structure `ring`): requests to the firmware, completions from it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "driver/runtime/hal.h"
#include "hw/contract/gen/commands.h"

namespace npu::runtime {

// The firmware stopped, does not answer, or wrote what it never should: only a new start helps. The text says what was
// seen. Never leaves the runtime.
class FirmwareGone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Ring {
 public:
  // Bytes of a ring of so many entries.
  [[nodiscard]] static uint64_t bytes(uint32_t entries);

  // `number` is for messages.
  Ring(Hal& hal, uint64_t address, uint32_t entries, uint32_t number);

  // Writes the header: empty, with what `header` says about shared memory and log.
  void lay_out(contract::Ring header = {});

  // Requests whose completions have not been taken.
  [[nodiscard]] uint32_t outstanding() const { return produced_ - consumed_; }
  [[nodiscard]] bool full() const { return outstanding() == entries_; }
  // Writes a request, then the index behind it; not the doorbell. Not for a full ring.
  void push(const contract::RingRequest& request);

  // Reads what the firmware wrote into the header. False: it calls the ring corrupt. Throws FirmwareGone when it cannot
  // have completed so much.
  [[nodiscard]] bool look();
  // The next completion that look() saw.
  [[nodiscard]] std::optional<contract::RingCompletion> take();
  // Tells the firmware how many were taken, if that changed.
  void acknowledge();

  [[nodiscard]] uint64_t address() const { return address_; }
  // Reads how many bytes the firmware has logged (ring 0).
  [[nodiscard]] uint32_t log_produced() const;

 private:
  void write_word(uint32_t offset, uint32_t value);

  Hal& hal_;
  const uint64_t address_;
  const uint32_t entries_, number_;
  uint32_t produced_ = 0, completed_ = 0, consumed_ = 0, acknowledged_ = 0;
};

}  // namespace npu::runtime
