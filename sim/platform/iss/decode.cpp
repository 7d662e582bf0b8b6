// SPDX-License-Identifier: GPL-2.0-only
#include "sim/platform/iss/decode.h"

namespace npu::iss {

namespace {

using Kind = MemoryAccess::Kind;

constexpr uint32_t kStackPointer = 2;

uint32_t bits(uint32_t word, uint32_t high, uint32_t low) { return (word >> low) & ((1u << (high - low + 1)) - 1); }
uint32_t sign_extend_12(uint32_t value) { return (value ^ 0x800) - 0x800; }

MemoryAccess compressed(uint32_t word) {
  // c.lw, c.sw: registers x8 to x15. c.lwsp, c.swsp: any register, base sp.
  const uint32_t near_offset = bits(word, 12, 10) << 3 | bits(word, 6, 6) << 2 | bits(word, 5, 5) << 6;
  const uint32_t near_base = 8 + bits(word, 9, 7);
  switch (bits(word, 15, 13) << 2 | bits(word, 1, 0)) {
    case 0b010'00:
      return {Kind::kLoad, false, 4, near_base, near_offset, 8 + bits(word, 4, 2)};
    case 0b110'00:
      return {Kind::kStore, false, 4, near_base, near_offset, 0};
    case 0b010'10:
      return {Kind::kLoad,
              false,
              4,
              kStackPointer,
              bits(word, 12, 12) << 5 | bits(word, 6, 4) << 2 | bits(word, 3, 2) << 6,
              bits(word, 11, 7)};
    case 0b110'10:
      return {Kind::kStore, false, 4, kStackPointer, bits(word, 12, 9) << 2 | bits(word, 8, 7) << 6, 0};
    default:
      return {};
  }
}

}  // namespace

MemoryAccess decode_access(uint32_t word) {
  if (instruction_bytes(static_cast<uint16_t>(word)) == 2) return compressed(word);
  const uint32_t base = bits(word, 19, 15), destination = bits(word, 11, 7), width = 1u << bits(word, 13, 12);
  switch (bits(word, 6, 0)) {
    case 0x03:
      return {Kind::kLoad, false, width, base, sign_extend_12(bits(word, 31, 20)), destination};
    case 0x23:
      return {Kind::kStore, false, width, base, sign_extend_12(bits(word, 31, 25) << 5 | bits(word, 11, 7)), 0};
    case 0x2f:
      return {Kind::kAtomic, bits(word, 31, 27) == 2, 4, base, 0, destination};
    default:
      return {};
  }
}

}  // namespace npu::iss
