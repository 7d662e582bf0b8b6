// SPDX-License-Identifier: Apache-2.0
// A persistent SRAM that does what another one does: a test overrides the part in which it is wrong.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "rtl/verilated/persistent_sram.h"

namespace npu::rtl::test {

class OtherPersistentSram : public PersistentSram {
 public:
  explicit OtherPersistentSram(std::unique_ptr<PersistentSram> right) : right_(std::move(right)) {}
  [[nodiscard]] const Sizes& sizes() const override { return right_->sizes(); }
  void reset() override { right_->reset(); }
  void set_power(Power power) override { right_->set_power(power); }
  [[nodiscard]] bool lost() const override { return right_->lost(); }
  void clear_lost(bool clear) override { right_->clear_lost(clear); }
  [[nodiscard]] uint32_t corrected() const override { return right_->corrected(); }
  void inject(uint32_t row, uint32_t lane, uint64_t data_flips, uint8_t check_flips) override {
    right_->inject(row, lane, data_flips, check_flips);
  }
  void withdraw_injection() override { right_->withdraw_injection(); }
  [[nodiscard]] bool injection_taken() override { return right_->injection_taken(); }
  void access(const Access& access) override { right_->access(access); }
  void withdraw_access() override { right_->withdraw_access(); }
  [[nodiscard]] bool access_taken() override { return right_->access_taken(); }
  [[nodiscard]] bool answered() const override { return right_->answered(); }
  [[nodiscard]] contract::ErrorCode answer_error() const override { return right_->answer_error(); }
  [[nodiscard]] uint32_t answer_failed() const override { return right_->answer_failed(); }
  [[nodiscard]] std::span<const uint8_t> answer() const override { return right_->answer(); }
  void operate(const Operation& operation) override { right_->operate(operation); }
  void withdraw_operation() override { right_->withdraw_operation(); }
  [[nodiscard]] bool operation_taken() override { return right_->operation_taken(); }
  [[nodiscard]] bool operation_done() const override { return right_->operation_done(); }
  [[nodiscard]] contract::ErrorCode operation_error() const override { return right_->operation_error(); }
  [[nodiscard]] uint32_t operation_entry() const override { return right_->operation_entry(); }
  [[nodiscard]] Place operation_place() const override { return right_->operation_place(); }
  void tick() override { right_->tick(); }

 protected:
  std::unique_ptr<PersistentSram> right_;
};

}  // namespace npu::rtl::test
