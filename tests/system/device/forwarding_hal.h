// SPDX-License-Identifier: Apache-2.0
// A host that passes every call on to another; for those that change some of them.
#pragma once

#include <memory>
#include <utility>

#include "driver/runtime/hal.h"

namespace npu::test {

class ForwardingHal : public runtime::Hal {
 public:
  explicit ForwardingHal(std::unique_ptr<runtime::Hal> hal) : hal_(std::move(hal)) {}

  [[nodiscard]] uint32_t read_register(uint32_t offset) override { return hal_->read_register(offset); }
  void write_register(uint32_t offset, uint32_t value) override { hal_->write_register(offset, value); }
  void read_registers(uint32_t offset, std::span<uint32_t> values) override { hal_->read_registers(offset, values); }
  void read_memory(uint64_t address, std::span<uint8_t> bytes) override { hal_->read_memory(address, bytes); }
  void write_memory(uint64_t address, std::span<const uint8_t> bytes) override { hal_->write_memory(address, bytes); }
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
  std::unique_ptr<runtime::Hal> hal_;
};

}  // namespace npu::test
