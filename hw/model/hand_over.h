// SPDX-License-Identifier: Apache-2.0
// Hand-over of requests from one thread to another and back, as from the caller's to the simulation's: each side spins
// for a while, since a small job is over by then and waking a sleeping thread takes longer than handing over, and then
// sleeps. Where spinning was in vain, as for a long job or when the other side has no processor meanwhile, it spins
// less the next times.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace npu::model {

// Whether this computer can do two things at a time.
[[nodiscard]] inline bool several_processors() {
  static const bool several = std::thread::hardware_concurrency() > 1;
  return several;
}

class HandOver {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // `patience`: how long a side spins at most before it sleeps; unless said otherwise so long that a frame of a small
  // network ends meanwhile. On a single processor no side spins, since the other one could not go on.
  explicit HandOver(std::chrono::microseconds patience = kPatience)
      : patience_(several_processors() ? patience : patience.zero()) {}

  // Caller: hands over and returns when the other side has answered. Everything written before is visible there, and
  // what it wrote is visible here after.
  void call() {
    post();
    await_answer();
  }
  // Caller: hands over only; await_answer() must follow, unless it is a last request that is not answered.
  void post() { set(kRequest); }
  // Caller: with a deadline, false when there is no answer by then.
  void await_answer() { wait_for(kIdle, nullptr); }
  [[nodiscard]] bool await_answer(TimePoint deadline) { return wait_for(kIdle, &deadline); }
  // Server: waits for a request; answer() ends it.
  void receive() { wait_for(kRequest, nullptr); }
  void answer() { set(kIdle); }

 private:
  static constexpr uint32_t kIdle = 0, kRequest = 1;
  static constexpr std::chrono::microseconds kPatience{800};
  // Who has spun in vain does so no longer than kLittle the next kRetry times. The processor is not yielded meanwhile:
  // on a busy computer it would be gone for milliseconds, where one who sleeps is woken at once.
  static constexpr std::chrono::microseconds kLittle{60};
  static constexpr int kRetry = 16;
  static constexpr int kLooks = 64;  // between two at the clock

  // Either the sleeper counts itself before it looks at the state, or it sees the new state: both are sequentially
  // consistent.
  void set(uint32_t value) {
    state_.store(value);
    if (sleepers_.load() == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  bool wait_for(uint32_t value, const TimePoint* deadline) {
    if (spin_for(value, deadline)) return true;
    const auto reached = [this, value] { return state_.load() == value; };
    std::unique_lock lock(mutex_);
    ++sleepers_;
    if (deadline != nullptr) {
      changed_.wait_until(lock, *deadline, reached);
    } else {
      changed_.wait(lock, reached);
    }
    --sleepers_;
    return reached();
  }
  bool spin_for(uint32_t value, const TimePoint* deadline) {
    if (state_.load(std::memory_order_acquire) == value) return true;
    if (patience_ == patience_.zero()) return false;
    int& few = few_[value];
    const bool little = few > 0;
    few = little ? few - 1 : 0;
    TimePoint end = std::chrono::steady_clock::now() + (little ? std::min(patience_, kLittle) : patience_);
    if (deadline != nullptr) end = std::min(end, *deadline);
    do {
      for (int i = 0; i < kLooks; ++i) {
        pause();
        if (state_.load(std::memory_order_acquire) == value) return true;
      }
    } while (std::chrono::steady_clock::now() < end);
    if (!little) few = kRetry;
    return false;
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  const std::chrono::microseconds patience_;
  std::array<int, 2> few_{};  // waits with little patience that are left, by what is waited for: each side has its own
  std::atomic<uint32_t> state_{kIdle};
  std::atomic<uint32_t> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace npu::model
