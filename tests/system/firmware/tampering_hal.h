// SPDX-License-Identifier: Apache-2.0
// A host that writes something else than its driver meant, once.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/system/device/forwarding_hal.h"

namespace npu::test {

class TamperingHal final : public ForwardingHal {
 public:
  using ForwardingHal::ForwardingHal;

  // The next write to the word of device memory at `address` gets `more` added.
  void tamper(uint64_t address, uint32_t more) { plan_ = {address, more}; }
  [[nodiscard]] bool tampered() const { return !plan_; }

  void write_memory(uint64_t address, std::span<const uint8_t> bytes) override {
    if (!plan_ || plan_->address < address || plan_->address + 4 > address + bytes.size()) {
      return ForwardingHal::write_memory(address, bytes);
    }
    std::vector<uint8_t> changed(bytes.begin(), bytes.end());
    uint32_t word = 0;
    std::memcpy(&word, changed.data() + (plan_->address - address), sizeof(word));
    word += plan_->more;
    std::memcpy(changed.data() + (plan_->address - address), &word, sizeof(word));
    plan_.reset();
    ForwardingHal::write_memory(address, changed);
  }

 private:
  struct Plan {
    uint64_t address = 0;
    uint32_t more = 0;
  };
  std::optional<Plan> plan_;
};

}  // namespace npu::test
