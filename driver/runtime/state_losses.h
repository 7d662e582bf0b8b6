// SPDX-License-Identifier: Apache-2.0
// Which contexts lost their variables with the power of the persistent SRAM and have not been told to go on, and who
// wants to know.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/runtime/runtime.h"

namespace npu::runtime {

class StateLosses {
 public:
  void add(uint16_t owner, StateLoss loss) { losses_[owner] = std::move(loss); }
  void acknowledge(uint16_t owner) { losses_.erase(owner); }
  void acknowledge_all() { losses_.clear(); }
  [[nodiscard]] bool lost(uint16_t owner) const { return losses_.contains(owner); }
  // What it lost and has not acknowledged, or null.
  [[nodiscard]] const StateLoss* find(uint16_t owner) const;
  // Throws Error(kPowerLost) naming what the context lost.
  void require_none(uint16_t owner) const;

  uint64_t listen(uint16_t owner, StateListener listener);
  // Nothing for an unknown id, or one of another owner.
  void remove_listener(uint16_t owner, uint64_t id);
  [[nodiscard]] std::vector<uint64_t> listeners_of(uint16_t owner) const;
  // Empty when it was removed.
  [[nodiscard]] StateListener listener(uint64_t id) const;

  // The context is gone.
  void close(uint16_t owner);

 private:
  std::map<uint16_t, StateLoss> losses_;
  std::map<uint64_t, std::pair<uint16_t, StateListener>> listeners_;
  uint64_t next_id_ = 1;
};

// "the persistent SRAM lost its power, and with it what this context held in 'a', 'b'; call ..."
[[nodiscard]] std::string describe_loss(const StateLoss& loss);

}  // namespace npu::runtime
