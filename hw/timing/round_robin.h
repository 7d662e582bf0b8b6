// SPDX-License-Identifier: Apache-2.0
// Who comes next: the arbiters of the memories, in C++.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace npu::timing {

// Of those that ask, the first behind the one that was served last; the lowest where there is none, and at the start.
class RoundRobin {
 public:
  // A bit a requester; 0: none.
  [[nodiscard]] uint32_t next(uint32_t asking) const {
    const uint32_t preferred = asking & behind_;
    return lowest(preferred != 0 ? preferred : asking);
  }
  void serve(uint32_t requester) {
    if (requester != 0) behind_ = ~(requester | (requester - 1));
  }

 private:
  static uint32_t lowest(uint32_t bits) { return bits & (~bits + 1); }

  uint32_t behind_ = 0;
};

// Banks of one access a cycle each, shared by up to 32 requesters.
class BankArbiter {
 public:
  explicit BankArbiter(uint32_t banks) : turns_(banks), asking_(banks) {}

  // A cycle: bank[r] is where requester r asks, if it does. Returns who is served, a bit each.
  uint32_t step(std::span<const std::optional<uint32_t>> bank) {
    for (uint32_t& asking : asking_) asking = 0;
    for (uint32_t r = 0; r < bank.size(); ++r) {
      if (bank[r]) asking_[*bank[r]] |= 1u << r;
    }
    uint32_t served = 0;
    for (uint32_t b = 0; b < turns_.size(); ++b) {
      const uint32_t winner = turns_[b].next(asking_[b]);
      turns_[b].serve(winner);
      served |= winner;
    }
    return served;
  }

 private:
  std::vector<RoundRobin> turns_;
  std::vector<uint32_t> asking_;
};

}  // namespace npu::timing
