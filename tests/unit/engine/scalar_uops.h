// SPDX-License-Identifier: Apache-2.0
// Micro-operations one value at a time, and random element-wise tiles with their expected bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "sim/cosim/random_ewise.h"
#include "tests/unit/engine/scalar_math.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {

// The result of one micro-operation: values are those of its registers a, b and imm0 (select, fma). `blob` is the
// operand b of rescale and tables, `channel` the index of the innermost dimension.
[[nodiscard]] int64_t scalar_uop(const contract::Uop& uop, std::array<int64_t, 3> values, const uint8_t* blob,
                                 int64_t channel);

// What a load (sign-extended) finds after `value` was stored.
[[nodiscard]] int64_t as_stored(int64_t value, contract::Element type);

struct EwiseCase {
  contract::VpuEwiseCommand command;
  std::vector<uint32_t> words;
  TestMemory memory{0};
  std::vector<uint8_t> expected;
  int64_t elements = 0;
};
[[nodiscard]] EwiseCase make_ewise_case(Random& random);
[[nodiscard]] EwiseCase make_ewise_case(const cosim::EwisePlan& plan, Random& random);

}  // namespace npu::engine::testing
