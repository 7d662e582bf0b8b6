// SPDX-License-Identifier: Apache-2.0
// Bytes that a command reads or writes, for tests of liveness.
#pragma once

#include <cstdint>

#include "driver/compiler/schedule/liveness.h"

namespace npu::compiler::testing {

// `run` bytes of the scratchpad from `low` on.
[[nodiscard]] inline backend::ByteSet scratchpad_bytes(int64_t low, int64_t run, bool write) {
  backend::ByteSet set;
  set.space = backend::kScratchpadSpace;
  set.write = write;
  set.low = low;
  set.high = low + run;
  set.run = run;
  return set;
}

}  // namespace npu::compiler::testing
