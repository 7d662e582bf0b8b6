// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stop.h"

#include <atomic>
#include <csignal>

namespace npu::cli {
namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);  // else no handler may write it

void remember(int signal) { caught = signal; }

void catch_once(int signal) {
  struct sigaction action = {};
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(signal, &action, nullptr);
}

}  // namespace

int stoppable(const std::function<int()>& body) {
  catch_once(SIGINT);
  catch_once(SIGTERM);
  try {
    return body();
  } catch (const Stopped&) {
    return 128 + stop_signal();
  }
}

int stop_signal() { return caught; }

void check_stopped() {
  if (stop_signal() != 0) throw Stopped();
}

}  // namespace npu::cli
