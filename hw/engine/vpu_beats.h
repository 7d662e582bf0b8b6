// SPDX-License-Identifier: Apache-2.0
// The memory traffic of VPU tiles. Every operand is read once a load, broadcast elements once; results are written
// once; tables and parameter blocks are read once, before the start. A pooling window reads each input element once a
// position that it falls on, a reduction each element once.
#pragma once

#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"
#include "hw/timing/cycles.h"

namespace npu::engine {

void set_time(TileResult& result, const timing::Cycles& cycles, std::vector<BeatRun> beats);

[[nodiscard]] std::vector<BeatRun> ewise_beats(const EwiseTile& tile, const contract::Capabilities& caps);
[[nodiscard]] std::vector<BeatRun> pool_beats(const PoolTile& tile, const contract::Capabilities& caps);
[[nodiscard]] std::vector<BeatRun> reduce_beats(const ReduceTile& tile, const contract::Capabilities& caps);

}  // namespace npu::engine
