// SPDX-License-Identifier: Apache-2.0
// The sizes of a graph input on a command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace npu::tool {

struct ChosenShape {
  std::string input;
  std::vector<int64_t> sizes;
};

// NAME=5x4, each size from 1 to 2^31 - 1. Throws Error(kBadOption).
[[nodiscard]] ChosenShape parse_chosen_shape(const std::string& text);

}  // namespace npu::tool
