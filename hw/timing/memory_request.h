// SPDX-License-Identifier: Apache-2.0
// What a port asks the memories on the chip for.
#pragma once

#include <cstdint>

namespace npu::timing {

enum class OnChip : uint8_t { kScratchpad, kPersistent };
inline constexpr uint32_t kOnChipMemories = 2;

using OnChipSet = uint8_t;  // a bit a memory
[[nodiscard]] constexpr OnChipSet set_of(OnChip memory) {
  return static_cast<OnChipSet>(1u << static_cast<uint32_t>(memory));
}
inline constexpr OnChipSet kBothMemories = set_of(OnChip::kScratchpad) | set_of(OnChip::kPersistent);

// Bytes that follow each other. None: granted in the cycle that asks.
struct MemoryRequest {
  OnChip memory = OnChip::kScratchpad;
  bool write = false;
  uint64_t address = 0, bytes = 0;
};

}  // namespace npu::timing
