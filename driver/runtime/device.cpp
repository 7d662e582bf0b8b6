#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "driver/runtime/device_state.h"
#include "driver/runtime/runtime.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
namespace reg = contract::reg;

// Pieces of device memory start at pages, so that the rows and banks that a program meets hardly depend on what else is
// loaded.
constexpr uint64_t kPage = 4096;

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

}  // namespace

uint64_t Counters::total(contract::Counter counter) const {
  uint64_t sum = 0;
  for (uint32_t queue = 0; queue < values_.size() / contract::kCountersPerQueue; ++queue) {
    sum += values_[contract::counter_index(queue, counter)];
  }
  return sum;
}

DeviceState::DeviceState(std::unique_ptr<Hal> owned_hal, const contract::Capabilities& capabilities)
    : hal(std::move(owned_hal)),
      caps(capabilities),
      dram(0, uint64_t{capabilities.dram_mib} << 20, kPage),
      variables(*hal, caps) {}

void DeviceState::require_idle(const std::string& call) const {
  if (running != nullptr) {
    throw Error(ErrorCode::kWrongOrder, fmt::format("cannot {} while a job runs; wait for its end first.", call));
  }
}

void DeviceState::reset(uint32_t control_bit) {
  hal->write_register(reg::kControl, control_bit);
  if (running != nullptr) running->stopped_by_reset();
  running = nullptr;
}

uint32_t DeviceState::next_epoch() {
  ++epoch;
  if ((epoch & 0xff) == 0) variables.forget_seen();
  return epoch;
}

Device Device::open(std::unique_ptr<Hal> hal, const DeviceOptions&) {
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
  auto state = std::make_shared<DeviceState>(std::move(hal), caps);
  state->reset(reg::kControlColdResetMask);
  return Device(std::move(state));
}

const contract::Capabilities& Device::capabilities() const { return state_->caps; }

MemoryUse Device::memory_use() const {
  const Lock lock(state_->mutex);
  return {state_->dram.capacity(),        state_->dram.used(),         state_->variables.bytes(),
          state_->variables.bytes_used(), state_->variables.entries(), state_->variables.entries_used()};
}

Context Device::create_context(const ContextOptions& options) {
  const Lock lock(state_->mutex);
  if (state_->contexts == std::numeric_limits<uint16_t>::max()) {
    throw Error(ErrorCode::kVariableTableFull,
                "a device tells 65,535 contexts apart and all were created; open it again.");
  }
  const auto owner = static_cast<uint16_t>(++state_->contexts);
  return Context(std::make_shared<ContextState>(state_, owner, options));
}

void Device::soft_reset() {
  const Lock lock(state_->mutex);
  state_->reset(reg::kControlSoftResetMask);
}

void Device::cold_reset() {
  const Lock lock(state_->mutex);
  state_->reset(reg::kControlColdResetMask);
  state_->variables.forget_all();
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
