// SPDX-License-Identifier: Apache-2.0
// Random programs for the control CPU.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

#include "hw/contract/gen/registers.h"

namespace npu::model::testing {

// A handler of traps, at the end of the code: goes on behind the instruction, somewhere in the code memory.
// csrr t5, mepc; addi t5, t5, 4; slli t5, t5, 17; srli t5, t5, 17; csrw mepc, t5; mret
inline constexpr std::array<uint32_t, 6> kHandlerCode = {0x34102f73, 0x004f0f13, 0x011f1f13,
                                                         0x011f5f13, 0x341f1073, 0x30200073};
inline constexpr uint32_t kRandomHandler = contract::kCpuCodeBytes - 4 * kHandlerCode.size();

// Registers point to where something is, mostly.
inline uint32_t random_pointer(std::mt19937& random) {
  constexpr std::array<uint32_t, 6> kBases = {contract::kCpuCodeBase,      contract::kCpuDataBase,
                                              contract::kCpuRegistersBase, contract::kCpuPsramBase,
                                              contract::kCpuDramBase,      contract::kCpuDataBase};
  const uint32_t word = random();
  return word % 4 == 0 ? word : kBases[word % kBases.size()] + (random() & 0x3ffe);
}

// Random instructions: bits as they come, or with an opcode that exists.
inline void fill_randomly(std::span<uint8_t> code, uint32_t seed) {
  constexpr std::array<uint32_t, 12> kOpcodes = {0x03, 0x0f, 0x13, 0x17, 0x23, 0x2f,
                                                 0x33, 0x37, 0x63, 0x67, 0x6f, 0x73};
  constexpr std::array<uint32_t, 8> kSystem = {0x30200073, 0x10500073, 0x00000073, 0x00100073,
                                               0x30046073, 0x34202573, 0x30529073, 0x0000100f};
  std::mt19937 random(seed);
  const uint32_t style = seed % 3;  // bits, opcodes, opcodes with short jumps
  for (size_t i = 0; i < code.size(); i += 4) {
    uint32_t word = random();
    if (style != 0 && random() % 4 != 0) word = (word & ~0x7fu) | kOpcodes[random() % kOpcodes.size()];
    if (style == 2 && (word & 0x7f) == 0x6f) word &= 0x03f00fff;
    if (style == 2 && (word & 0x7f) == 0x67) word = (word & ~0x7fu) | 0x13;
    if (random() % 64 == 0) word = kSystem[random() % kSystem.size()];
    std::memcpy(code.data() + i, &word, 4);
  }
  std::memcpy(code.data() + kRandomHandler, kHandlerCode.data(), sizeof kHandlerCode);
}

}  // namespace npu::model::testing
