// SPDX-License-Identifier: Apache-2.0
// Reductions over the middle of three dimensions.
#pragma once

#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"
#include "hw/engine/vpu_reduce_float.h"
#include "hw/engine/vpu_reduce_tile.h"

namespace npu::engine {

class ReduceRunner {
 public:
  ReduceRunner(const contract::Capabilities& caps, const Kernels& kernels) : caps_(caps), floats_(caps, kernels) {}
  [[nodiscard]] TileResult run(const ReduceTile& tile, MemoryView& memory, bool timed);

 private:
  const contract::Capabilities& caps_;
  std::vector<int32_t> best_, index_;
  FloatReducer floats_;
};

}  // namespace npu::engine
