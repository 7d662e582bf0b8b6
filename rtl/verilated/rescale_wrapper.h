// SPDX-License-Identifier: Apache-2.0
// Rescale around a Verilated module of whatever sizes. Only wrappers include this.
#pragma once

#include "hw/contract/gen/capabilities.h"
#include "rtl/verilated/clocked.h"
#include "rtl/verilated/rescale.h"

namespace npu::rtl {

template <class Model>
class VerilatedRescale final : public Rescale {
 public:
  explicit VerilatedRescale(const contract::Capabilities& sizes) : lanes_(sizes.mxu_cols) { reset(); }

  [[nodiscard]] unsigned lanes() const override { return lanes_; }
  void reset() override {
    set_valid(false);
    set_ready(false);
    model_.reset();
  }
  void configure(const Config& config) override {
    model_->kind_i = static_cast<uint8_t>(config.kind);
    model_->wide_i = config.wide;
    model_->output_zp_i = static_cast<uint32_t>(config.output_zp);
    model_->low_i = static_cast<uint32_t>(config.low);
    model_->high_i = static_cast<uint32_t>(config.high);
    model_->clamp_min_i = static_cast<uint32_t>(config.clamp_min);
    model_->clamp_max_i = static_cast<uint32_t>(config.clamp_max);
  }
  void set_value(unsigned lane, const Value& value) override {
    put_bits(model_->value_i, 48 * lane, 48, static_cast<uint64_t>(value.value));
    put_bits(model_->offset_i, 48 * lane, 48, static_cast<uint64_t>(value.offset));
    put_bits(model_->multiplier_i, 32 * lane, 32, static_cast<uint32_t>(value.multiplier));
    put_bits(model_->shift_i, 6 * lane, 6, value.shift);
  }
  void set_valid(bool valid) override { model_->valid_i = valid; }
  void set_ready(bool ready) override { model_->ready_i = ready; }
  [[nodiscard]] bool ready() override {
    model_.settle();
    return model_->ready_o != 0;
  }
  [[nodiscard]] bool valid() const override { return model_->valid_o != 0; }
  [[nodiscard]] int64_t result(unsigned lane) const override {
    return sign_extend(get_bits(model_->result_o, 48 * lane, 48), 48);
  }
  void tick() override { model_.tick(); }

 private:
  unsigned lanes_;
  Clocked<Model> model_;
};

}  // namespace npu::rtl
