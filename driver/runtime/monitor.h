// SPDX-License-Identifier: Apache-2.0
// The lock of a device. Its holder may use the driver's state and the HAL; it is granted in order of asking, and
// the same thread may take it again. Of all threads that wait for the end of a job, one at a time (the leader) waits in
// the HAL, for all; it holds the lock while it does, and anybody who asks for the lock meanwhile wakes it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "driver/runtime/hal.h"

namespace npu::runtime {

// How a wait in the HAL ended.
enum class Wakeup : uint8_t {
  kInterrupt,
  kTimeout,
  kWoken,   // another thread wanted the lock, perhaps before anything happened
  kNothing  // at once and for no reason: perhaps nothing in the device can move any more
};

class Monitor {
 public:
  explicit Monitor(Hal& hal) : hal_(hal) {}
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void lock();
  // Calls what was deferred, when it gives the lock free.
  void unlock();
  // Lock held. `action` is called once, by this thread, when it has given the lock free. What it throws is lost.
  void defer(std::function<void()> action) { deferred_.push_back(std::move(action)); }

  // Lock held. Lets the device run for at most `slice`, shortly when others ask for the lock.
  [[nodiscard]] Wakeup wait_interrupt(std::chrono::nanoseconds slice);
  // Lock held. A flag that await() watches was set: the followers look when the lock is free.
  void announce() { news_pending_ = true; }

  // Lock not held. Returns when `ended` is set (true) or `timeout` has passed (false). As leader calls `look` with the
  // lock held, again and again: it waits with wait_interrupt() for at most the time it is given, and sets the flags of
  // those that ended.
  [[nodiscard]] bool await(const std::atomic<bool>& ended, std::chrono::nanoseconds timeout,
                           std::chrono::nanoseconds slice, const std::function<Wakeup(std::chrono::nanoseconds)>& look);

 private:
  // True: this thread leads now. False: `ended`, or no time left.
  [[nodiscard]] bool follow(const std::atomic<bool>& ended, std::chrono::nanoseconds& left);
  void step_down();
  using Actions = std::vector<std::function<void()>>;
  // Gives the lock free, with what was deferred.
  [[nodiscard]] Actions release();
  static void run(const Actions& actions);
  // As leader; until `ended` is set, no time is left, or something was deferred, which goes to `actions`.
  void lead(const std::atomic<bool>& ended, std::chrono::nanoseconds& left, std::chrono::nanoseconds slice,
            const std::function<Wakeup(std::chrono::nanoseconds)>& look, Actions& actions);

  Hal& hal_;
  std::mutex gate_;  // guards everything below; held for moments only
  std::condition_variable turn_, news_;
  uint64_t next_ticket_ = 0, serving_ = 0;  // equal: the lock is free
  std::thread::id owner_;
  uint32_t depth_ = 0;
  bool in_hal_ = false;
  bool woken_ = false, woken_before_ = false;  // wake() was called in this wait, or the one before
  bool leader_ = false;
  bool news_pending_ = false;  // guarded by the lock itself, as is:
  Actions deferred_;
};

}  // namespace npu::runtime
