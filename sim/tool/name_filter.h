// SPDX-License-Identifier: Apache-2.0
// A regular expression that chooses cases or tests by name.
#pragma once

#include <regex>
#include <string>

namespace npu::tool {

class NameFilter {
 public:
  // `option` is where the user gave the expression: "--only". An empty one chooses everything. Throws
  // Error(bad_option).
  NameFilter(std::string option, const std::string& expression);

  // Whether the name has a match somewhere. Throws Error(bad_option) where finding it takes more than there is.
  [[nodiscard]] bool matches(const std::string& name) const;

 private:
  std::string option_;
  std::regex expression_;
};

}  // namespace npu::tool
