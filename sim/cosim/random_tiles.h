// SPDX-License-Identifier: Apache-2.0
// Random tiles for the engines: commands that every machine of these sizes accepts, and the memory that they work on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "sim/cosim/lockstep.h"
#include "sim/cosim/rtl_engine.h"

namespace npu::cosim {

struct Tile {
  std::vector<uint32_t> command;
  std::vector<MemoryBlock> memory;
  std::string kind;  // what tiles are counted by: "conv int8 single32", "ewise", "pool average", ...
  std::string text;  // shape and types, in words
};

// A function of its arguments: the same tile for the same seed, in every process. Sizes lie around those of the
// machine; its formula gives it at most `most_cycles`.
[[nodiscard]] Tile random_tile(Unit unit, const contract::Capabilities& caps, uint64_t seed, uint64_t most_cycles);

}  // namespace npu::cosim
