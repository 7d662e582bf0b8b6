// SPDX-License-Identifier: Apache-2.0
// Test hook: one command that never completes. Its unit keeps it as executing until the job is stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace npu::model {

class Hang {
 public:
  // The first command of `queue` whose index is `command` or larger, in whichever job it comes.
  void arm(uint32_t queue, uint32_t command) {
    queue_ = queue;
    command_ = command;
    armed_ = true;
  }
  void disarm() { armed_ = false; }
  [[nodiscard]] bool armed() const { return armed_; }
  // Called when it has struck.
  void on_strike(std::function<void()> struck) { struck_ = std::move(struck); }

  // For the unit that is about to execute a command: whether it is the one. Strikes once.
  [[nodiscard]] bool strikes(uint32_t queue, uint32_t command) { return armed_ && hits(queue, command); }

 private:
  bool hits(uint32_t queue, uint32_t command) {
    if (queue != queue_ || command < command_) return false;
    armed_ = false;
    if (struck_) struck_();
    return true;
  }

  bool armed_ = false;
  uint32_t queue_ = 0, command_ = 0;
  std::function<void()> struck_;
};

}  // namespace npu::model
