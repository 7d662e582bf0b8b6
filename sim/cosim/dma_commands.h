// SPDX-License-Identifier: Apache-2.0
// DMA commands as the address generator sees them, and what it has to make of them.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "hw/contract/gen/commands.h"

namespace npu::cosim {

// Counts are small, strides are all sorts: of pieces that follow each other, backwards, 0, far away.
[[nodiscard]] contract::DmaCommand random_dma_command(std::mt19937_64& random);
[[nodiscard]] std::string describe(const contract::DmaCommand& command);

struct DmaBeat {
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool last = false;
};
// Of the side with these strides, from address `base`: each piece of the model's walk in beats of at most port_bytes.
[[nodiscard]] std::vector<DmaBeat> dma_beats(const contract::DmaCommand& command, uint64_t base,
                                             const std::array<int32_t, 5>& stride, uint32_t port_bytes);

// Byte `index` of what a fill writes.
[[nodiscard]] uint8_t fill_byte(const contract::DmaCommand& command, uint64_t index);

}  // namespace npu::cosim
