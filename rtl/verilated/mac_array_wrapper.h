// SPDX-License-Identifier: Apache-2.0
// MacArray around a Verilated module, of whatever machine and variant. Only wrappers include this.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "rtl/verilated/clocked.h"
#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/machines.h"

namespace npu::rtl {

inline bool spans(uint32_t out, uint32_t stride, int32_t pad, uint32_t kernel, uint32_t dilation, uint32_t in) {
  const int64_t last = int64_t{out - 1} * stride + int64_t{kernel - 1} * dilation - pad;
  return last > INT32_MAX || in > INT32_MAX;
}

template <class Model, class Waveform = NoWaveform>
class VerilatedMacArray final : public MacArray {
 public:
  explicit VerilatedMacArray(const contract::Capabilities& sizes, Waveform waveform = {})
      : sizes_(sizes),
        cols_(sizes.mxu_cols),
        depth_(sizes.mxu_depth),
        taps_(sizes.mxu_dw_taps),
        model_(std::move(waveform)) {
    reset();
  }

  void reset() override {
    model_->start_valid_i = 0;
    hold();
    model_.reset();
  }

  void start(const contract::MxuCommand& command) override {
    if (contract::is_float(command.src_type) && contract::mxu_float_cycles(command.src_type, sizes_) == 0) {
      throw Error(contract::ErrorCode::kArgumentUnsupported,
                  std::string("the RTL of the MXU has no floating point of type ") +
                      std::string(contract::name(command.src_type)) + ": run the tile on the model");
    }
    const bool matmul = command.mode == contract::MxuMode::kMatmul;
    if (!matmul &&
        (spans(command.out_h, command.stride_y, command.pad_top, command.kernel_h, command.dilation_y, command.in_h) ||
         spans(command.out_w, command.stride_x, command.pad_left, command.kernel_w, command.dilation_x,
               command.in_w))) {
      throw Error(contract::ErrorCode::kArgumentUnsupported,
                  "the RTL of the MXU counts rows and columns with 32 bits: split the tile, or run it on the model");
    }
    std::vector<uint32_t> words;
    command.encode(words);
    std::memcpy(bytes_of(model_->command_i), words.data(), words.size() * sizeof(uint32_t));
    model_->start_valid_i = 1;
    src_bytes_ = contract::element_bytes(command.src_type);
    weight_bytes_ = contract::element_bytes(command.weight_type);
    dst_bytes_ = contract::element_bytes(command.dst_type);
    pixels_ = 1U << command.side_by_side_log2;
    column_elements_ = command.mode == contract::MxuMode::kDepthwise ? taps_ : depth_;
  }

  bool activations(Activations& request) override {
    if (model_->act_valid_o == 0) return false;
    request.pixels = pixels_;
    for (uint32_t p = 0; p < pixels_; ++p) request.positions[p] = get_bits(model_->act_positions_o, p * depth_, depth_);
    request.offsets = words_of(model_->act_offset_o);
    request.pixel_stride = static_cast<int32_t>(model_->act_pixel_stride_o);
    request.elements = model_->act_elements_o;
    request.element_bytes = src_bytes_;
    request.pitch = model_->act_depthwise_o != 0 ? cols_ : 1;
    request.pixel_pitch = model_->act_depthwise_o != 0 ? cols_ / pixels_ : depth_;
    request.data = bytes_of(model_->act_data_i);
    return true;
  }
  bool weights(Weights& request) override {
    if (model_->weight_valid_o == 0) return false;
    request.offset = static_cast<int32_t>(model_->weight_offset_o);
    request.column_stride = static_cast<int32_t>(model_->weight_column_stride_o);
    request.element_stride = static_cast<int32_t>(model_->weight_element_stride_o);
    request.columns = model_->weight_columns_o;
    request.elements = model_->weight_elements_o;
    request.element_bytes = weight_bytes_;
    request.pitch = column_elements_;
    request.data = bytes_of(model_->weight_data_i);
    return true;
  }
  bool parameters(Parameters& request) override {
    if (model_->param_valid_o == 0) return false;
    request.offset = static_cast<int32_t>(model_->param_offset_o);
    request.bytes = model_->param_bytes_o;
    request.data = bytes_of(model_->param_data_i);
    return true;
  }
  bool residual(Residual& request) override {
    if (model_->residual_valid_o == 0) return false;
    request.offset = static_cast<int32_t>(model_->residual_offset_o);
    request.columns = model_->residual_columns_o;
    request.element_bytes = dst_bytes_;
    request.pitch = static_cast<uint32_t>(sizeof(model_->residual_data_i)) / cols_;
    request.data = bytes_of(model_->residual_data_i);
    return true;
  }
  bool results(Results& request) override {
    if (model_->result_valid_o == 0) return false;
    request.offset = static_cast<int32_t>(model_->result_offset_o);
    request.columns = model_->result_columns_o;
    request.element_bytes = dst_bytes_;
    request.data = words_of(model_->result_data_o);
    return true;
  }
  void grant_activations() override { model_->act_ready_i = 1; }
  void grant_weights() override { model_->weight_ready_i = 1; }
  void grant_parameters() override { model_->param_ready_i = 1; }
  void grant_residual() override { model_->residual_ready_i = 1; }
  void grant_results() override { model_->result_ready_i = 1; }

  void tick() override {
    model_.tick();
    model_->start_valid_i = 0;
    hold();
  }
  bool done() const override { return model_->done_o != 0; }
  uint64_t cycles() const override { return model_.cycles(); }

 private:
  void hold() {
    model_->act_ready_i = 0;
    model_->weight_ready_i = 0;
    model_->param_ready_i = 0;
    model_->residual_ready_i = 0;
    model_->result_ready_i = 0;
  }

  const contract::Capabilities sizes_;
  uint32_t cols_, depth_, taps_;
  // Of the tile at hand.
  uint32_t src_bytes_ = 1, weight_bytes_ = 1, dst_bytes_ = 1, column_elements_ = 1, pixels_ = 1;
  Clocked<Model, Waveform> model_;
};

}  // namespace npu::rtl
