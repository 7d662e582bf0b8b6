// SPDX-License-Identifier: Apache-2.0
// DMA commands as the address generator sees them, and what it has to make of them.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "hw/contract/dma_sides.h"
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
// Of a side from address `base`: each piece of the model's walk in beats of at most port_bytes. `offsets`: of the rows
// of an indexed side.
[[nodiscard]] std::vector<DmaBeat> dma_beats(const contract::DmaSide& side, uint64_t base, uint32_t port_bytes,
                                             std::span<const int64_t> offsets = {});
// Of its indices.
[[nodiscard]] std::vector<DmaBeat> index_beats(const contract::DmaCommand& command, uint64_t base, uint32_t port_bytes);

// As many as a gather or scatter needs, each of them right; none for other commands.
[[nodiscard]] std::vector<int32_t> random_indices(const contract::DmaCommand& command, std::mt19937_64& random);
[[nodiscard]] std::vector<int64_t> row_offsets(const contract::DmaCommand& command, std::span<const int32_t> indices);

// Byte `index` of what a fill writes.
[[nodiscard]] uint8_t fill_byte(const contract::DmaCommand& command, uint64_t index);

}  // namespace npu::cosim
