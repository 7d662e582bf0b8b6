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
  void run_sums(const MxuTile& tile, const MxuOperands& at);
  // Pixels first .. first + count, whose windows are there, and the channels of a panel.
  void run_panel(const MxuTile& tile, const MxuOperands& at, uint64_t first, uint64_t count, size_t panel,
                 const float* weights);
  void run_depthwise(const MxuTile& tile, const MxuOperands& at);

  // False where a weight of the panel is infinite or a NaN.
  bool pack(const MxuTile& tile, const uint8_t* weights, size_t panel, float* to) const;
  // The window of an output pixel as a row of the reduction, zeros for what lies outside of the input box; false where
  // that is any of it.
  bool read_window(const MxuTile& tile, const uint8_t* src, uint64_t pixel, float* to) const;
  // The panel without the weights of what lies outside of the pixel's window.
  const float* panel_inside(const MxuTile& tile, const uint8_t* src, uint64_t pixel, const float* panel);

  // depthwise: the input box as [rows][cols][in_c], where it is no larger than kMostInput.
  void load_input(const MxuTile& tile, const uint8_t* src);
  // Of an output pixel: each kernel position's out_c values, null outside of the input box.
  void read_taps(const MxuTile& tile, const uint8_t* src, uint64_t pixel);

  const contract::Capabilities& caps_;
  const Kernels& kernels_;

  // Of the tile at hand.
  std::vector<uint32_t> cycles_;  // elements of the reduction (depthwise: positions) that each cycle takes
  FloatOutput stage_;
  std::vector<float> bias_;
  std::vector<float> weights_;  // a panel, or all, of [reduction][kPanel]; depthwise [taps][out_c]
  std::vector<bool> finite_;    // of each panel
  std::vector<float> windows_, acc_, inside_;
  std::vector<bool> inside_window_;  // of each of the windows: all of it lies in the input box
  // depthwise
  std::vector<float> input_;               // empty where the box is too large
  std::vector<const float*> taps_;         // of the pixel at hand
  std::vector<const float*> tap_weights_;  // of each kernel position
  std::vector<float> tap_values_, expanded_;
};

}  // namespace npu::engine
