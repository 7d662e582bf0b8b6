// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "driver/capi/handles.h"
#include "hw/contract/gen/capabilities.h"

using npu::capi::guarded;
using npu::capi::misuse;
using npu::capi::need;
using npu::capi::need_bytes;
using npu::capi::take_options;
using npu::contract::kCapabilities;

namespace {

uint32_t log_level(uint32_t level, const char* function) {
  switch (level) {
    case NPU_LOG_DEFAULT:
      return npu::runtime::DeviceOptions{}.log_level;
    case NPU_LOG_NOTHING:
      return 0;
    case NPU_LOG_ERRORS:
    case NPU_LOG_EVENTS:
    case NPU_LOG_REQUESTS:
      return level;
    default:
      misuse(function, fmt::format("log_level is {}, which is none of NPU_LOG_...", level));
  }
}

npu::runtime::DeviceOptions device_options(const npu_device_options* given, const char* function) {
  const npu_device_options from = take_options(given, function, "npu_device_options");
  npu::runtime::DeviceOptions options;
  if (from.firmware == nullptr && from.firmware_size > 0) misuse(function, "firmware is NULL, but has a size");
  if (from.firmware != nullptr) {
    if (from.firmware_size == 0) misuse(function, "firmware_size is 0");
    const auto* bytes = static_cast<const uint8_t*>(from.firmware);
    options.firmware.assign(bytes, bytes + from.firmware_size);
  }
  if (from.firmware_symbols != nullptr) options.firmware_symbols = from.firmware_symbols;
  options.bypass_firmware = from.bypass_firmware;
  options.polling = from.polling;
  options.log_level = log_level(from.log_level, function);
  return options;
}

}  // namespace

npu_status npu_device_open(const npu_hal_ops* hal, const npu_device_options* options, npu_device** device,
                           npu_error** error) {
  return guarded(error, [&] {
    need(device, "npu_device_open", "device") = nullptr;
    const npu_hal_ops ops = npu::capi::check_ops(hal, "npu_device_open");
    const npu::runtime::DeviceOptions wanted = device_options(options, "npu_device_open");
    *device = std::make_unique<npu_device>(npu::runtime::Device::open(npu::capi::make_hal(ops), wanted)).release();
  });
}

void npu_device_destroy(npu_device* device) { delete device; }

size_t npu_capability_count(void) { return kCapabilities.size(); }

const char* npu_capability_name(size_t index) {
  return index < kCapabilities.size() ? kCapabilities[index].name.data() : nullptr;
}

const char* npu_capability_unit(size_t index) {
  return index < kCapabilities.size() ? kCapabilities[index].unit.data() : nullptr;
}

npu_status npu_device_capability(const npu_device* device, const char* name, uint32_t* value, npu_error** error) {
  return guarded(error, [&] {
    const std::string_view wanted = &need(name, "npu_device_capability", "name");
    uint32_t& out = need(value, "npu_device_capability", "value");
    const auto& caps = need(device, "npu_device_capability", "device").device.capabilities();
    const auto* info = std::find_if(kCapabilities.begin(), kCapabilities.end(),
                                    [&](const auto& capability) { return capability.name == wanted; });
    if (info == kCapabilities.end()) {
      misuse("npu_device_capability", fmt::format("there is no capability '{}'", wanted));
    }
    out = caps.*info->member;
  });
}

npu_status npu_device_memory_use(const npu_device* device, npu_memory_use* use, npu_error** error) {
  return guarded(error, [&] {
    const npu::runtime::MemoryUse from = need(device, "npu_device_memory_use", "device").device.memory_use();
    npu_memory_use told{};
    told.dram_bytes = from.dram_bytes;
    told.dram_used = from.dram_used;
    told.persistent_bytes = from.persistent_bytes;
    told.persistent_used = from.persistent_used;
    told.variable_entries = from.variable_entries;
    told.variables = from.variables;
    told.state_dram_used = from.state_dram_used;
    npu::capi::give(told, use, "npu_device_memory_use", "npu_memory_use", {offsetof(npu_memory_use, state_dram_used)});
  });
}

npu_status npu_device_time(npu_device* device, uint64_t* cycles, npu_error** error) {
  return guarded(error, [&] {
    uint64_t& out = need(cycles, "npu_device_time", "cycles");
    out = need(device, "npu_device_time", "device").device.time();
  });
}

npu_status npu_device_fd(npu_device* device, int* fd, npu_error** error) {
  return guarded(error, [&] {
    int& out = need(fd, "npu_device_fd", "fd");
    out = need(device, "npu_device_fd", "device").device.completion_descriptor();
  });
}

npu_status npu_device_soft_reset(npu_device* device, npu_error** error) {
  return guarded(error, [&] { need(device, "npu_device_soft_reset", "device").device.soft_reset(); });
}

npu_status npu_device_cold_reset(npu_device* device, npu_error** error) {
  return guarded(error, [&] { need(device, "npu_device_cold_reset", "device").device.cold_reset(); });
}

npu_status npu_device_set_power(npu_device* device, uint32_t state, npu_error** error) {
  return guarded(error, [&] {
    npu_device& target = need(device, "npu_device_set_power", "device");
    if (state != NPU_POWER_ON && state != NPU_POWER_SLEEP) {
      misuse("npu_device_set_power", fmt::format("state is {}, which is none of NPU_POWER_...", state));
    }
    target.device.set_power(state == NPU_POWER_ON ? npu::contract::PowerState::kActive
                                                  : npu::contract::PowerState::kSleep);
  });
}

npu_status npu_device_take_firmware_log(npu_device* device, char* text, size_t size, size_t* length,
                                        npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_device_take_firmware_log";
    npu_device& from = need(device, kFunction, "device");
    need(text, kFunction, "text");
    size_t& out = need(length, kFunction, "length");
    if (size < 2) misuse(kFunction, "text has no room for a character and the final zero");
    const std::lock_guard lock(from.log_mutex);
    if (from.log.size() < size - 1) from.log += from.device.take_firmware_log();
    out = from.log.copy(text, size - 1);
    text[out] = 0;
    from.log.erase(0, out);
  });
}

npu_status npu_device_read_register(npu_device* device, uint32_t offset, uint32_t* value, npu_error** error) {
  return guarded(error, [&] {
    uint32_t& out = need(value, "npu_device_read_register", "value");
    out = need(device, "npu_device_read_register", "device").device.read_register(offset);
  });
}

npu_status npu_device_write_register(npu_device* device, uint32_t offset, uint32_t value, npu_error** error) {
  return guarded(error,
                 [&] { need(device, "npu_device_write_register", "device").device.write_register(offset, value); });
}

npu_status npu_device_read_memory(npu_device* device, uint64_t address, void* bytes, size_t size, npu_error** error) {
  return guarded(error, [&] {
    npu_device& from = need(device, "npu_device_read_memory", "device");
    need_bytes(bytes, size, "npu_device_read_memory");
    from.device.read_memory(address, {static_cast<uint8_t*>(bytes), size});
  });
}

npu_status npu_device_write_memory(npu_device* device, uint64_t address, const void* bytes, size_t size,
                                   npu_error** error) {
  return guarded(error, [&] {
    npu_device& to = need(device, "npu_device_write_memory", "device");
    need_bytes(bytes, size, "npu_device_write_memory");
    to.device.write_memory(address, {static_cast<const uint8_t*>(bytes), size});
  });
}
