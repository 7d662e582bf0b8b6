// SPDX-License-Identifier: Apache-2.0
// Token scoreboard: how many commands of each queue were issued and have completed. A token count in a command is
// turned into an absolute target when the command is issued, so a stream can be placed anywhere.
#pragma once

#include <array>
#include <cstdint>

#include "hw/contract/gen/commands.h"
#include "hw/contract/queues.h"
#include "hw/model/command.h"
#include "hw/timing/sequencer_cycles.h"

namespace npu::model {

class Scoreboard {
 public:
  void begin_job() {
    issued_.fill(0);
    completed_.fill(0);
  }

  // wait[q] = k > 0 asks for all but the last k - 1 of the commands that queue q was given so far.
  [[nodiscard]] TokenTargets targets(const std::array<uint8_t, contract::kWaitQueues>& wait) const {
    TokenTargets result{};
    for (uint32_t queue = 0; queue < contract::kEngineQueues; ++queue) {
      if (wait[queue] > 0 && issued_[queue] >= wait[queue]) result[queue] = issued_[queue] - wait[queue] + 1;
    }
    return result;
  }
  void issue(uint32_t queue) { ++issued_[queue]; }
  void complete(uint32_t queue) { ++completed_[queue]; }

  // The first queue that has not come as far as `targets` says, or contract::kEngineQueues when all have.
  [[nodiscard]] uint32_t missing(const TokenTargets& targets) const {
    for (uint32_t queue = 0; queue < contract::kEngineQueues; ++queue) {
      if (completed_[queue] < targets[queue]) return queue;
    }
    return contract::kEngineQueues;
  }
  [[nodiscard]] bool drained() const { return issued_ == completed_; }
  [[nodiscard]] TokenTargets all_issued() const { return issued_; }
  [[nodiscard]] timing::UnderWay under_way() const {
    timing::UnderWay sum;
    for (const contract::Queue queue : contract::kQueuesOfEngines) {
      sum.add(queue, issued_[contract::index_of(queue)] - completed_[contract::index_of(queue)]);
    }
    return sum;
  }

 private:
  TokenTargets issued_{}, completed_{};
};

}  // namespace npu::model
