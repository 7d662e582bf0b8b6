// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP: nothing that is half done stays.
#pragma once

#include <exception>
#include <functional>

namespace npu::tool {

// Thrown where a command notices that it should end.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped by a signal"; }
};

// Lets these signals remove what is unfinished (driver/graph/file.h) before they end the program. Signals that are
// ignored, as under nohup, stay so.
void clean_up_on_signals();

// Runs `body` with the signals caught, and returns its exit status, or 128 + signal when it throws Stopped: for
// commands that have more to clean up. A second signal ends the program at once.
[[nodiscard]] int stoppable(const std::function<int()>& body);

// The signal that came; 0 when none did.
[[nodiscard]] int stop_signal();
// Throws Stopped after a signal. Any thread may call it.
void check_stopped();

}  // namespace npu::tool
