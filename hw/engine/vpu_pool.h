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
  // Rows and columns of the input that count.
  struct Window {
    Range rows, cols;
  };
  static Window window_of(const PoolTile& tile, int64_t out_y, int64_t out_x);
  // Calls visit(first channel) for each position, row by row; returns their number.
  template <class Visit>
  uint32_t for_each_tap(const PoolTile& tile, const Window& window, Visit visit) const;
  // Calls add(first bytes, their number) for at most kMaxTaps positions at a time; returns the number of all.
  template <class Add>
  uint32_t in_batches(const PoolTile& tile, const Window& window, Add add) const;
  void pool_integers(const PoolTile& tile, const Window& window, uint8_t* dst);
  void pool_floats(const PoolTile& tile, const Window& window, uint8_t* dst);

  const contract::Capabilities& caps_;
  const Kernels& kernels_;
  PoolOperands at_;
  contract::ParameterHeader header_;
  Scratch acc_bytes_;
};

}  // namespace npu::engine
