// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/completions.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "driver/runtime/device_state.h"

namespace npu::runtime {
namespace {

constexpr std::chrono::nanoseconds kLongRun = std::chrono::hours(1);

// Signals are the program's: a thread that is made meanwhile gets none.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

// What outlives the device where its last handle goes in a function that the thread calls. The mutex is the last one
// that is taken: nothing is called with it.
struct Completions::Shared {
  struct Call {
    const JobState* job;
    std::function<void()> function;
  };

  std::mutex mutex;
  std::condition_variable change;
  std::thread thread;
  bool stop = false;                 // the device is gone or goes
  bool jobs_in_flight = false;       // and the device can be reached
  uint64_t changes = 0;              // of jobs_in_flight by jobs
  std::deque<Call> calls;            // to be made
  const JobState* caller = nullptr;  // whose function is being called
  std::atomic<bool> leave{false};    // the thread has something else to do than to let the device run
};

Completions::Completions(DeviceState& device) : device_(device), shared_(std::make_shared<Shared>()) {}

Completions::~Completions() {
  std::thread thread;
  {
    const std::scoped_lock guard(shared_->mutex);
    shared_->stop = true;
    shared_->leave = true;
    thread = std::move(shared_->thread);
  }
  shared_->change.notify_all();
  if (thread.joinable()) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      { const Lock wakes_it(device_.mutex); }
      thread.join();
    }
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

int Completions::file_descriptor() {
  if (descriptor_ < 0) {
    descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor_ < 0) {
      throw Error(contract::ErrorCode::kBudgetExceeded,
                  fmt::format("the system gives no file descriptor: {}.", std::strerror(errno)));
    }
    show();
  }
  start();
  return descriptor_;
}

void Completions::start() {
  const std::scoped_lock guard(shared_->mutex);
  if (shared_->thread.joinable()) return;
  shared_->jobs_in_flight = device_.jobs_in_flight > 0;
  try {
    const SignalsBlocked blocked;
    shared_->thread = std::thread([shared = shared_, &device = device_] { run(shared, device); });
  } catch (const std::system_error& error) {
    throw Error(contract::ErrorCode::kBudgetExceeded,
                fmt::format("the system gives no thread for the ends of jobs: {}.", error.what()));
  }
}

void Completions::jobs_in_flight(uint32_t count) {
  failed_ = false;
  show();
  const std::scoped_lock guard(shared_->mutex);
  shared_->jobs_in_flight = count > 0;
  ++shared_->changes;
  if (count == 0) shared_->leave = true;
  shared_->change.notify_all();
}

void Completions::call(const JobState* job, std::function<void()> function) {
  const std::scoped_lock guard(shared_->mutex);
  shared_->calls.push_back({job, std::move(function)});
  shared_->leave = true;
  shared_->change.notify_all();
}

void Completions::forget(const JobState* job) {
  std::vector<std::function<void()>> forgotten;  // what they hold may end with them, behind the guard
  std::unique_lock guard(shared_->mutex);
  for (Shared::Call& call : shared_->calls) {
    if (call.job == job) forgotten.push_back(std::move(call.function));
  }
  std::erase_if(shared_->calls, [job](const Shared::Call& call) { return call.job == job; });
  if (shared_->thread.get_id() == std::this_thread::get_id()) return;
  shared_->change.wait(guard, [&] { return shared_->caller != job; });
}

void Completions::set_uncollected(uint64_t count) {
  uncollected_ = count;
  show();
}

void Completions::show() {
  const bool readable = uncollected_ > 0 || failed_;
  if (descriptor_ < 0 || readable == shown_) return;
  shown_ = readable;
  uint64_t counter = 1;
  // Neither blocks nor fails: the counter goes from 0 to 1 and back.
  const ssize_t moved =
      readable ? ::write(descriptor_, &counter, sizeof counter) : ::read(descriptor_, &counter, sizeof counter);
  static_cast<void>(moved);
}

void Completions::run(const std::shared_ptr<Shared>& shared, DeviceState& device) {
  std::unique_lock guard(shared->mutex);
  for (;;) {
    shared->change.wait(guard, [&] { return shared->stop || !shared->calls.empty() || shared->jobs_in_flight; });
    if (shared->stop) return;
    if (!shared->calls.empty()) {
      Shared::Call call = std::move(shared->calls.front());
      shared->calls.pop_front();
      shared->caller = call.job;
      guard.unlock();
      call.function();
      call.function = nullptr;  // what it holds may end with it
      guard.lock();
      shared->caller = nullptr;
      shared->change.notify_all();
      continue;
    }
    shared->leave = false;
    const uint64_t seen = shared->changes;
    guard.unlock();
    try {
      static_cast<void>(device.await(shared->leave, kLongRun));
    } catch (const std::exception&) {
      // The failure is thrown where a caller waits for a job; the descriptor wakes that caller. Jobs that were started
      // since then are tried first.
      const Lock lock(device.mutex);
      guard.lock();
      const bool same = shared->changes == seen;
      if (same) shared->jobs_in_flight = false;
      guard.unlock();
      if (same) {
        device.completions.failed_ = true;
        device.completions.show();
      }
    }
    guard.lock();
  }
}

}  // namespace npu::runtime
