// SPDX-License-Identifier: Apache-2.0
// Weights of a tile in the kernels' panel layout.
#pragma once

#include <cstdint>

#include "hw/engine/kernels.h"
#include "hw/engine/mxu_tile.h"
#include "hw/engine/scratch.h"

namespace npu::engine {

// Panels of kPanel output channels, one after the other. 16-bit weights are split as high * 256 + low, low unsigned, so
// that products with 16-bit activations stay below 2^23; other weights have no low part.
class PackedWeights {
 public:
  // Packs the weights of a convolution or matmul at `weights`, laid out as the command says.
  void pack(const MxuTile& tile, const uint8_t* weights, const Kernels& kernels);

  [[nodiscard]] size_t panels() const { return panels_; }
  [[nodiscard]] size_t groups() const { return groups_; }
  [[nodiscard]] const uint8_t* panel(size_t index) const { return high_ + index * panel_bytes(); }
  // Null where there is no low part.
  [[nodiscard]] const uint8_t* low_panel(size_t index) const {
    return low_ == nullptr ? nullptr : low_ + index * panel_bytes();
  }

 private:
  [[nodiscard]] size_t panel_bytes() const { return groups_ * kPanel * kGroupBytes; }

  size_t panels_ = 0, groups_ = 0;
  uint8_t* high_ = nullptr;
  uint8_t* low_ = nullptr;
  Scratch high_bytes_, low_bytes_;
};

}  // namespace npu::engine
