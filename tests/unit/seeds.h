// SPDX-License-Identifier: Apache-2.0
// Which seeds a random test takes: few with every change, fewer with sanitizers, others each night (CMakeLists.txt).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace npu::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How many of so many seeds are taken. With sanitizers, which make a program some ten times as slow, one in six:
// results are compared for all of them without.
constexpr uint32_t seeds_for(uint32_t usual) {
  constexpr uint32_t kShare = 6;
  return kSanitized ? (usual + kShare - 1) / kShare : usual;
}

struct Seeds {
  uint32_t first = 0, count = 0;
  [[nodiscard]] uint32_t end() const { return first + count; }
};

// `usual`, as many as seeds_for() says, unless NPU_FIRST_SEED or NPU_SEEDS say otherwise. Prints them.
inline Seeds seeds_of_run(Seeds usual) {
  const auto number = [](const char* variable, uint32_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  };
  const Seeds seeds{number("NPU_FIRST_SEED", usual.first), number("NPU_SEEDS", seeds_for(usual.count))};
  std::cout << seeds.count << " seeds from " << seeds.first << " on (NPU_SEEDS, NPU_FIRST_SEED)\n";
  return seeds;
}

}  // namespace npu::test
