// SPDX-License-Identifier: Apache-2.0
// Reductions over the middle of three dimensions.
#pragma once

#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"
#include "hw/engine/vpu_reduce_tile.h"

namespace npu::engine {

class ReduceRunner {
 public:
  explicit ReduceRunner(const contract::Capabilities& caps) : caps_(caps) {}
  [[nodiscard]] TileResult run(const ReduceTile& tile, MemoryView& memory, bool timed);

 private:
  const contract::Capabilities& caps_;
  std::vector<int32_t> best_, index_;
};

}  // namespace npu::engine
