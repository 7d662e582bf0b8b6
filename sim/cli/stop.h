// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM for commands that clean up before they end.
#pragma once

#include <exception>
#include <functional>

namespace npu::cli {

// Thrown where a command notices that it should end.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped by a signal"; }
};

// Runs `body` with the two signals caught, and returns its exit status, or 128 + signal when it throws Stopped. A
// second signal ends the program at once. Signals that are ignored, as under nohup, stay so.
[[nodiscard]] int stoppable(const std::function<int()>& body);

// The signal that came; 0 when none did.
[[nodiscard]] int stop_signal();
// Throws Stopped after a signal. Any thread may call it.
void check_stopped();

}  // namespace npu::cli
