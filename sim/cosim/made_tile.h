// SPDX-License-Identifier: Apache-2.0
// A command and the scratchpad that it works on, as the makers of random tiles hand them out.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/gen/commands.h"

namespace npu::cosim {

template <class Command>
struct MadeTile {
  Command command;
  std::vector<uint8_t> bytes;  // of the scratchpad, from its first one

  [[nodiscard]] uint8_t* at(const contract::Address& address) { return bytes.data() + address.offset; }
};

[[nodiscard]] inline contract::Address scratchpad(uint32_t offset) {
  return {offset, contract::Region::kScratchpad, 0};
}

// What no operand owns; it must still be there behind the tile.
inline constexpr uint8_t kPoison = 0xa5;

template <class Command>
[[nodiscard]] std::vector<uint32_t> encode(const Command& command) {
  std::vector<uint32_t> words;
  command.encode(words);
  return words;
}

}  // namespace npu::cosim
