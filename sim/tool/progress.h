// SPDX-License-Identifier: Apache-2.0
// Progress with rate and time left, on the standard error, for runs that take long: on a terminal, or where they take
// more than two seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace npu::tool {

class Progress {
 public:
  // `what` names a step ("invocation").
  Progress(int64_t total, std::string what, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One step is done.
  void step();
  // Some of the current step is done, 0 to 1.
  void part(double fraction);

 private:
  using Clock = std::chrono::steady_clock;

  void update(double done);
  void print(double done, Clock::time_point now);

  int64_t total_, done_ = 0;
  std::string what_;
  bool quiet_, terminal_;
  bool printed_ = false;
  Clock::time_point start_, last_;
};

}  // namespace npu::tool
