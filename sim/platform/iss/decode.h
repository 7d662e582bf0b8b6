// SPDX-License-Identifier: GPL-2.0-only
// As much of RV32IMAC's encoding as faults and traps need: instruction length, memory accesses, and which instructions
// the module executes itself.
#pragma once

#include <cstdint>

namespace npu::iss {

inline constexpr uint32_t kSystemOpcode = 0x73;
inline constexpr uint16_t kCompressedEbreak = 0x9002;

// Of its first halfword: 4 or 2 bytes.
[[nodiscard]] inline uint32_t instruction_bytes(uint16_t first) { return (first & 3) == 3 ? 4 : 2; }

// An instruction that accesses memory.
struct MemoryAccess {
  enum class Kind : uint8_t { kNone, kLoad, kStore, kAtomic };
  Kind kind = Kind::kNone;
  bool reserve = false;  // lr: an atomic access that only reads
  uint32_t bytes = 0;
  uint32_t base = 0;         // register
  uint32_t offset = 0;       // added to it, modulo 2^32
  uint32_t destination = 0;  // register that a load writes; 0: none
};

// `word`: the instruction, with its upper half unused if it is a compressed one.
[[nodiscard]] MemoryAccess decode_access(uint32_t word);

}  // namespace npu::iss
