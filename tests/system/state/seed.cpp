// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/seed.h"

#include <cstdlib>
#include <iostream>

namespace npu::test {

uint32_t print_seed(uint32_t shard) {
  const char* text = std::getenv("NPU_STATE_SEED");
  const uint32_t seed = text == nullptr ? 1 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  std::cout << "seed " << seed << " (NPU_STATE_SEED sets it), shard " << shard << '\n';
  return seed * 1000 + shard;
}

int tries(const char* variable, int usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::atoi(text);
}

}  // namespace npu::test
