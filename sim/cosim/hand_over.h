// SPDX-License-Identifier: Apache-2.0
// How long a tile takes in a device that hands over the schedule of its memory beats in chunks (hw/model's units), when
// memory grants by a trace: what the schedule's chunks say about a tile whose every request is granted or not.
#pragma once

#include <cstdint>
#include <span>

#include "hw/engine/engine.h"
#include "sim/cosim/grants.h"
#include "sim/cosim/rtl_engine.h"

namespace npu::cosim {

// Cycles of a tile of `cycles` with these beats. A chunk of engine::kChunkCycles ends when all of its cycles are over
// and every port was granted as often as it has beats in different cycles of the chunk. No percentage of `grants` may
// be 0.
[[nodiscard]] uint64_t handed_over_cycles(Unit unit, uint64_t cycles, std::span<const engine::BeatRun> beats,
                                          Grants grants);

}  // namespace npu::cosim
