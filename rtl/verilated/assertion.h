// SPDX-License-Identifier: Apache-2.0
// What happens when an assertion of the RTL (rtl/lib/npu_assert.svh) does not hold: the caller that clocks the block is
// told, and may go on with others.
#pragma once

#include <string>

#include "hw/contract/error.h"

namespace npu::rtl {

// The block must be reset before it is used again.
class AssertionFailed : public Error {
 public:
  // `rule`: file, line and name, as Verilator has them.
  explicit AssertionFailed(const std::string& rule)
      : Error(contract::ErrorCode::kBug, "the RTL breaks a rule of its own: " + rule), rule_(rule) {}
  [[nodiscard]] const std::string& rule() const { return rule_; }

 private:
  std::string rule_;
};

// The first assertion that failed on this thread since the last call.
[[nodiscard]] std::string take_failed_assertion();

}  // namespace npu::rtl
