// SPDX-License-Identifier: Apache-2.0
// What a queue does at this moment: the registers queue_state and queue_command.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/contract/gen/registers.h"

namespace npu::model {

struct QueueState {
  static constexpr uint32_t kNobody = 255;

  uint32_t waits_for = kNobody;  // queue
  bool holding = false;
  bool executing = false;
  uint32_t fifo = 0;
  uint32_t bursts = 0;
  uint32_t command = 0;  // of the one in hand

  [[nodiscard]] uint32_t encode() const {
    namespace reg = contract::reg;
    const auto narrow = [](uint32_t value) { return std::min(value, uint32_t{255}); };
    return waits_for << reg::kQueueStateWaitsForLsb | (holding ? reg::kQueueStateHoldingMask : 0) |
           (executing ? reg::kQueueStateExecutingMask : 0) | narrow(fifo) << reg::kQueueStateFifoLsb |
           narrow(bursts) << reg::kQueueStateBurstsLsb;
  }
};

}  // namespace npu::model
