// SPDX-License-Identifier: Apache-2.0
// The requests of one port of a tile, as the crossbar takes them: a demand, and where its sweeps lie.
#pragma once

#include <cstdint>

#include "hw/engine/tile_ports.h"
#include "hw/timing/request_walk.h"

namespace npu::engine {

// Where the bytes of a sweep begin.
struct SweepPlace {
  timing::OnChip memory = timing::OnChip::kScratchpad;
  uint64_t address = 0;
};

// From the first request of `demand` on. place(sweep) is asked of each sweep that moves something.
template <class F>
void start_walk(timing::RequestWalk& walk, const PortDemand& demand, F place) {
  walk.clear();
  for (const Sweep& sweep : demand.sweeps) {
    const SweepPlace at = sweep.bytes == 0 ? SweepPlace{} : place(sweep);
    walk.add({at.memory, sweep.access == Access::kWrite, at.address, sweep.extent.bytes, sweep.bytes, sweep.requests});
  }
  walk.take_turns(demand.turns);
}

}  // namespace npu::engine
