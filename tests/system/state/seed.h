// SPDX-License-Identifier: Apache-2.0
// The seed of random tests.
#pragma once

#include <cstdint>

namespace npu::test {

// Prints and returns the seed of one of the parts that a long test is split into; the environment variable
// NPU_STATE_SEED changes all of them.
[[nodiscard]] uint32_t print_seed(uint32_t shard);

// A number of tries: what the environment variable says, else `usual`.
[[nodiscard]] int tries(const char* variable, int usual);

}  // namespace npu::test
