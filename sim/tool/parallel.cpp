// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "sim/tool/stop.h"

namespace npu::tool {

void run_parallel(size_t count, size_t jobs, Progress& progress,
                  const std::function<void(size_t index, size_t worker)>& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;  // of progress and failure
  std::exception_ptr failure;
  const auto run = [&](size_t worker) {
    try {
      for (size_t i = next++; i < count; i = next++) {
        check_stopped();
        work(i, worker);
        const std::lock_guard lock(mutex);
        progress.step();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> threads;
  const size_t workers = std::min(jobs, count);
  threads.reserve(workers);
  try {
    for (size_t worker = 1; worker < workers; ++worker) threads.emplace_back(run, worker);
  } catch (const std::system_error&) {
    // The system gives no more threads: those that are there do the work.
  }
  run(0);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace npu::tool
