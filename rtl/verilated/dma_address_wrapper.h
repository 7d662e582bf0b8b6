// SPDX-License-Identifier: Apache-2.0
// DmaAddress around a Verilated module of whatever sizes. Only wrappers include this.
#pragma once

#include <cstring>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "rtl/verilated/clocked.h"
#include "rtl/verilated/dma_address.h"

namespace npu::rtl {

template <class Model>
class VerilatedDmaAddress final : public DmaAddress {
 public:
  explicit VerilatedDmaAddress(const contract::Capabilities& sizes) : port_bytes_(sizes.dma_port_bytes) { reset(); }

  [[nodiscard]] uint32_t port_bytes() const override { return port_bytes_; }
  void reset() override {
    model_->start_valid_i = 0;
    set_ready(false, false);
    answer({});
    model_.reset();
  }
  void start(const contract::DmaCommand& command, uint64_t src_base, uint64_t dst_base, uint64_t index_base) override {
    std::vector<uint32_t> words;
    command.encode(words);
    std::memcpy(bytes_of(model_->command_i), words.data(), words.size() * sizeof(uint32_t));
    model_->src_base_i = src_base;
    model_->dst_base_i = dst_base;
    model_->index_base_i = index_base;
    model_->start_valid_i = 1;
  }
  [[nodiscard]] bool idle() override {
    model_.settle();
    return model_->start_ready_o != 0;
  }
  [[nodiscard]] bool source(Beat& beat) override {
    beat = {model_->src_address_o, model_->src_bytes_o, model_->src_last_o != 0, nullptr};
    return model_->src_valid_o != 0;
  }
  [[nodiscard]] bool destination(Beat& beat) override {
    beat = {model_->dst_address_o, model_->dst_bytes_o, model_->dst_last_o != 0, nullptr};
    if (model_->dst_fill_o != 0) beat.fill = bytes_of(model_->dst_data_o);
    return model_->dst_valid_o != 0;
  }
  void set_ready(bool source, bool destination) override {
    model_->src_ready_i = source;
    model_->dst_ready_i = destination;
  }
  [[nodiscard]] bool indices(Beat& beat) override {
    beat = {model_->index_address_o, model_->index_bytes_o, model_->index_last_o != 0, nullptr};
    return model_->index_valid_o != 0;
  }
  void answer(std::span<const uint8_t> data) override {
    model_->index_ready_i = !data.empty();
    std::memset(bytes_of(model_->index_data_i), 0xa5, port_bytes_);
    std::memcpy(bytes_of(model_->index_data_i), data.data(), data.size());
  }
  [[nodiscard]] bool wrong(Wrong& wrong) override {
    wrong = {model_->index_wrong_place_o, model_->index_wrong_value_o};
    return model_->index_wrong_o != 0;
  }
  void tick() override {
    model_.tick();
    model_->start_valid_i = 0;
  }

 private:
  uint32_t port_bytes_;
  Clocked<Model> model_;
};

}  // namespace npu::rtl
