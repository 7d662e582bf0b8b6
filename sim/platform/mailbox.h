// Hand-over of requests from the calling thread to the simulation's and back: each side spins for about a millisecond,
// since a small job is over by then and waking a sleeping thread takes longer than handing over, and then sleeps.
#pragma once

#include <atomic>
#include <cstdint>

namespace npu::platform {

class Mailbox {
 public:
  // Caller: hands over and returns when the other side has answered. Everything written before is visible there, and
  // what it wrote is visible here after.
  void call() {
    post();
    wait_for(kIdle);
  }
  // Caller: a last request that is not answered.
  void post() { set(kRequest); }
  // Server: waits for a request; answer() ends it.
  void receive() { wait_for(kRequest); }
  void answer() { set(kIdle); }

 private:
  static constexpr uint32_t kIdle = 0, kRequest = 1;
  static constexpr int kSpins = 2000;

  void set(uint32_t value) {
    state_.store(value, std::memory_order_release);
    state_.notify_all();
  }
  void wait_for(uint32_t value) {
    for (int i = 0; i < kSpins; ++i) {
      if (state_.load(std::memory_order_acquire) == value) return;
      pause();
    }
    for (uint32_t seen; (seen = state_.load(std::memory_order_acquire)) != value;) state_.wait(seen);
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  std::atomic<uint32_t> state_{kIdle};
};

}  // namespace npu::platform
