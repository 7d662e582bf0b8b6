// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "driver/compiler/dram_needs.h"
#include "driver/runtime/device_state.h"
#include "driver/runtime/direct_link.h"
#include "driver/runtime/firmware_link.h"
#include "driver/runtime/runtime.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
namespace reg = contract::reg;

constexpr uint32_t kHighestPriority = 255;

contract::Capabilities read_capabilities(Hal& hal) {
  contract::Capabilities caps;
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    const uint32_t value = hal.read_register(info.register_offset);
    if (value < info.min || value > info.max) {
      throw Error(ErrorCode::kContractMismatch, fmt::format("the device says {} = {}, but {} to {} is possible.",
                                                            info.name, value, info.min, info.max));
    }
    caps.*info.member = value;
  }
  return caps;
}

void check_identity(Hal& hal) {
  const uint32_t id = hal.read_register(reg::kId);
  if (id != reg::kIdReset) {
    throw Error(
        ErrorCode::kContractMismatch,
        fmt::format("the device is not an NPU of this kind: its id reads {:#010x}, not {:#010x}.", id, reg::kIdReset));
  }
  const uint32_t version = hal.read_register(reg::kContractVersion);
  const uint32_t major = (version & reg::kContractVersionMajorMask) >> reg::kContractVersionMajorLsb;
  const uint32_t minor = (version & reg::kContractVersionMinorMask) >> reg::kContractVersionMinorLsb;
  if (major != contract::kContractMajor || minor < contract::kContractMinor) {
    throw Error(ErrorCode::kContractMismatch,
                fmt::format("the device speaks version {}.{} of the contract, this driver {}.{}; use a driver and a "
                            "device of the same release.",
                            major, minor, contract::kContractMajor, contract::kContractMinor));
  }
}

// Ring and job addresses are 32 bits for the control CPU, which sees the first 2 GiB. At the end of them, so that
// programs lie where they would without firmware.
std::unique_ptr<Link> make_link(Hal& hal, const contract::Capabilities& caps, const DeviceOptions& options,
                                RangeAllocator& dram) {
  if (options.bypass_firmware) return std::make_unique<DirectLink>(hal, caps);
  const uint64_t bytes = compiler::shared_memory_bytes(dram.capacity());
  const uint64_t base = std::min<uint64_t>(dram.capacity(), contract::kCpuDramBytes) - bytes;
  NPU_CHECK(dram.reserve(base, bytes));
  return std::make_unique<FirmwareLink>(hal, caps, options, base, bytes);
}

}  // namespace

DeviceState::DeviceState(std::unique_ptr<Hal> owned_hal, const contract::Capabilities& capabilities,
                         const DeviceOptions& options)
    : hal(std::move(owned_hal)),
      caps(capabilities),
      mutex(*hal),
      dram(0, uint64_t{capabilities.dram_mib} << 20, compiler::kDramPage),
      resident(capabilities.spm_bytes),
      sees_core(options.bypass_firmware),
      link(make_link(*hal, caps, options, dram)),
      variables(*hal, *link, caps, dram),
      completions(*this) {
  variables.is_quiet = [this](uint16_t owner) {
    return std::none_of(open_contexts.begin(), open_contexts.end(), [owner](const ContextState* context) {
      return context->owner == owner && context->jobs_in_flight > 0;
    });
  };
}

void DeviceState::require_idle(const std::string& call) const {
  if (jobs_in_flight > 0) {
    throw Error(ErrorCode::kWrongOrder,
                fmt::format("cannot {} while jobs are in flight; wait for their end first.", call));
  }
}

bool DeviceState::await(const std::atomic<bool>& ended, std::chrono::nanoseconds timeout) {
  return mutex.await(ended, timeout, link->slice(), [this](std::chrono::nanoseconds slice) {
    const Wakeup wakeup = mutex.wait_interrupt(slice);
    link->look(wakeup);
    return wakeup;
  });
}

Device Device::open(std::unique_ptr<Hal> hal, const DeviceOptions& options) {
  NPU_CHECK(hal != nullptr);
  check_identity(*hal);
  const contract::Capabilities caps = read_capabilities(*hal);
  const uint32_t hash = hal->read_register(reg::kCapsHash);
  if (hash != contract::caps_hash(caps)) {
    throw Error(ErrorCode::kContractMismatch,
                fmt::format("the device contradicts itself: caps_hash reads {:#010x}, but its capabilities give "
                            "{:#010x}.",
                            hash, contract::caps_hash(caps)));
  }
  auto state = std::make_shared<DeviceState>(std::move(hal), caps, options);
  state->link->restart(true);
  return Device(std::move(state));
}

const contract::Capabilities& Device::capabilities() const { return state_->caps; }

bool Device::has_firmware() const { return !state_->sees_core; }

MemoryUse Device::memory_use() const {
  const Lock lock(state_->mutex);
  const VariableManager& variables = state_->variables;
  return {state_->dram.capacity(), state_->dram.used(),      variables.bytes(),          variables.bytes_used(),
          variables.entries(),     variables.entries_used(), variables.dram_bytes_used()};
}

Context Device::create_context(const ContextOptions& options) {
  const Lock lock(state_->mutex);
  if (state_->contexts == std::numeric_limits<uint16_t>::max()) {
    throw Error(ErrorCode::kVariableTableFull,
                "a device tells 65,535 contexts apart and all were created; open it again.");
  }
  if (options.priority > kHighestPriority) {
    throw Error(ErrorCode::kBadOption, fmt::format("a context has a priority of 0 to {}; there is no {}.",
                                                   kHighestPriority, options.priority));
  }
  const auto owner = static_cast<uint16_t>(state_->contexts + 1);
  Context context(std::make_shared<ContextState>(state_, owner, options));
  ++state_->contexts;
  return context;
}

void Device::soft_reset() {
  const Lock lock(state_->mutex);
  state_->link->restart(false);
}

void Device::cold_reset() {
  const Lock lock(state_->mutex);
  state_->variables.forget_all();
  state_->variables.set_power(contract::PsramPower::kOn);
  state_->losses.acknowledge_all();
  state_->device_says_lost = false;
  state_->link->restart(true);
}

int Device::completion_descriptor() {
  const Lock lock(state_->mutex);
  return state_->completions.file_descriptor();
}

uint64_t Device::time() {
  const Lock lock(state_->mutex);
  return state_->link->time();
}

void Device::set_power(contract::PowerState state) {
  const Lock lock(state_->mutex);
  state_->require_idle("change the power");
  state_->link->set_power(state);
}

std::string Device::take_firmware_log() {
  const Lock lock(state_->mutex);
  return state_->link->take_log();
}

uint32_t Device::read_register(uint32_t offset) {
  const Lock lock(state_->mutex);
  return state_->hal->read_register(offset);
}

void Device::write_register(uint32_t offset, uint32_t value) {
  const Lock lock(state_->mutex);
  state_->hal->write_register(offset, value);
}

void Device::read_memory(uint64_t address, std::span<uint8_t> bytes) {
  const Lock lock(state_->mutex);
  state_->require_idle("read device memory");
  state_->hal->read_memory(address, bytes);
}

void Device::write_memory(uint64_t address, std::span<const uint8_t> bytes) {
  const Lock lock(state_->mutex);
  state_->require_idle("write device memory");
  state_->hal->write_memory(address, bytes);
}

DramBlock::~DramBlock() {
  if (device_ != nullptr) device_->dram.release(address_);
}

}  // namespace npu::runtime
