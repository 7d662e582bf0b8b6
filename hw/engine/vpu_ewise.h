// SPDX-License-Identifier: Apache-2.0
// Element-wise tiles: a micro-program over blocks of elements.
#pragma once

#include <array>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/channel_params.h"
#include "hw/engine/engine.h"
#include "hw/engine/kernels.h"
#include "hw/engine/scratch.h"
#include "hw/engine/vpu_ewise_tile.h"
#include "hw/engine/vpu_uops.h"

namespace npu::engine {

// Elements are computed in blocks, and a block loads before it stores: a result may take the place of an operand that
// is walked the same way; any other overlap of a result with an operand gives no defined values.
class EwiseRunner {
 public:
  EwiseRunner(const contract::Capabilities& caps, const Kernels& kernels) : caps_(caps), kernels_(kernels) {}
  [[nodiscard]] TileResult run(const EwiseTile& tile, MemoryView& memory, bool timed);

 private:
  static constexpr size_t kDims = 4;
  // The iteration space after dimensions of 1 went and dimensions that continue each other in every operand merged.
  struct Loops {
    std::array<uint64_t, kDims> dims = {1, 1, 1, 1};
    std::array<std::array<int64_t, kDims>, contract::kMaxOperands> strides{};
  };

  [[nodiscard]] static Loops merge_loops(const EwiseTile& tile);
  void prepare_rescales(const EwiseTile& tile, uint64_t inner, uint64_t rows);
  void execute(const EwiseTile& tile);

  const contract::Capabilities& caps_;
  const Kernels& kernels_;
  EwiseOperands operands_;
  std::array<UopStream, contract::kMaxOperands> streams_{};
  std::array<UopRescale, contract::kMaxUops> rescales_{};
  std::array<ChannelParams, contract::kMaxUops> params_;
  Scratch registers_;
};

}  // namespace npu::engine
