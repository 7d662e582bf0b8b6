// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/mxu_weights.h"

#include <algorithm>
#include <cstring>

namespace npu::engine {

namespace {

using contract::Element;
using contract::MxuMode;

// Packs elements of kGroupBytes / sizeof(T) to a group; at(channel, k) is an element.
template <class T, class At>
void pack_panels(const MxuTile& tile, size_t panels, size_t groups, uint8_t* to, At at) {
  constexpr size_t kPerGroup = kGroupBytes / sizeof(T);
  for (size_t p = 0; p < panels; ++p) {
    const size_t channels = std::min<size_t>(kPanel, tile.command.out_c - p * kPanel);
    for (size_t g = 0; g < groups; ++g, to += kPanel * kGroupBytes) {
      T block[kPanel * kPerGroup] = {};
      const size_t count = std::min<size_t>(kPerGroup, tile.reduction - g * kPerGroup);
      for (size_t i = 0; i < count; ++i) {
        for (size_t c = 0; c < channels; ++c) block[c * kPerGroup + i] = at(p * kPanel + c, g * kPerGroup + i);
      }
      std::memcpy(to, block, sizeof(block));
    }
  }
}

}  // namespace

void PackedWeights::pack(const MxuTile& tile, const uint8_t* weights, const Kernels& kernels) {
  const ptrdiff_t stride = tile.command.w_stride;
  const size_t element = tile.wide ? sizeof(int16_t) : sizeof(int8_t);
  panels_ = (tile.command.out_c + kPanel - 1) / kPanel;
  groups_ = (tile.reduction * element + kGroupBytes - 1) / kGroupBytes;
  high_ = high_bytes_.get<uint8_t>(panels_ * panel_bytes());
  low_ = nullptr;
  const bool matmul = tile.command.mode == MxuMode::kMatmul;
  if (!tile.wide && !matmul) {
    for (size_t p = 0; p < panels_; ++p) {
      const size_t channels = std::min<size_t>(kPanel, tile.command.out_c - p * kPanel);
      kernels.pack8(weights + static_cast<ptrdiff_t>(p * kPanel) * stride, stride, channels, tile.reduction,
                    high_ + p * panel_bytes());
    }
    return;
  }
  if (!matmul) {
    pack_panels<int16_t>(tile, panels_, groups_, high_, [&](size_t channel, size_t k) {
      return static_cast<int8_t>(weights[static_cast<ptrdiff_t>(channel) * stride + static_cast<ptrdiff_t>(k)]);
    });
    return;
  }
  if (tile.command.weight_type == Element::kI8) {
    pack_panels<uint8_t>(tile, panels_, groups_, high_, [&](size_t channel, size_t k) {
      return weights[static_cast<ptrdiff_t>(k) * stride + static_cast<ptrdiff_t>(channel)];
    });
    return;
  }
  const auto wide = [&](size_t channel, size_t k) {
    int16_t value;
    std::memcpy(&value, weights + static_cast<ptrdiff_t>(k) * stride + static_cast<ptrdiff_t>(channel * sizeof(value)),
                sizeof(value));
    return value;
  };
  low_ = low_bytes_.get<uint8_t>(panels_ * panel_bytes());
  pack_panels<int16_t>(tile, panels_, groups_, high_,
                       [&](size_t channel, size_t k) { return static_cast<int16_t>(wide(channel, k) >> 8); });
  pack_panels<int16_t>(tile, panels_, groups_, low_,
                       [&](size_t channel, size_t k) { return static_cast<int16_t>(wide(channel, k) & 0xff); });
}

}  // namespace npu::engine
