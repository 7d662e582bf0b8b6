// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/mxu_model.h"

#include <algorithm>
#include <cstring>
#include <variant>
#include <vector>

#include "hw/contract/elements.h"
#include "hw/engine/box.h"
#include "hw/engine/channel_params.h"
#include "hw/engine/mxu_depthwise.h"
#include "hw/engine/mxu_float.h"
#include "hw/engine/mxu_patches.h"
#include "hw/engine/mxu_tile.h"
#include "hw/engine/mxu_weights.h"
#include "hw/engine/scratch.h"
#include "hw/timing/mxu_cycles.h"

namespace npu::engine {

namespace {

using contract::ErrorCode;
using contract::MxuMode;

// Up to here a tile's weights are read where they are: packing them would cost as much as using them.
constexpr uint64_t kFewPixels = 4;
// Bytes of patches that are made at a time, to stay in the caches together with a panel.
constexpr size_t kPatchBytes = 64 * 1024;
constexpr size_t kMaxPatchRows = 256;
constexpr size_t kPanelsAtOnce = 2;

class MxuModel final : public Engine {
 public:
  MxuModel(const contract::Capabilities& caps, const Kernels& kernels)
      : caps_(caps), kernels_(kernels), floats_(caps_, kernels) {}

  TileResult run(const Tile& any, MemoryView& memory, bool timed) override {
    TileResult result = start(any, memory, timed);
    if (result.error == ErrorCode::kOk) finish();
    return result;
  }

  TileResult start(const Tile& any, MemoryView& memory, bool timed) override {
    if (!std::holds_alternative<MxuTile>(any)) return refused(ErrorCode::kFaultBadCommand);
    const auto& tile = std::get<MxuTile>(any);
    const contract::Element type = tile.command.src_type;
    // The array says in which order floating point is summed.
    if (contract::is_float(type) && contract::mxu_float_cycles(type, caps_) == 0) {
      return refused(ErrorCode::kFaultBadCommand);
    }
    TileResult result;
    result.error = at_.resolve(tile, memory);
    if (result.error != ErrorCode::kOk) return result;
    tile_ = &tile;
    result.macs = tile.macs;
    if (timed) result.set_time(timing::mxu_cycles(tile.command, caps_), tile_ports(any, caps_));
    return result;
  }

  void finish() override {
    const MxuTile& tile = *tile_;
    params_.load({at_.params, tile.params_box().run}, tile.command.out_c, tile.command.rescale);
    if (contract::is_float(tile.command.src_type)) return floats_.run(tile, at_, params_);
    prepare_stage(tile);
    if (tile.command.mode == MxuMode::kDepthwise) {
      run_depthwise(tile);
    } else if (tile.wide) {
      run_wide(tile);
    } else if (tile.command.mode == MxuMode::kConv && tile.pixels <= kFewPixels) {
      run_few(tile);
    } else {
      run_narrow(tile);
    }
  }

 private:
  void prepare_stage(const MxuTile& tile) {
    const contract::ParameterHeader& header = params_.header;
    // Hardware keeps as many bits of a zero point as the elements have.
    input_zp_ = tile.wide ? static_cast<int16_t>(header.input_zp) : static_cast<int8_t>(header.input_zp);
    weight_zp_ =
        tile.weight_bytes == 2 ? static_cast<int16_t>(header.weight_zp) : static_cast<int8_t>(header.weight_zp);
    const ValueRange range = value_range(tile.command.dst_type, tile.command.output_unsigned);
    stage_ = {};
    stage_.raw = tile.command.rescale == contract::Rescale::kNone;
    stage_.type = tile.command.dst_type;
    stage_.multiplier = params_.multiplier.data();
    stage_.round = params_.round.data();
    stage_.extra = params_.extra.data();
    stage_.shift = params_.shift.data();
    stage_.zero_point = header.output_zp;
    stage_.low = range.low;
    stage_.high = range.high;
    stage_.clamp_min = header.clamp_min;
    stage_.clamp_max = header.clamp_max;
    if (tile.adds()) prepare_residual(tile);
    bias32_.resize(tile.command.out_c);
    if (!tile.wide) {
      for (size_t c = 0; c < bias32_.size(); ++c) bias32_[c] = static_cast<int32_t>(params_.bias[c]);
    }
    stage_.bias32 = bias32_.data();
    stage_.bias48 = params_.bias.data();
  }

  void prepare_residual(const MxuTile& tile) {
    const contract::ParameterHeader& header = params_.header;
    residual_.scales_operand = tile.command.residual == contract::Residual::kScaleOperand;
    residual_.value_zp = header.value_zp;
    residual_.operand_zp = header.residual_zp;
    residual_.value_left = tile.command.value_left;
    residual_.operand_left = tile.command.residual_left;
    residual_.side = output_scale(header.residual_multiplier, header.residual_shift, tile.command.rescale);
    residual_.sum = output_scale(header.sum_multiplier, header.sum_shift, tile.command.rescale);
    stage_.residual = &residual_;
  }

  // The kernels multiply raw elements (int8 ones biased by 128): with a = element + bias,
  //   sum (element - zi)(w - zw) = sum a w - (bias + zi) sum w - zw sum element + n zi zw,
  // and what depends on the channel only goes into its bias. All of it wraps.
  [[nodiscard]] uint64_t channel_correction(const MxuTile& tile, int64_t weight_sum, int64_t bias) const {
    const uint64_t zeros = static_cast<uint64_t>(int64_t{input_zp_} * weight_zp_);
    return tile.reduction * zeros - static_cast<uint64_t>(bias + input_zp_) * static_cast<uint64_t>(weight_sum);
  }

  void correct_bias32(const MxuTile& tile, const int32_t* weight_sums, size_t first, size_t count) {
    for (size_t c = 0; c < count; ++c) {
      bias32_[first + c] = static_cast<int32_t>(static_cast<uint32_t>(bias32_[first + c]) +
                                                static_cast<uint32_t>(channel_correction(tile, weight_sums[c], 0x80)));
    }
  }

  // Pixels first .. first + count: their patches, where they go, and what the weights' zero point adds to each.
  void prepare_rows(const MxuTile& tile, const PatchReader& patches, uint64_t first, size_t count, uint8_t* to) {
    patches.read(first, count, to);
    rows_.resize(count);
    set_output_rows(tile, first, count);
    row_offset_.clear();
    if (weight_zp_ == 0) return;
    for (size_t r = 0; r < count; ++r) {
      const uint8_t* row = to + r * patches.row_bytes();
      int64_t sum = 0;
      for (uint64_t k = 0; k < tile.reduction; ++k) {
        int16_t element = static_cast<int8_t>(row[k] ^ 0x80);
        if (tile.wide) std::memcpy(&element, row + k * sizeof(element), sizeof(element));
        sum += element;
      }
      row_offset_.push_back(-sum * weight_zp_);
    }
  }

  void set_output_rows(const MxuTile& tile, uint64_t first, size_t count) {
    const contract::MxuCommand& command = tile.command;
    residual_rows_.resize(tile.adds() ? count : 0);
    for (size_t r = 0; r < count; ++r) {
      const int64_t y = static_cast<int64_t>((first + r) / command.out_w);
      const int64_t x = static_cast<int64_t>((first + r) % command.out_w);
      rows_[r] = at_.dst + y * command.dst_row_stride + x * command.dst_pixel_stride;
      if (!tile.adds()) continue;
      residual_rows_[r] = at_.residual + y * command.residual_row_stride + x * command.residual_pixel_stride;
    }
  }

  template <class Accumulator>
  OutputBlock<Accumulator> output_block(const Accumulator* acc, size_t stride, size_t first, size_t channels) const {
    return {acc,
            stride,
            first,
            channels,
            rows_.size(),
            rows_.data(),
            row_offset_.empty() ? nullptr : row_offset_.data(),
            residual_rows_.data()};
  }

  static size_t patch_rows(const PatchReader& patches) {
    const size_t rows = std::clamp<size_t>(kPatchBytes / patches.row_bytes(), 1, kMaxPatchRows);
    return rows < 8 ? rows : rows / 8 * 8;
  }

  void run_few(const MxuTile& tile) {
    const PatchReader patches(tile, at_.src, input_zp_);
    const size_t channels = tile.command.out_c;
    uint8_t* a = patch_bytes_.get<uint8_t>(tile.pixels * patches.row_bytes());
    prepare_rows(tile, patches, 0, tile.pixels, a);
    int32_t* acc = acc_bytes_.get<int32_t>((tile.pixels + 1) * channels);
    int32_t* sums = acc + tile.pixels * channels;
    kernels_.dot8(a, patches.row_bytes(), tile.pixels, at_.weights, tile.command.w_stride, channels, tile.reduction,
                  acc, channels, sums);
    correct_bias32(tile, sums, 0, channels);
    kernels_.output32(stage_, output_block(acc, channels, 0, channels));
  }

  void run_narrow(const MxuTile& tile) {
    const PatchReader patches(tile, at_.src, input_zp_);
    packed_.pack(tile, at_.weights, kernels_);
    const size_t row_bytes = patches.row_bytes();
    const size_t most_rows = std::min<uint64_t>(patch_rows(patches), tile.pixels);
    constexpr size_t kStride = kPanelsAtOnce * kPanel;
    uint8_t* a = patch_bytes_.get<uint8_t>(most_rows * row_bytes);
    int32_t* acc = acc_bytes_.get<int32_t>(most_rows * kStride);

    // A row of ones gives the sums of the weights.
    std::memset(a, 1, row_bytes);
    for (size_t p = 0; p < packed_.panels(); ++p) {
      kernels_.gemm8(a, row_bytes, 1, packed_.panel(p), packed_.groups(), 1, acc, kStride);
      correct_bias32(tile, acc, p * kPanel, std::min<size_t>(kPanel, tile.command.out_c - p * kPanel));
    }
    for (uint64_t first = 0; first < tile.pixels; first += most_rows) {
      const size_t count = std::min<uint64_t>(most_rows, tile.pixels - first);
      prepare_rows(tile, patches, first, count, a);
      for (size_t p = 0; p < packed_.panels(); p += kPanelsAtOnce) {
        const size_t panels = std::min(kPanelsAtOnce, packed_.panels() - p);
        kernels_.gemm8(a, row_bytes, count, packed_.panel(p), packed_.groups(), panels, acc, kStride);
        const size_t channels = std::min<size_t>(kStride, tile.command.out_c - p * kPanel);
        kernels_.output32(stage_, output_block(acc, kStride, p * kPanel, channels));
      }
    }
  }

  void multiply_wide(const uint8_t* a, size_t row_bytes, size_t rows, size_t panel, int64_t* acc) {
    std::fill(acc, acc + rows * kPanel, 0);
    const bool split = packed_.low_panel(panel) != nullptr;
    kernels_.gemm16(a, row_bytes, rows, packed_.panel(panel), packed_.groups(), 1, split ? 256 : 1, acc, kPanel);
    if (split) kernels_.gemm16(a, row_bytes, rows, packed_.low_panel(panel), packed_.groups(), 1, 1, acc, kPanel);
  }

  void run_wide(const MxuTile& tile) {
    const PatchReader patches(tile, at_.src, input_zp_);
    packed_.pack(tile, at_.weights, kernels_);
    const size_t row_bytes = patches.row_bytes();
    const size_t most_rows = std::min<uint64_t>(patch_rows(patches), tile.pixels);
    uint8_t* a = patch_bytes_.get<uint8_t>(most_rows * row_bytes);
    int64_t* acc = acc_bytes_.get<int64_t>(most_rows * kPanel);

    const int16_t one = 1;
    for (size_t i = 0; i < row_bytes; i += sizeof(one)) std::memcpy(a + i, &one, sizeof(one));
    for (size_t p = 0; p < packed_.panels() && input_zp_ != 0; ++p) {
      multiply_wide(a, row_bytes, 1, p, acc);
      const size_t channels = std::min<size_t>(kPanel, tile.command.out_c - p * kPanel);
      for (size_t c = 0; c < channels; ++c) {
        int64_t& bias = params_.bias[p * kPanel + c];
        bias = static_cast<int64_t>(static_cast<uint64_t>(bias) + channel_correction(tile, acc[c], 0));
      }
    }
    for (uint64_t first = 0; first < tile.pixels; first += most_rows) {
      const size_t count = std::min<uint64_t>(most_rows, tile.pixels - first);
      prepare_rows(tile, patches, first, count, a);
      for (size_t p = 0; p < packed_.panels(); ++p) {
        multiply_wide(a, row_bytes, count, p, acc);
        const size_t channels = std::min<size_t>(kPanel, tile.command.out_c - p * kPanel);
        kernels_.output48(stage_, output_block(acc, kPanel, p * kPanel, channels));
      }
    }
  }

  void run_depthwise(const MxuTile& tile) {
    depthwise_.begin(tile, at_.src, at_.weights, input_zp_, weight_zp_);
    row_offset_.clear();
    const uint64_t most_rows = std::min<uint64_t>(DepthwiseWindows::kPixels, tile.pixels);
    for (uint64_t first = 0; first < tile.pixels; first += most_rows) {
      const size_t count = std::min<uint64_t>(most_rows, tile.pixels - first);
      rows_.resize(count);
      set_output_rows(tile, first, count);
      for (size_t c = 0; c < tile.command.out_c; c += DepthwiseWindows::kChannels) {
        const size_t channels = std::min<size_t>(DepthwiseWindows::kChannels, tile.command.out_c - c);
        if (tile.wide) {
          int64_t* acc = acc_bytes_.get<int64_t>(count * channels);
          depthwise_.accumulate48(kernels_, first, count, c, channels, acc);
          kernels_.output48(stage_, output_block(acc, channels, c, channels));
        } else {
          int32_t* acc = acc_bytes_.get<int32_t>(count * channels);
          depthwise_.accumulate32(kernels_, first, count, c, channels, acc);
          kernels_.output32(stage_, output_block(acc, channels, c, channels));
        }
      }
    }
  }

  const contract::Capabilities caps_;
  const Kernels& kernels_;

  // Of the tile at hand.
  const MxuTile* tile_ = nullptr;
  MxuOperands at_;
  int32_t input_zp_ = 0, weight_zp_ = 0;
  ChannelParams params_;
  OutputStage stage_;
  OutputResidual residual_;
  std::vector<int32_t> bias32_;
  PackedWeights packed_;
  DepthwiseWindows depthwise_;
  FloatTiles floats_;
  std::vector<uint8_t*> rows_;                 // where the pixels of the block at hand go
  std::vector<const uint8_t*> residual_rows_;  // what is added to them, where the tile adds anything
  std::vector<int64_t> row_offset_;            // empty, or what each of them adds
  Scratch patch_bytes_, acc_bytes_;
};

}  // namespace

std::unique_ptr<Engine> make_mxu_model(const contract::Capabilities& caps, const Kernels& kernels) {
  return std::make_unique<MxuModel>(caps, kernels);
}

}  // namespace npu::engine
