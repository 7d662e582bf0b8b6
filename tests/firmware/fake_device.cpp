// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/fake_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "hw/contract/gen/capabilities.h"
#include "hw/model/iss_module.h"

namespace npu::firmware_test {

namespace reg = contract::reg;
using model::IssStop;

namespace {

constexpr uint32_t kMie = 0x304;
constexpr uint32_t kTimerLine = 1u << 7, kExternalLine = 1u << 11;

std::unique_ptr<model::Iss> make_iss(const std::string& file, const model::IssConfig& config) {
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* create = module == nullptr ? nullptr : dlsym(module, "npu_iss_create");
  if (create == nullptr) throw std::runtime_error("no instruction-set simulator: " + file);
  return std::unique_ptr<model::Iss>(reinterpret_cast<model::IssModuleCreate*>(create)(config));
}

contract::Capabilities capabilities() {
  contract::Capabilities caps{};
  caps.clock_mhz = FakeDevice::kClockMhz;
  caps.cpu_clock_mhz = FakeDevice::kClockMhz / 2;
  caps.spm_bytes = 1 << 20;
  caps.psram_bytes = FakeDevice::kPsramBytes;
  caps.psram_port_bytes = FakeDevice::kPsramPortBytes;
  caps.var_entries = FakeDevice::kVarEntries;
  caps.dram_mib = FakeDevice::kDramMib;
  return caps;
}

}  // namespace

FakeDevice::Memory::Memory(uint32_t bytes) : span(static_cast<uint8_t*>(std::aligned_alloc(4096, bytes)), bytes) {
  std::fill(span.begin(), span.end(), uint8_t{0xa5});
}

FakeDevice::Memory::~Memory() { std::free(span.data()); }

FakeDevice::FakeDevice(const std::string& module)
    : code_(contract::kCpuCodeBytes), data_(contract::kCpuDataBytes), dram_(uint64_t{kDramMib} << 20, 0xa5) {
  model::IssConfig config;
  config.bus = this;
  config.code_base = contract::kCpuCodeBase;
  config.data_base = contract::kCpuDataBase;
  config.code = code_.span;
  config.data = data_.span;
  iss_ = make_iss(module, config);
  const contract::Capabilities caps = capabilities();
  for (const contract::CapabilityInfo& info : contract::kCapabilities) word(info.register_offset) = caps.*info.member;
  word(reg::kId) = 0x544e5055;
  word(reg::kContractVersion) = contract::kContractMajor << 16 | contract::kContractMinor;
  word(reg::kCapsHash) = contract::caps_hash(caps);
  word(reg::kEnginePower) = 1;
  word(reg::kPhaseCapacity) = 1;
  word(reg::kTimerCompareLo) = word(reg::kTimerCompareHi) = UINT32_MAX;
}

FakeDevice::~FakeDevice() = default;

void FakeDevice::read_memory(uint64_t address, std::span<uint8_t> bytes) {
  if (!bytes.empty()) std::memcpy(bytes.data(), dram_.data() + address, bytes.size());
}

void FakeDevice::write_memory(uint64_t address, std::span<const uint8_t> bytes) {
  if (!bytes.empty()) std::memcpy(dram_.data() + address, bytes.data(), bytes.size());
}

void FakeDevice::write_code(std::span<const uint8_t> bytes) {
  std::copy(bytes.begin(), bytes.end(), code_.span.begin());
}

uint32_t FakeDevice::data_word(uint32_t address) const {
  const uint32_t offset = address - contract::kCpuDataBase;
  uint32_t value = 0;
  if (offset <= contract::kCpuDataBytes - 4) std::memcpy(&value, data_.span.data() + offset, 4);
  return value;
}

void FakeDevice::write_register(uint32_t offset, uint32_t value) {
  switch (offset) {
    case reg::kCpuControl:
      if ((value & reg::kCpuControlRunMask) != 0) {
        iss_->reset(contract::kCpuCodeBase);
        stop_ = {};
      } else {
        word(reg::kFirmwareState) = 0;
      }
      return;
    case reg::kDoorbell:
      word(reg::kDoorbellPending) |= 1u << value;
      return;
    case reg::kHostIrqStatus:
      word(offset) &= ~value;
      return;
    default:
      word(offset) = value;
  }
}

uint32_t FakeDevice::lines() {
  const uint32_t doorbell = word(reg::kDoorbellPending) != 0 ? reg::kInterruptPendingDoorbellMask : 0;
  const uint32_t core = (word(reg::kIrqStatus) & word(reg::kIrqEnable)) != 0 ? reg::kInterruptPendingCoreMask : 0;
  word(reg::kInterruptPending) = doorbell | core;
  const uint64_t compare = uint64_t{word(reg::kTimerCompareHi)} << 32 | word(reg::kTimerCompareLo);
  uint32_t mip = time() >= compare ? kTimerLine : 0;
  if ((word(reg::kInterruptPending) & word(reg::kInterruptEnable)) != 0) mip |= kExternalLine;
  return mip;
}

void FakeDevice::update_lines() { iss_->set_interrupts(lines()); }

bool FakeDevice::stopped() const {
  return stop_.reason == IssStop::Reason::kTrap || stop_.reason == IssStop::Reason::kGivenUp;
}

bool FakeDevice::run(uint64_t instructions) {
  const uint64_t end = iss_->retired() + instructions;
  while (iss_->retired() < end) {
    update_lines();
    if (stop_.reason == IssStop::Reason::kWait && (lines() & iss_->read_csr(kMie)) == 0) return true;
    const uint64_t before = iss_->retired();
    stop_ = iss_->run(std::min<uint64_t>(end - iss_->retired(), 64));
    work.instructions += iss_->retired() - before;
    if (stopped()) return true;
  }
  return false;
}

bool FakeDevice::pass(uint64_t cycles) {
  const uint64_t end = time() + cycles;
  while (time() < end) {
    const uint64_t compare = uint64_t{word(reg::kTimerCompareHi)} << 32 | word(reg::kTimerCompareLo);
    const uint64_t next = std::clamp(compare, time(), end);
    idle_ += next - time();
    if (!run()) return false;
  }
  return true;
}

bool FakeDevice::read(uint32_t address, uint32_t bytes, uint32_t& value) {
  value = 0;
  if (address >= contract::kCpuDramBase) {
    const uint32_t offset = address - contract::kCpuDramBase;
    if (offset + uint64_t{bytes} > dram_.size()) return false;
    ++work.memory_accesses;
    bus_cycles_ += 80;
    std::memcpy(&value, dram_.data() + offset, bytes);
    return true;
  }
  const uint32_t offset = address - contract::kCpuRegistersBase;
  if (offset >= contract::kCpuRegistersBytes || bytes != 4) return false;
  ++work.register_accesses;
  bus_cycles_ += 8;
  value = cpu_read(offset);
  return true;
}

bool FakeDevice::write(uint32_t address, uint32_t bytes, uint32_t value) {
  if (address >= contract::kCpuDramBase) {
    const uint32_t offset = address - contract::kCpuDramBase;
    if (offset + uint64_t{bytes} > dram_.size()) return false;
    ++work.memory_accesses;
    bus_cycles_ += 80;
    std::memcpy(dram_.data() + offset, &value, bytes);
    return true;
  }
  const uint32_t offset = address - contract::kCpuRegistersBase;
  if (offset >= contract::kCpuRegistersBytes || bytes != 4) return false;
  ++work.register_accesses;
  bus_cycles_ += 8;
  cpu_write(offset, value);
  update_lines();
  return true;
}

uint32_t FakeDevice::cpu_read(uint32_t offset) {
  switch (offset) {
    case reg::kTimeLo:
      word(reg::kTimeHi) = static_cast<uint32_t>(time() >> 32);
      return static_cast<uint32_t>(time());
    case reg::kCpuBusyLo:
      return static_cast<uint32_t>(iss_->retired() + bus_cycles_ / 2);
    case reg::kInterruptPending:
      update_lines();
      return word(offset);
    case reg::kStatus:
      return (busy ? reg::kStatusRunningMask : status_) |
             (word(reg::kEnginePower) != 0 && power_comes ? reg::kStatusPoweredMask : 0);
    case reg::kVarWord0:
    case reg::kVarWord1:
    case reg::kVarWord2:
    case reg::kVarWord3:
      if (damaged_entry == word(reg::kVarIndex)) ++word(reg::kEccUncorrectable);
      if (damage_elsewhere > 0) {
        --damage_elsewhere;
        ++word(reg::kEccUncorrectable);
      }
      return variables[word(reg::kVarIndex)][(offset - reg::kVarWord0) / 4];
    default:
      return word(offset);
  }
}

void FakeDevice::cpu_write(uint32_t offset, uint32_t value) {
  switch (offset) {
    case reg::kControl:
      return control(value);
    case reg::kIrqStatus:
    case reg::kDoorbellPending:
      word(offset) &= ~value;
      return;
    case reg::kHostIrqRaise:
      word(reg::kHostIrqStatus) |= value;
      if ((value & reg::kHostIrqStatusCompletionMask) != 0) ++host_raises;
      return;
    case reg::kFirmwareState:
      word(reg::kHostIrqStatus) |= reg::kHostIrqStatusFirmwareMask;
      break;
    case reg::kWatchdog:
      last_kick = time();
      break;
    case reg::kUart:
      uart.push_back(static_cast<char>(value));
      return;
    case reg::kPhase:
      phases.push_back(static_cast<contract::Phase>(value & reg::kPhaseIdMask));
      return;
    case reg::kVarWord0:
    case reg::kVarWord1:
    case reg::kVarWord2:
    case reg::kVarWord3:
      if (offset != reg::kVarWord1 && variables[word(reg::kVarIndex)][1] != 0) ++changes_of_valid_entries;
      variables[word(reg::kVarIndex)][(offset - reg::kVarWord0) / 4] = value;
      return;
    case reg::kPsramScrub:
      ++scrubs;
      word(reg::kEccCorrected) += 3;
      word(reg::kEccUncorrectable) += 2;
      word(reg::kEccAddress) = 0x840;
      return;
    default:
      break;
  }
  word(offset) = value;
}

void FakeDevice::control(uint32_t value) {
  if ((value & reg::kControlSoftResetMask) != 0) {
    ++resets;
    busy = false;
    status_ = 0;
    word(reg::kIrqStatus) = 0;
  }
  if ((value & reg::kControlPreemptMask) != 0) {
    ++preemptions_asked;
    preemption_asked_at = time();
  }
  if ((value & reg::kControlStartMask) == 0) return;
  if (busy) throw std::logic_error("the firmware started a stream while another one was running");
  Start start;
  start.time = time();
  for (uint32_t offset = reg::kCommandBaseLo; offset <= reg::kEnginePower; offset += 4) {
    start.registers[offset] = word(offset);
  }
  for (uint32_t i = 0; i < 4 * reg::kRegionCount; ++i) {
    const uint32_t offset = reg::region_base_lo(0) + 4 * i;
    start.registers[offset] = word(offset);
  }
  starts.push_back(std::move(start));
  busy = true;
}

void FakeDevice::end(uint32_t status, uint64_t cycles) {
  if (!busy) throw std::logic_error("no stream is running");
  busy = false;
  status_ = status;
  idle_ += cycles;
  word(reg::kJobCyclesLo) = static_cast<uint32_t>(cycles);
  word(reg::kJobCyclesHi) = static_cast<uint32_t>(cycles >> 32);
  word(reg::kIrqStatus) |= reg::kIrqStatusJobMask;
}

void FakeDevice::end_done(uint64_t cycles, uint32_t events) {
  word(reg::kEventCount) = events;
  end(reg::kStatusDoneMask, cycles);
}

void FakeDevice::end_preempted(uint64_t cycles, uint32_t next_word, uint32_t segment, uint32_t events) {
  word(reg::kEventCount) = events;
  word(reg::kCommandNext) = next_word;
  word(reg::kYieldSegment) = segment;
  end(reg::kStatusPreemptedMask, cycles);
}

void FakeDevice::end_fault(contract::ErrorCode code, uint32_t command) {
  word(reg::kFaultCode) = static_cast<uint32_t>(code);
  word(reg::kFaultCommand) = command;
  word(reg::kFaultOther) = command + 1;
  word(reg::kFaultQueue) = static_cast<uint32_t>(contract::Queue::kMxu);
  word(reg::kFaultAddressLo) = 0x1234;
  word(reg::kFaultAddressHi) = 3;
  word(reg::kFaultCycleLo) = 77;
  end(reg::kStatusFaultMask, 78);
}

}  // namespace npu::firmware_test
