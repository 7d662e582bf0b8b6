// SPDX-License-Identifier: Apache-2.0
// A thread beside the simulation's, for work that takes no simulated time and whose result is not needed yet.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "hw/model/hand_over.h"

namespace npu::model {

class Beside {
 public:
  Beside() = default;
  // Waits for what it is at.
  ~Beside() {
    if (!thread_.joinable()) return;
    if (busy_) wait();
    work_ = nullptr;
    hand_over_.post();
    thread_.join();
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  // Begins with `work`, which throws nothing. wait() must follow, before the next one.
  void start(std::function<void()> work) {
    work_ = std::move(work);
    busy_ = true;
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
    hand_over_.post();
  }
  void wait() {
    hand_over_.await_answer();
    busy_ = false;
  }

 private:
  // Little: between two tiles there is often more time than it takes to wake up.
  static constexpr std::chrono::microseconds kPatience{6};

  void serve() {
    for (;;) {
      hand_over_.receive();
      if (!work_) return;
      work_();
      hand_over_.answer();
    }
  }

  std::function<void()> work_;
  bool busy_ = false;  // the caller's
  HandOver hand_over_{kPatience};
  std::thread thread_;
};

}  // namespace npu::model
