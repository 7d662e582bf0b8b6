// SPDX-License-Identifier: Apache-2.0
// A host that writes something else than its driver meant, once.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "driver/runtime/hal.h"

namespace npu::test {

class TamperingHal final : public runtime::Hal {
 public:
  explicit TamperingHal(std::unique_ptr<runtime::Hal> hal) : hal_(std::move(hal)) {}

  // The next write to the word of device memory at `address` gets `more` added.
  void tamper(uint64_t address, uint32_t more) { plan_ = {address, more}; }
  [[nodiscard]] bool tampered() const { return !plan_; }

  [[nodiscard]] uint32_t read_register(uint32_t offset) override { return hal_->read_register(offset); }
  void write_register(uint32_t offset, uint32_t value) override { hal_->write_register(offset, value); }
  void read_registers(uint32_t offset, std::span<uint32_t> values) override { hal_->read_registers(offset, values); }
  void read_memory(uint64_t address, std::span<uint8_t> bytes) override { hal_->read_memory(address, bytes); }
  void write_memory(uint64_t address, std::span<const uint8_t> bytes) override {
    if (!plan_ || plan_->address < address || plan_->address + 4 > address + bytes.size()) {
      return hal_->write_memory(address, bytes);
    }
    std::vector<uint8_t> changed(bytes.begin(), bytes.end());
    uint32_t word = 0;
    std::memcpy(&word, changed.data() + (plan_->address - address), sizeof(word));
    word += plan_->more;
    std::memcpy(changed.data() + (plan_->address - address), &word, sizeof(word));
    plan_.reset();
    hal_->write_memory(address, changed);
  }
  void fill_memory(uint64_t address, uint64_t bytes, uint8_t value) override {
    hal_->fill_memory(address, bytes, value);
  }
  void read_window(runtime::Window window, uint32_t offset, std::span<uint8_t> bytes) override {
    hal_->read_window(window, offset, bytes);
  }
  void write_window(runtime::Window window, uint32_t offset, std::span<const uint8_t> bytes) override {
    hal_->write_window(window, offset, bytes);
  }
  [[nodiscard]] bool wait_interrupt(std::chrono::nanoseconds timeout) override { return hal_->wait_interrupt(timeout); }
  void wake() override { hal_->wake(); }

 private:
  struct Plan {
    uint64_t address = 0;
    uint32_t more = 0;
  };
  std::unique_ptr<runtime::Hal> hal_;
  std::optional<Plan> plan_;
};

}  // namespace npu::test
