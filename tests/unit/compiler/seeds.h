// SPDX-License-Identifier: Apache-2.0
// Which seeds a random test takes: few with every change, others each night (CMakeLists.txt).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace npu::compiler::testing {

struct Seeds {
  uint32_t first = 0, count = 0;
  [[nodiscard]] uint32_t end() const { return first + count; }
};

// `usual`, unless NPU_FIRST_SEED or NPU_SEEDS say otherwise. Prints them.
inline Seeds seeds_of_run(Seeds usual) {
  const auto number = [](const char* variable, uint32_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  };
  const Seeds seeds{number("NPU_FIRST_SEED", usual.first), number("NPU_SEEDS", usual.count)};
  std::cout << seeds.count << " seeds from " << seeds.first << " on (NPU_SEEDS, NPU_FIRST_SEED)\n";
  return seeds;
}

}  // namespace npu::compiler::testing
