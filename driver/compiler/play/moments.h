// SPDX-License-Identifier: Apache-2.0
// What is to happen when: moments in their order, in cycles from the start of a job.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace npu::compiler::play {

class Actor {
 public:
  virtual ~Actor() = default;
  // The moment has come that was set with `what`.
  virtual void act(uint32_t what) = 0;
};

class Moments {
 public:
  [[nodiscard]] uint64_t now() const { return now_; }
  // Of one cycle, moments come in the order in which they were set. None lies before now().
  void set(uint64_t cycle, Actor& actor, uint32_t what) { coming_.push({cycle, number_++, &actor, what}); }
  // False when nothing is to come any more.
  bool pass() {
    if (coming_.empty()) return false;
    const Moment moment = coming_.top();
    coming_.pop();
    now_ = moment.cycle;
    moment.actor->act(moment.what);
    return true;
  }

 private:
  struct Moment {
    uint64_t cycle, number;
    Actor* actor;
    uint32_t what;
    // For a queue whose top comes first.
    friend bool operator<(const Moment& a, const Moment& b) {
      return a.cycle != b.cycle ? a.cycle > b.cycle : a.number > b.number;
    }
  };

  std::priority_queue<Moment> coming_;
  uint64_t now_ = 0, number_ = 0;
};

}  // namespace npu::compiler::play
