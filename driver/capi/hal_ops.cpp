// SPDX-License-Identifier: Apache-2.0
// runtime/hal.h over the function pointers of a C back end.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "driver/capi/handles.h"

namespace npu::capi {
namespace {

using contract::ErrorCode;

bool registered(npu_status status) { return contract::name(static_cast<ErrorCode>(status)) != "?"; }

class OpsHal : public runtime::Hal {
 public:
  explicit OpsHal(const npu_hal_ops& ops) : ops_(ops) {}
  ~OpsHal() override {
    if (ops_.destroy != nullptr) ops_.destroy(ops_.user);
  }
  OpsHal(const OpsHal&) = delete;
  OpsHal& operator=(const OpsHal&) = delete;

  [[nodiscard]] uint32_t read_register(uint32_t offset) override {
    uint32_t value = 0;
    check(ops_.read_register(ops_.user, offset, &value), "reading register", offset);
    return value;
  }

  void write_register(uint32_t offset, uint32_t value) override {
    check(ops_.write_register(ops_.user, offset, value), "writing register", offset);
  }

  void read_registers(uint32_t offset, std::span<uint32_t> values) override {
    if (ops_.read_registers == nullptr) {
      Hal::read_registers(offset, values);
      return;
    }
    check(ops_.read_registers(ops_.user, offset, values.data(), values.size()), "reading registers from", offset);
  }

  void read_memory(uint64_t address, std::span<uint8_t> bytes) override {
    check(ops_.read_memory(ops_.user, address, bytes.data(), bytes.size()), "reading memory at", address);
  }

  void write_memory(uint64_t address, std::span<const uint8_t> bytes) override {
    check(ops_.write_memory(ops_.user, address, bytes.data(), bytes.size()), "writing memory at", address);
  }

  void fill_memory(uint64_t address, uint64_t bytes, uint8_t value) override {
    if (ops_.fill_memory != nullptr) {
      check(ops_.fill_memory(ops_.user, address, bytes, value), "filling memory at", address);
      return;
    }
    std::array<uint8_t, 16384> piece;
    piece.fill(value);
    while (bytes > 0) {
      const size_t size = std::min<uint64_t>(bytes, piece.size());
      write_memory(address, std::span(piece).first(size));
      address += size;
      bytes -= size;
    }
  }

  void read_window(runtime::Window window, uint32_t offset, std::span<uint8_t> bytes) override {
    check(ops_.read_window(ops_.user, number(window), offset, bytes.data(), bytes.size()), "reading a window at",
          offset);
  }

  void write_window(runtime::Window window, uint32_t offset, std::span<const uint8_t> bytes) override {
    check(ops_.write_window(ops_.user, number(window), offset, bytes.data(), bytes.size()), "writing a window at",
          offset);
  }

  [[nodiscard]] bool wait_interrupt(std::chrono::nanoseconds timeout) override {
    bool up = false;
    const auto most = static_cast<uint64_t>(std::max<int64_t>(timeout.count(), 0));
    const npu_status status = ops_.wait_interrupt(ops_.user, most, &up);
    if (status != NPU_OK) fail(status, "waiting for the interrupt");
    return up;
  }

  void wake() override { ops_.wake(ops_.user); }

 private:
  [[nodiscard]] static uint32_t number(runtime::Window window) { return static_cast<uint32_t>(window); }

  void check(npu_status status, const char* what, uint64_t where) const {
    if (status != NPU_OK) fail(status, fmt::format("{} {:#x}", what, where));
  }

  [[noreturn]] void fail(npu_status status, const std::string& what) const {
    const char* text = ops_.error_text == nullptr ? nullptr : ops_.error_text(ops_.user);
    std::string message = fmt::format("{} failed", what);
    if (text != nullptr && *text != 0) message += fmt::format(": {}", text);
    if (registered(status)) throw Error(static_cast<ErrorCode>(status), message);
    throw Error(ErrorCode::kFaultBus, fmt::format("{} (status {})", message, status));
  }

  const npu_hal_ops ops_;
};

static_assert(static_cast<uint32_t>(runtime::Window::kPersistent) == NPU_WINDOW_PERSISTENT);
static_assert(static_cast<uint32_t>(runtime::Window::kCode) == NPU_WINDOW_CODE);
static_assert(static_cast<uint32_t>(runtime::Window::kData) == NPU_WINDOW_DATA);

}  // namespace

npu_hal_ops check_ops(const npu_hal_ops* ops, const char* function) {
  need(ops, function, "hal");
  const npu_hal_ops table = take_options(ops, function, "npu_hal_ops");
  if (table.version != NPU_HAL_VERSION) {
    misuse(function, fmt::format("version of npu_hal_ops is {}, but must be {}", table.version, NPU_HAL_VERSION));
  }
  const auto require = [&](bool set, const char* name) {
    if (!set) misuse(function, fmt::format("{} of npu_hal_ops is NULL", name));
  };
  require(table.read_register != nullptr, "read_register");
  require(table.write_register != nullptr, "write_register");
  require(table.read_memory != nullptr, "read_memory");
  require(table.write_memory != nullptr, "write_memory");
  require(table.read_window != nullptr, "read_window");
  require(table.write_window != nullptr, "write_window");
  require(table.wait_interrupt != nullptr, "wait_interrupt");
  require(table.wake != nullptr, "wake");
  return table;
}

std::unique_ptr<runtime::Hal> make_hal(const npu_hal_ops& ops) { return std::make_unique<OpsHal>(ops); }

}  // namespace npu::capi
