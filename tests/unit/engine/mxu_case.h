// SPDX-License-Identifier: Apache-2.0
// A whole MXU tile for tests: memory with random operands, the command, and the expected bytes from naive loops.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "sim/cosim/random_mxu.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {

using cosim::MxuShape;

// FP32 patterns, as limits of the output stage that clamp nothing.
inline constexpr int32_t kPlusInfinity = 0x7f800000, kMinusInfinity = INT32_MIN | kPlusInfinity;
// A convolution of 1 x 1 of floating point that keeps all values in FP32.
[[nodiscard]] MxuShape plain_float_shape(contract::Element format, int64_t in_c, int64_t out_c);

struct MxuCase {
  contract::MxuCommand command;
  std::vector<uint32_t> words;
  TestMemory memory{0};
  std::vector<uint8_t> expected;  // the scratchpad after the tile
  int64_t elements = 0;           // results
};

// Operands fill the scratchpad one after the other with poison between them. The machine says in which order floating
// point is summed. `change` may put other operands there.
[[nodiscard]] MxuCase make_case(const MxuShape& shape, Random& random,
                                const contract::Capabilities& caps = test_machine(),
                                const std::function<void(cosim::MadeTile<contract::MxuCommand>&)>& change = {});

}  // namespace npu::engine::testing
