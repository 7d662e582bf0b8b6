// SPDX-License-Identifier: Apache-2.0
// Who comes next: the arbiters of the memories, in C++.
#pragma once

#include <cstdint>

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

}  // namespace npu::timing
