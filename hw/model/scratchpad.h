// SPDX-License-Identifier: Apache-2.0
// The scratchpad's storage. Who has its banks when is the affair of hw/timing/crossbar.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"

namespace npu::model {

class Scratchpad {
 public:
  static constexpr uint8_t kPoison = 0xa5;
  static constexpr uint64_t kPage = contract::kResidentUnit;  // bytes that are poisoned together

  Scratchpad(const contract::Capabilities& caps, bool poison);

  // What earlier jobs have written to the pages of [base, base + limit) is overwritten with kPoison (if asked for at
  // construction). Both may be any number.
  void poison(uint64_t base, uint64_t limit);
  // Power is gone, and with it the content: all of it is kPoison.
  void lose();
  // Bytes [low, high) are written in this job: what the next job start has to poison.
  void touch(uint64_t low, uint64_t high);

  [[nodiscard]] std::span<uint8_t> bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  bool poison_;
  std::vector<bool> touched_;  // by page
};

}  // namespace npu::model
