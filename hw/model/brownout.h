// SPDX-License-Identifier: Apache-2.0
// Test hook: power of engines and scratchpad breaks down in the middle of a write of a variable.
#pragma once

#include <cstdint>

namespace npu::model {

class Brownout {
 public:
  // When so many more bytes were written to variables; 0: never.
  void arm(uint32_t bytes) { left_ = bytes; }
  [[nodiscard]] uint32_t left() const { return left_; }

  // A command comes to the end of writing `bytes` to variables; counts down. True when power broke down before or with
  // the last of them: then as many as left() said before were written. Strikes once.
  [[nodiscard]] bool strikes(uint64_t bytes) {
    if (left_ == 0) return false;
    struck_ = bytes >= left_;
    left_ = struck_ ? 0 : left_ - static_cast<uint32_t>(bytes);
    return struck_;
  }
  // It has struck since this was last asked.
  [[nodiscard]] bool take_struck() {
    const bool struck = struck_;
    struck_ = false;
    return struck;
  }

 private:
  uint32_t left_ = 0;
  bool struck_ = false;
};

}  // namespace npu::model
