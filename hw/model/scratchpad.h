// SPDX-License-Identifier: Apache-2.0
// The scratchpad: storage and its banks. spm_banks banks of spm_bank_bytes, interleaved: byte address a lies in bank
// (a / spm_bank_bytes) mod spm_banks. Each bank serves one access of at most its width a cycle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/timing/bank_occupancy.h"

namespace npu::model {

class Scratchpad {
 public:
  static constexpr uint8_t kPoison = 0xa5;

  Scratchpad(const contract::Capabilities& caps, bool poison);

  // Free banks; content of earlier jobs is overwritten with kPoison (if asked for at construction), unless the job goes
  // on with it.
  void begin_job(bool keep);
  // Power is gone, and with it the content: all of it is kPoison.
  void lose();
  // Bytes [low, high) are written in this job: what the next job start has to poison.
  void touch(uint64_t low, uint64_t high);

  [[nodiscard]] std::span<uint8_t> bytes() { return bytes_; }

  // Accesses a bank: counts up for every bank that the bytes lie in.
  void count(uint64_t address, uint64_t bytes, uint64_t repeats, std::span<uint32_t> accesses) const;
  // Books accesses[b] accesses of bank b, wanted over [start, start + length); returns their end.
  uint64_t book(uint64_t start, uint64_t length, std::span<const uint32_t> accesses) {
    return banks_.book(start, length, accesses);
  }
  [[nodiscard]] uint32_t banks() const { return banks_.banks(); }
  // Bytes after which the banks repeat.
  [[nodiscard]] uint64_t interleave() const { return uint64_t{banks()} << bank_shift_; }

 private:
  std::vector<uint8_t> bytes_;
  uint32_t bank_shift_;
  bool poison_;
  uint64_t touched_low_ = 0, touched_high_;
  timing::BankOccupancy banks_;
};

}  // namespace npu::model
