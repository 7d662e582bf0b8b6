// SPDX-License-Identifier: Apache-2.0
// MXU tiles of floating point: products and sums in the order of the array.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/channel_params.h"
#include "hw/engine/kernels.h"
#include "hw/engine/mxu_tile.h"

namespace npu::engine {

class FloatTiles {
 public:
  FloatTiles(const contract::Capabilities& caps, const Kernels& kernels) : caps_(caps), kernels_(kernels) {}
  // `at` are the tile's operands, `params` its parameter block.
  void run(const MxuTile& tile, const MxuOperands& at, const ChannelParams& params);

 private:
  void set_cycles(const MxuTile& tile);
  void set_stage(const MxuTile& tile, const ChannelParams& params);
  void load_input(const MxuTile& tile, const uint8_t* src);
  void load_panels(const MxuTile& tile, const uint8_t* weights);
  void run_sums(const MxuTile& tile, const MxuOperands& at);
  void run_depthwise(const MxuTile& tile, const MxuOperands& at);

  // First channel of an input position; null outside of the input box.
  [[nodiscard]] const float* input_at(const MxuTile& tile, int64_t y, int64_t x) const;
  // Calls visit(tap, first channel or null) for each kernel position of an output pixel.
  template <class Visit>
  void for_each_tap(const MxuTile& tile, uint64_t pixel, Visit visit) const;
  // The window of an output pixel as a row of the reduction; false where part of it lies outside of the input box.
  bool read_patch(const MxuTile& tile, uint64_t pixel, float* to) const;
  // The panel without the weights of what lies outside of the pixel's window.
  const float* panel_inside(const MxuTile& tile, uint64_t pixel, size_t panel);

  const contract::Capabilities& caps_;
  const Kernels& kernels_;

  // Of the tile at hand.
  std::vector<uint32_t> cycles_;  // elements of the reduction (depthwise: positions) that each cycle takes
  FloatOutput stage_;
  std::vector<float> bias_;
  std::vector<float> input_;    // [rows][cols][in_c] of what the tile touches
  std::vector<float> weights_;  // panels of [reduction][kPanel]; depthwise [taps][out_c]
  bool weights_finite_ = true;
  std::vector<float> patches_, acc_, inside_, expanded_;
};

}  // namespace npu::engine
