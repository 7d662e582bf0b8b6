// SPDX-License-Identifier: Apache-2.0
// Pooling tiles.
#pragma once

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"
#include "hw/engine/kernels.h"
#include "hw/engine/scratch.h"
#include "hw/engine/vpu_pool_tile.h"

namespace npu::engine {

class PoolRunner {
 public:
  PoolRunner(const contract::Capabilities& caps, const Kernels& kernels) : caps_(caps), kernels_(kernels) {}
  [[nodiscard]] TileResult run(const PoolTile& tile, MemoryView& memory, bool timed);

 private:
  void pool_pixel(const PoolTile& tile, int64_t out_y, int64_t out_x);

  const contract::Capabilities& caps_;
  const Kernels& kernels_;
  PoolOperands at_;
  contract::ParameterHeader header_;
  Scratch acc_bytes_;
};

}  // namespace npu::engine
