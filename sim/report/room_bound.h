// SPDX-License-Identifier: Apache-2.0
// The fewest cycles in which a machine can run an invocation of a network, given what its memories on the chip hold.
// Where all of a network goes through one tensor, the last element of that is there when the array has done the work of
// all that comes before it, and every weight of what comes behind it is still to be used for that element. The chip can
// hold as many of these weights as it has room; the rest is still to come from DRAM, however the work is cut and
// ordered. It is taken for granted that each result is computed in one go when its operands are there, and that all
// elements are wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "driver/graph/graph.h"
#include "hw/presets/preset.h"

namespace npu::report {

struct RoomBound {
  uint64_t cycles = 0;
  std::string tensor;         // that all goes through: the one at which most cycles follow
  uint64_t weight_bytes = 0;  // of convolutions and matrix products behind it, each byte once
  uint64_t chip_bytes = 0;    // that the chip holds at most: scratchpad, persistent SRAM, MXU and DMA channels
};

// Of the block that runs first of a valid graph; what other blocks do is left out. nullopt: no tensor is one that all
// goes through, the chip can hold what comes behind each, or sizes are open.
[[nodiscard]] std::optional<RoomBound> room_bound(const graph::Graph& graph, const presets::Preset& machine);

}  // namespace npu::report
