// SPDX-License-Identifier: Apache-2.0
// What the sequencer takes for the stream, and how far its prefetch reads ahead.
#pragma once

#include <cstdint>

#include "hw/timing/cycles.h"

namespace npu::timing {

inline constexpr uint64_t kDecodedWordsPerCycle = 4;
// Of a command.
[[nodiscard]] constexpr uint64_t decode_cycles(uint64_t words) { return ceil_div(words, kDecodedWordsPerCycle); }

inline constexpr uint32_t kPrefetchBytes = 8192;

}  // namespace npu::timing
