// SPDX-License-Identifier: Apache-2.0
// PersistentSram around a Verilated module of whatever sizes. Only wrappers include this.
#pragma once

#include <cstring>

#include "hw/contract/gen/capabilities.h"
#include "rtl/verilated/clocked.h"
#include "rtl/verilated/persistent_sram.h"

namespace npu::rtl {

template <class Model>
class VerilatedPersistentSram final : public PersistentSram {
 public:
  explicit VerilatedPersistentSram(const contract::Capabilities& sizes)
      : sizes_{sizes.psram_bytes, sizes.psram_port_bytes, sizes.var_entries} {
    reset();
  }

  [[nodiscard]] const Sizes& sizes() const override { return sizes_; }
  void reset() override {
    set_power(Power::kOn);
    clear_lost(false);
    withdraw_injection();
    withdraw_access();
    withdraw_operation();
    model_.reset();
  }
  void set_power(Power power) override { model_->power_i = static_cast<uint8_t>(power); }
  [[nodiscard]] bool lost() const override { return model_->lost_o != 0; }
  void clear_lost(bool clear) override { model_->lost_clear_i = clear; }
  [[nodiscard]] uint32_t corrected() const override { return model_->corrected_o; }

  void inject(uint32_t row, uint32_t lane, uint64_t data_flips, uint8_t check_flips) override {
    model_->inject_valid_i = 1;
    set(model_->inject_row_i, row);
    set(model_->inject_lane_i, lane);
    put_bits(model_->inject_flips_i, 0, 64, data_flips);
    put_bits(model_->inject_flips_i, 64, 8, check_flips);
  }
  void withdraw_injection() override { model_->inject_valid_i = 0; }
  [[nodiscard]] bool injection_taken() override {
    model_.settle();
    return model_->inject_valid_i != 0 && model_->inject_ready_o != 0;
  }

  void access(const Access& access) override {
    model_->data_valid_i = 1;
    model_->data_write_i = access.write;
    model_->data_privileged_i = access.privileged;
    model_->data_address_i = access.address;
    put_bits(model_->data_strobe_i, 0, sizes_.port_bytes, access.strobe);
    if (access.write) std::memcpy(bytes_of(model_->data_data_i), access.data.data(), sizes_.port_bytes);
  }
  void withdraw_access() override { model_->data_valid_i = 0; }
  [[nodiscard]] bool access_taken() override {
    model_.settle();
    return model_->data_valid_i != 0 && model_->data_ready_o != 0;
  }
  [[nodiscard]] bool answered() const override { return model_->data_valid_o != 0; }
  [[nodiscard]] contract::ErrorCode answer_error() const override {
    return static_cast<contract::ErrorCode>(model_->data_error_o);
  }
  [[nodiscard]] uint32_t answer_failed() const override { return model_->data_failed_o; }
  [[nodiscard]] std::span<const uint8_t> answer() const override {
    return {bytes_of(model_->data_data_o), sizes_.port_bytes};
  }

  void operate(const Operation& operation) override {
    model_->op_valid_i = 1;
    model_->op_i = static_cast<uint8_t>(operation.op);
    set(model_->op_index_i, operation.index);
    model_->op_hash_i = operation.hash;
    put_bits(model_->op_low_i, 0, 40, static_cast<uint64_t>(operation.low));
    put_bits(model_->op_high_i, 0, 40, static_cast<uint64_t>(operation.high));
    model_->op_owner_i = operation.owner;
    model_->op_epoch_i = operation.epoch;
  }
  void withdraw_operation() override { model_->op_valid_i = 0; }
  [[nodiscard]] bool operation_taken() override {
    model_.settle();
    return model_->op_valid_i != 0 && model_->op_ready_o != 0;
  }
  [[nodiscard]] bool operation_done() const override { return model_->op_valid_o != 0; }
  [[nodiscard]] contract::ErrorCode operation_error() const override {
    return static_cast<contract::ErrorCode>(model_->op_error_o);
  }
  [[nodiscard]] uint32_t operation_entry() const override { return model_->op_entry_o; }
  [[nodiscard]] Place operation_place() const override {
    return {model_->op_in_dram_o != 0, uint64_t{model_->op_base_o}};
  }

  void tick() override { model_.tick(); }

 private:
  // A number into a port that is as wide as the machine's numbers are.
  template <class Port>
  static void set(Port& port, uint32_t value) {
    port = static_cast<Port>(value);
  }

  Sizes sizes_;
  Clocked<Model> model_;
};

}  // namespace npu::rtl
