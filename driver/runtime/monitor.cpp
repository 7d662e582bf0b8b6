// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/monitor.h"

#include <algorithm>
#include <utility>

#include "hw/contract/error.h"

namespace npu::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// How long the device runs when another thread asks for the lock already: it must get on however often they ask.
constexpr nanoseconds kShortSlice = std::chrono::microseconds(100);
// Waits on a condition variable are cut into pieces that no clock overflows with.
constexpr nanoseconds kLongest = std::chrono::hours(1);

}  // namespace

void Monitor::lock() {
  std::unique_lock gate(gate_);
  const std::thread::id self = std::this_thread::get_id();
  if (owner_ == self) {
    ++depth_;
    return;
  }
  const uint64_t ticket = next_ticket_++;
  if (in_hal_) {
    woken_ = true;
    hal_.wake();
  }
  turn_.wait(gate, [&] { return serving_ == ticket; });
  owner_ = self;
  depth_ = 1;
}

Monitor::Actions Monitor::release() {
  const std::scoped_lock gate(gate_);
  NPU_CHECK(owner_ == std::this_thread::get_id());
  if (--depth_ > 0) return {};
  Actions actions = std::exchange(deferred_, {});
  if (news_pending_) news_.notify_all();
  news_pending_ = false;
  owner_ = {};
  ++serving_;
  if (serving_ != next_ticket_) turn_.notify_all();
  return actions;
}

void Monitor::unlock() { run(release()); }

void Monitor::run(const Actions& actions) {
  for (const std::function<void()>& action : actions) {
    try {
      action();
    } catch (...) {
      // The caller that deferred it has been told so.
    }
  }
}

Wakeup Monitor::wait_interrupt(nanoseconds slice) {
  {
    const std::scoped_lock gate(gate_);
    NPU_CHECK(owner_ == std::this_thread::get_id());
    woken_ = next_ticket_ != serving_ + 1;  // somebody asks already
    in_hal_ = !woken_;
    if (woken_) slice = std::min(slice, kShortSlice);
  }
  const auto leave = [this] {
    const std::scoped_lock gate(gate_);
    in_hal_ = false;
    const bool woken = woken_ || woken_before_;
    woken_before_ = woken_;
    return woken;
  };
  const Clock::time_point start = Clock::now();
  bool up = false;
  try {
    up = hal_.wait_interrupt(slice);
  } catch (...) {
    leave();
    throw;
  }
  const bool woken = leave();
  if (up) return Wakeup::kInterrupt;
  if (woken) return Wakeup::kWoken;
  // A look that asks for no time at all cannot tell: what watches for a standstill looks at the device's time, too.
  const bool early = Clock::now() - start < slice / 2 || slice <= nanoseconds::zero();
  return early ? Wakeup::kNothing : Wakeup::kTimeout;
}

bool Monitor::follow(const std::atomic<bool>& ended, nanoseconds& left) {
  std::unique_lock gate(gate_);
  while (!ended) {
    if (!leader_) {
      leader_ = true;
      return true;
    }
    if (left <= nanoseconds::zero()) return false;
    const Clock::time_point start = Clock::now();
    news_.wait_for(gate, std::min(left, kLongest), [&] { return ended || !leader_; });
    left -= Clock::now() - start;
  }
  return false;
}

void Monitor::step_down() {
  const std::scoped_lock gate(gate_);
  leader_ = false;
  news_.notify_all();
}

void Monitor::lead(const std::atomic<bool>& ended, nanoseconds& left, nanoseconds slice,
                   const std::function<Wakeup(nanoseconds)>& look, Actions& actions) {
  struct Leadership {
    ~Leadership() { monitor.step_down(); }
    Monitor& monitor;
  } const leadership{*this};
  struct Turn {
    explicit Turn(Monitor& owner, Actions& to) : monitor(owner), actions(to) { monitor.lock(); }
    ~Turn() { actions = monitor.release(); }
    Monitor& monitor;
    Actions& actions;
  };
  do {
    const Clock::time_point asked = Clock::now();
    const Turn turn(*this, actions);
    if (ended) break;
    left -= Clock::now() - asked;
    const nanoseconds piece = std::clamp(left, nanoseconds::zero(), slice);
    const Clock::time_point start = Clock::now();
    const Wakeup wakeup = look(piece);
    // A device that returned early has had its slice all the same: nothing moves in it.
    const bool whole = wakeup == Wakeup::kTimeout || wakeup == Wakeup::kNothing;
    left -= whole ? piece : std::min<nanoseconds>(Clock::now() - start, piece);
  } while (left > nanoseconds::zero() && actions.empty());
}

bool Monitor::await(const std::atomic<bool>& ended, nanoseconds timeout, nanoseconds slice,
                    const std::function<Wakeup(nanoseconds)>& look) {
  nanoseconds left = timeout;
  do {
    if (!follow(ended, left)) return ended;
    Actions actions;
    try {
      lead(ended, left, slice, look, actions);
    } catch (...) {
      run(actions);
      throw;
    }
    run(actions);
  } while (!ended && left > nanoseconds::zero());
  return ended;
}

}  // namespace npu::runtime
