// SPDX-License-Identifier: Apache-2.0
#include "sim/capi/npu_sim.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "driver/capi/hal_bridge.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/platform/platform.h"

namespace {

using npu::Error;
using npu::contract::ErrorCode;

constexpr size_t kMostStructBytes = 4096;  // that are believed of a later version
constexpr uint32_t kMostJitter = 1'000'000;

[[noreturn]] void misuse(const std::string& what) { throw Error(ErrorCode::kBadOption, "npu_sim_open: " + what); }

// `first`: its bytes in version 1.0.
void check_size(size_t size, size_t first, size_t known, const std::string& type) {
  if (size == first || (size >= known && size <= kMostStructBytes)) return;
  misuse("struct_size of " + type + " is " + std::to_string(size) + ", but must be sizeof(" + type + "), which is " +
         std::to_string(known) + " in this version");
}

npu_sim_options take(const npu_sim_options* given) {
  npu_sim_options options{};
  if (given == nullptr) return options;
  const size_t size = given->struct_size;
  check_size(size, offsetof(npu_sim_options, faults), sizeof options, "npu_sim_options");
  std::memcpy(&options, given, std::min(size, sizeof options));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof options; i < size; ++i) {
    if (bytes[i] != 0) misuse("npu_sim_options has a member set that this version does not know");
  }
  return options;
}

npu::platform::PlatformOptions platform_options(const npu_sim_options& from) {
  npu::platform::PlatformOptions options;
  if (from.mode != NPU_SIM_TIMED && from.mode != NPU_SIM_FUNCTIONAL) {
    misuse("mode is " + std::to_string(from.mode) + ", which is none of NPU_SIM_...");
  }
  if (from.jitter_max_cycles > kMostJitter) {
    misuse("jitter_max_cycles is " + std::to_string(from.jitter_max_cycles) + ", but at most " +
           std::to_string(kMostJitter));
  }
  if (from.no_control_cpu && from.gdb_port != 0) misuse("gdb_port is set, but there is no control CPU to debug");
  options.preset = npu::presets::load_preset(from.machine == nullptr ? "edge" : from.machine);
  options.mode = from.mode == NPU_SIM_TIMED ? npu::model::Mode::kTimed : npu::model::Mode::kFunctional;
  options.jitter_seed = from.jitter_seed;
  options.jitter_max_cycles = from.jitter_max_cycles;
  options.poison = !from.no_poison;
  options.control_cpu = !from.no_control_cpu;
  if (from.iss_module != nullptr) options.iss_module = from.iss_module;
  if (from.uart != nullptr) {
    options.uart = [call = from.uart, user = from.user](char character) { call(user, character); };
  }
  if (from.faults != nullptr) options.faults = npu::platform::parse_faults(from.faults);
  options.gdb_port = from.gdb_port;
  if (from.debugger_waiting != nullptr) {
    options.debugger_waiting = [call = from.debugger_waiting, user = from.user](uint16_t port) { call(user, port); };
  }
  return options;
}

void open(const npu_sim_options* options, npu_hal_ops* hal) {
  if (hal == nullptr) misuse("hal is NULL");
  check_size(hal->struct_size, sizeof *hal, sizeof *hal, "npu_hal_ops");
  npu::capi::fill_ops(npu::platform::open_tlm_device(platform_options(take(options))), *hal);
}

npu_status fail(npu_error** error, ErrorCode code, const char* text) noexcept {
  const auto status = static_cast<npu_status>(code);
  if (error != nullptr) *error = npu_error_create(status, text);
  return status;
}

}  // namespace

npu_status npu_sim_open(const npu_sim_options* options, npu_hal_ops* hal, npu_error** error) {
  if (error != nullptr) *error = nullptr;
  try {
    open(options, hal);
    return NPU_OK;
  } catch (const Error& thrown) {
    return fail(error, thrown.code(), thrown.what());
  } catch (const std::bad_alloc&) {
    return fail(error, ErrorCode::kBudgetExceeded, "the host has not enough memory for that");
  } catch (const std::exception& thrown) {
    return fail(error, ErrorCode::kBug, thrown.what());
  } catch (...) {
    return fail(error, ErrorCode::kBug, "something unknown was thrown");
  }
}
