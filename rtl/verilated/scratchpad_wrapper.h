// SPDX-License-Identifier: Apache-2.0
// Scratchpad around a Verilated module of whatever sizes. Only wrappers include this.
#pragma once

#include <bit>
#include <cstring>

#include "hw/contract/gen/capabilities.h"
#include "rtl/verilated/clocked.h"
#include "rtl/verilated/scratchpad.h"

namespace npu::rtl {

template <class Model>
class VerilatedScratchpad final : public Scratchpad {
 public:
  explicit VerilatedScratchpad(const contract::Capabilities& sizes)
      : sizes_{sizes.spm_bytes, sizes.spm_banks, sizes.spm_bank_bytes, sizes.dma_channels + 2},
        word_bits_(static_cast<unsigned>(std::countr_zero(sizes_.bytes / sizes_.bank_bytes))) {
    reset();
  }

  [[nodiscard]] const Sizes& sizes() const override { return sizes_; }
  void reset() override {
    model_->valid_i = 0;
    model_.reset();
  }
  void read(uint32_t requester, uint32_t word) override { ask(requester, word, false); }
  void write(uint32_t requester, uint32_t word, uint32_t strobe, std::span<const uint8_t> data) override {
    ask(requester, word, true);
    put_bits(model_->strobe_i, sizes_.bank_bytes * requester, sizes_.bank_bytes, strobe);
    std::memcpy(bytes_of(model_->data_i) + sizes_.bank_bytes * requester, data.data(), sizes_.bank_bytes);
  }
  void withdraw(uint32_t requester) override { put_bits(model_->valid_i, requester, 1, 0); }
  [[nodiscard]] bool granted(uint32_t requester) override {
    model_.settle();
    return get_bits(model_->ready_o, requester, 1) != 0;
  }
  [[nodiscard]] std::span<const uint8_t> answer(uint32_t requester) const override {
    if (get_bits(model_->valid_o, requester, 1) == 0) return {};
    return {bytes_of(model_->data_o) + sizes_.bank_bytes * requester, sizes_.bank_bytes};
  }
  void tick() override { model_.tick(); }

 private:
  void ask(uint32_t requester, uint32_t word, bool write) {
    put_bits(model_->valid_i, requester, 1, 1);
    put_bits(model_->write_i, requester, 1, write ? 1 : 0);
    put_bits(model_->word_i, word_bits_ * requester, word_bits_, word);
  }

  Sizes sizes_;
  unsigned word_bits_;
  Clocked<Model> model_;
};

}  // namespace npu::rtl
