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
