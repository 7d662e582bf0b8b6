// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/stop.h"

#include <atomic>
#include <csignal>

#include "driver/graph/file.h"

namespace npu::tool {
namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);  // else no handler may write it

void clean_up(int signal) {
  graph::Unfinished::remove_all();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void remember(int signal) {
  if (caught.exchange(signal) != 0) clean_up(signal);
}

void handle(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void clean_up_on_signals() { handle(clean_up); }

int stoppable(const std::function<int()>& body) {
  handle(remember);
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

}  // namespace npu::tool
