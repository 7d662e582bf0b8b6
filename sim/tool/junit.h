// SPDX-License-Identifier: Apache-2.0
// JUnit XML, which continuous integration reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npu::tool {

struct JunitCase {
  enum class Result { kPassed, kFailure, kError, kSkipped };
  std::string suite, name;
  Result result = Result::kPassed;
  std::string type, message;      // of what did not pass
  std::optional<double> seconds;  // of host time
};

// Suites in the order of their names, cases in the order given. What is not printable ASCII becomes '?'.
[[nodiscard]] std::string junit(std::string_view name, const std::vector<JunitCase>& cases);

// Names come from files: what is not printable ASCII does not reach the terminal.
[[nodiscard]] std::string printable(std::string text);

}  // namespace npu::tool
