// SPDX-License-Identifier: Apache-2.0
#include "driver/capi/hal_bridge.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "hw/contract/error.h"

namespace npu::capi {
namespace {

// What `user` points to.
struct Bridge {
  std::unique_ptr<runtime::Hal> hal;
  std::string text;  // of the last failure
};

runtime::Hal& hal_of(void* user) { return *static_cast<Bridge*>(user)->hal; }

npu_status failed(void* user, contract::ErrorCode code, const char* text) noexcept {
  try {
    static_cast<Bridge*>(user)->text = text;
  } catch (...) {
    static_cast<Bridge*>(user)->text.clear();
  }
  return static_cast<npu_status>(code);
}

template <typename Call>
npu_status call(void* user, Call&& body) noexcept {
  try {
    body(hal_of(user));
    return NPU_OK;
  } catch (const Error& error) {
    return failed(user, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(user, contract::ErrorCode::kBudgetExceeded, "the host has not enough memory for that");
  } catch (const std::exception& error) {
    return failed(user, contract::ErrorCode::kBug, error.what());
  } catch (...) {
    return failed(user, contract::ErrorCode::kBug, "something unknown was thrown");
  }
}

std::span<uint8_t> out(void* bytes, size_t size) { return {static_cast<uint8_t*>(bytes), size}; }
std::span<const uint8_t> in(const void* bytes, size_t size) { return {static_cast<const uint8_t*>(bytes), size}; }

runtime::Window window_of(uint32_t number) {
  switch (number) {
    case NPU_WINDOW_PERSISTENT:
      return runtime::Window::kPersistent;
    case NPU_WINDOW_CODE:
      return runtime::Window::kCode;
    case NPU_WINDOW_DATA:
      return runtime::Window::kData;
    default:
      throw Error(contract::ErrorCode::kFaultBus, "there is no window " + std::to_string(number));
  }
}

npu_status read_register(void* user, uint32_t offset, uint32_t* value) {
  return call(user, [&](runtime::Hal& hal) { *value = hal.read_register(offset); });
}

npu_status write_register(void* user, uint32_t offset, uint32_t value) {
  return call(user, [&](runtime::Hal& hal) { hal.write_register(offset, value); });
}

npu_status read_registers(void* user, uint32_t offset, uint32_t* values, size_t count) {
  return call(user, [&](runtime::Hal& hal) { hal.read_registers(offset, {values, count}); });
}

npu_status read_memory(void* user, uint64_t address, void* bytes, size_t size) {
  return call(user, [&](runtime::Hal& hal) { hal.read_memory(address, out(bytes, size)); });
}

npu_status write_memory(void* user, uint64_t address, const void* bytes, size_t size) {
  return call(user, [&](runtime::Hal& hal) { hal.write_memory(address, in(bytes, size)); });
}

npu_status fill_memory(void* user, uint64_t address, uint64_t size, uint8_t value) {
  return call(user, [&](runtime::Hal& hal) { hal.fill_memory(address, size, value); });
}

npu_status read_window(void* user, uint32_t window, uint32_t offset, void* bytes, size_t size) {
  return call(user, [&](runtime::Hal& hal) { hal.read_window(window_of(window), offset, out(bytes, size)); });
}

npu_status write_window(void* user, uint32_t window, uint32_t offset, const void* bytes, size_t size) {
  return call(user, [&](runtime::Hal& hal) { hal.write_window(window_of(window), offset, in(bytes, size)); });
}

npu_status wait_interrupt(void* user, uint64_t timeout_ns, bool* up) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  const std::chrono::nanoseconds timeout(static_cast<int64_t>(std::min(timeout_ns, kMost)));
  return call(user, [&](runtime::Hal& hal) { *up = hal.wait_interrupt(timeout); });
}

void wake(void* user) {
  // Not through call(): that keeps the text of a failure, which belongs to another thread.
  try {
    hal_of(user).wake();
  } catch (...) {  // no caller could take it; the waiting thread meets the failure itself
  }
}

void destroy(void* user) { delete static_cast<Bridge*>(user); }

const char* error_text(void* user) { return static_cast<Bridge*>(user)->text.c_str(); }

}  // namespace

void fill_ops(std::unique_ptr<runtime::Hal> hal, npu_hal_ops& ops) {
  auto bridge = std::make_unique<Bridge>();
  bridge->hal = std::move(hal);
  ops.version = NPU_HAL_VERSION;
  ops.read_register = read_register;
  ops.write_register = write_register;
  ops.read_registers = read_registers;
  ops.read_memory = read_memory;
  ops.write_memory = write_memory;
  ops.fill_memory = fill_memory;
  ops.read_window = read_window;
  ops.write_window = write_window;
  ops.wait_interrupt = wait_interrupt;
  ops.wake = wake;
  ops.destroy = destroy;
  ops.error_text = error_text;
  ops.user = bridge.release();
}

}  // namespace npu::capi
