// SPDX-License-Identifier: Apache-2.0
// How a program hears of completions without waiting for a job: a file descriptor for event loops, and functions that
// are called. As soon as one of them is asked for, a thread lets the device run while jobs are in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace npu::runtime {

class DeviceState;
class JobState;

class Completions {
 public:
  explicit Completions(DeviceState& device);
  // Ends the thread, unless it is the one that calls: then it ends when it gets back.
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  // With the device's lock held:

  // Readable while a completion was not collected, or while the device cannot be reached. The same each time.
  [[nodiscard]] int file_descriptor();
  // From now on the thread lets the device run.
  void start();
  void jobs_in_flight(uint32_t count);
  // A job has ended, and later its end was told, or does not matter any more.
  void add() { set_uncollected(uncollected_ + 1); }
  void remove() { set_uncollected(uncollected_ - 1); }
  // The thread is to call the function, on behalf of the job.
  void call(const JobState* job, std::function<void()> function);

  // Without the lock: no function of the job is called any more. Waits for one that is, unless this thread is in it.
  void forget(const JobState* job);

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared, DeviceState& device);
  void set_uncollected(uint64_t count);
  void show();

  DeviceState& device_;
  const std::shared_ptr<Shared> shared_;  // with the thread
  int descriptor_ = -1;
  bool shown_ = false;  // the descriptor is readable
  bool failed_ = false;
  uint64_t uncollected_ = 0;
};

}  // namespace npu::runtime
