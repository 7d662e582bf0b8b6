// SPDX-License-Identifier: Apache-2.0
// The one exception type of the project: a mistake of the user (or of a device), with its registered code.
// Our own bugs do not use it: they call panic(), which names the place and aborts.
#pragma once

#include <stdexcept>
#include <string>

#include "hw/contract/gen/errors.h"

namespace npu {

class Error : public std::runtime_error {
 public:
  Error(contract::ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] contract::ErrorCode code() const { return code_; }
  // Exit status of the command line: the class of the code.
  [[nodiscard]] int exit_status() const { return static_cast<int>(code_) >> 8; }

 private:
  contract::ErrorCode code_;
};

// Reports a bug of this project on stderr with its location and aborts.
[[noreturn]] void panic(const char* file, int line, const std::string& message);

}  // namespace npu

// A condition that only a bug of ours can break; always checked.
#define NPU_CHECK(condition)                                                   \
  do {                                                                         \
    if (!(condition)) ::npu::panic(__FILE__, __LINE__, "failed: " #condition); \
  } while (false)
