// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/mock_hal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

namespace reg = contract::reg;

std::string register_name(uint64_t offset) {
  for (const contract::RegisterInfo& info : contract::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      if (info.offset + i * info.step != offset) continue;
      return info.count == 1 ? std::string(info.name) : fmt::format("{}[{}]", info.name, i);
    }
  }
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    if (info.register_offset == offset) return std::string(info.name);
  }
  return fmt::format("register {:#05x}", offset);
}

bool matches(const MockHal::Access& got, const MockHal::Access& wanted) {
  if (got.kind != wanted.kind || got.address != wanted.address || got.size != wanted.size) return false;
  if (got.value && wanted.value && *got.value != *wanted.value) return false;
  return !got.bytes || !wanted.bytes || *got.bytes == *wanted.bytes;
}

}  // namespace

MockHal::Access MockHal::read(uint32_t offset, std::optional<uint32_t> value) {
  return {Kind::kReadRegister, offset, 4, value, {}};
}
MockHal::Access MockHal::write(uint32_t offset, std::optional<uint32_t> value) {
  return {Kind::kWriteRegister, offset, 4, value, {}};
}
MockHal::Access MockHal::read_dram(uint64_t address, uint64_t size, std::optional<std::vector<uint8_t>> bytes) {
  return {Kind::kReadMemory, address, size, {}, std::move(bytes)};
}
MockHal::Access MockHal::write_dram(uint64_t address, std::vector<uint8_t> bytes) {
  const uint64_t size = bytes.size();
  return {Kind::kWriteMemory, address, size, {}, std::move(bytes)};
}
MockHal::Access MockHal::fill_dram(uint64_t address, uint64_t size, uint8_t value) {
  return {Kind::kFillMemory, address, size, value, {}};
}
MockHal::Access MockHal::read_psram(uint32_t offset, uint64_t size) {
  return {Kind::kReadPersistent, offset, size, {}, {}};
}
MockHal::Access MockHal::write_psram(uint32_t offset, std::vector<uint8_t> bytes) {
  const uint64_t size = bytes.size();
  return {Kind::kWritePersistent, offset, size, {}, std::move(bytes)};
}
MockHal::Access MockHal::write_code(uint32_t offset, std::vector<uint8_t> bytes) {
  const uint64_t size = bytes.size();
  return {Kind::kWriteCode, offset, size, {}, std::move(bytes)};
}
MockHal::Access MockHal::read_data(uint32_t offset, uint64_t size) { return {Kind::kReadData, offset, size, {}, {}}; }
MockHal::Access MockHal::wait(bool up) { return {Kind::kWait, 0, 0, up ? 1 : 0, {}}; }

std::string MockHal::to_string(const Access& access) {
  std::string data;
  if (access.value) data = fmt::format(" = {:#x}", *access.value);
  if (access.bytes) {
    const size_t shown = std::min<size_t>(access.bytes->size(), 16);
    data = fmt::format(" = {:02x}{}", fmt::join(access.bytes->begin(), access.bytes->begin() + shown, " "),
                       shown < access.bytes->size() ? " ..." : "");
  }
  switch (access.kind) {
    case Kind::kReadRegister:
      return fmt::format("read {}{}", register_name(access.address), data);
    case Kind::kWriteRegister:
      return fmt::format("write {}{}", register_name(access.address), data);
    case Kind::kReadMemory:
      return fmt::format("read {} bytes of DRAM at {:#x}{}", access.size, access.address, data);
    case Kind::kWriteMemory:
      return fmt::format("write {} bytes of DRAM at {:#x}{}", access.size, access.address, data);
    case Kind::kFillMemory:
      return fmt::format("fill {} bytes of DRAM at {:#x}{}", access.size, access.address, data);
    case Kind::kReadPersistent:
      return fmt::format("read {} bytes of persistent SRAM at {:#x}{}", access.size, access.address, data);
    case Kind::kWritePersistent:
      return fmt::format("write {} bytes of persistent SRAM at {:#x}{}", access.size, access.address, data);
    case Kind::kWriteCode:
      return fmt::format("write {} bytes of code memory at {:#x}{}", access.size, access.address, data);
    case Kind::kReadData:
      return fmt::format("read {} bytes of data memory at {:#x}{}", access.size, access.address, data);
    case Kind::kWait:
      return fmt::format("wait for the interrupt{}", data);
  }
  return "?";
}

MockHal::MockHal(const contract::Capabilities& caps)
    : caps_(caps),
      registers_(contract::kRegisterSpaceBytes / 4),
      persistent_(caps.psram_bytes),
      data_(contract::kCpuDataBytes) {
  set_register(reg::kId, reg::kIdReset);
  set_register(reg::kContractVersion, contract::kContractMajor << reg::kContractVersionMajorLsb |
                                          contract::kContractMinor << reg::kContractVersionMinorLsb);
  set_register(reg::kCapsHash, contract::caps_hash(caps));
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    set_register(info.register_offset, caps.*info.member);
  }
}

void MockHal::expect(std::vector<Access> accesses) {
  expected_ = std::move(accesses);
  next_ = 0;
  deviation_.clear();
}

std::string MockHal::deviation() const {
  if (!deviation_.empty() || !expected_ || next_ == expected_->size()) return deviation_;
  return fmt::format("access {} never came: {}", next_, to_string((*expected_)[next_]));
}

const MockHal::Access* MockHal::check(const Access& access) {
  log_.push_back(access);
  if (!expected_) return nullptr;
  if (next_ < expected_->size()) {
    const Access& wanted = (*expected_)[next_];
    // A read is compared by place only: its value is the answer.
    if (matches(access, wanted)) {
      ++next_;
      return &wanted;
    }
  }
  if (deviation_.empty()) {
    deviation_ = fmt::format("access {} is: {}; expected: {}", next_, to_string(access),
                             next_ < expected_->size() ? to_string((*expected_)[next_]) : "nothing more");
  }
  throw Deviation(deviation_);
}

void MockHal::end_job() {
  set_register(reg::kStatus, reg::kStatusDoneMask);
  set_register(reg::kIrqStatus, reg::kIrqStatusJobMask);
}

void MockHal::end_job_with_fault(contract::ErrorCode code) {
  set_register(reg::kFaultCode, static_cast<uint32_t>(code));
  set_register(reg::kStatus, reg::kStatusFaultMask);
  set_register(reg::kIrqStatus, reg::kIrqStatusJobMask);
}

std::vector<uint8_t>& MockHal::dram(uint64_t end) {
  if (end > uint64_t{caps_.dram_mib} << 20) {
    throw Error(contract::ErrorCode::kFaultBus, fmt::format("the DRAM ends before {:#x}.", end));
  }
  if (dram_.size() < end) dram_.resize(end);
  return dram_;
}

uint8_t* MockHal::table_word(uint32_t offset) {
  if (offset < reg::kVarWord0 || offset > reg::kVarWord3) return nullptr;
  const uint64_t entry = get_register(reg::kVarIndex);
  if (entry >= caps_.var_entries) return nullptr;
  return persistent_.data() + entry * contract::VariableEntry::kBytes + (offset - reg::kVarWord0);
}

uint32_t MockHal::read_register(uint32_t offset) {
  const Access* answer = check(read(offset));
  if (answer != nullptr && answer->value) return *answer->value;
  if (const uint8_t* word = table_word(offset)) {
    const auto place = static_cast<uint64_t>(word - persistent_.data());
    if (any_wrong(place, 4)) set_register(reg::kEccUncorrectable, get_register(reg::kEccUncorrectable) + 1);
    uint32_t value = 0;
    std::memcpy(&value, word, sizeof(value));
    return value;
  }
  return get_register(offset);
}

void MockHal::write_register(uint32_t offset, uint32_t value) {
  check(write(offset, value));
  if (uint8_t* word = table_word(offset)) {
    wrong_words.erase(static_cast<uint32_t>(word - persistent_.data()) / 8 * 8);
    std::memcpy(word, &value, sizeof(value));
  } else if (offset == reg::kControl) {
    control(value);
  } else if (offset == reg::kPsramPower) {
    power_persistent(static_cast<contract::PsramPower>(value));
  } else if (offset == reg::kPsramScrub) {
    scrub();
  } else if (offset == reg::kIrqStatus || offset == reg::kPsramStatus || offset == reg::kHostIrqStatus) {
    set_register(offset, get_register(offset) & ~value);
  } else {
    set_register(offset, value);
    if (offset >= reg::kDoorbell && on_mailbox_write) on_mailbox_write(*this, offset, value);
  }
}

void MockHal::control(uint32_t value) {
  if ((value & (reg::kControlSoftResetMask | reg::kControlColdResetMask)) != 0) {
    for (const uint32_t offset : {reg::kStatus, reg::kIrqStatus, reg::kFaultCode}) set_register(offset, 0);
    for (uint32_t i = 0; i < reg::kCounterCount; ++i) {
      set_register(reg::counter_lo(i), 0);
      set_register(reg::counter_hi(i), 0);
    }
  }
  if ((value & reg::kControlColdResetMask) != 0) {
    std::fill(persistent_.begin(), persistent_.end(), uint8_t{0});
    wrong_words.clear();
    for (const uint32_t offset : {reg::kPsramPower, reg::kPsramStatus, reg::kEccCorrected, reg::kEccUncorrectable}) {
      set_register(offset, 0);
    }
  }
  if ((value & reg::kControlStartMask) != 0) {
    set_register(reg::kStatus, reg::kStatusRunningMask);
    on_start(*this);
  }
}

void MockHal::read_memory(uint64_t address, std::span<uint8_t> bytes) {
  const Access* answer = check(read_dram(address, bytes.size()));
  if (answer != nullptr && answer->bytes) {
    std::copy_n(answer->bytes->begin(), bytes.size(), bytes.begin());
    return;
  }
  const std::vector<uint8_t>& memory = dram(address + bytes.size());
  std::copy_n(memory.begin() + static_cast<ptrdiff_t>(address), bytes.size(), bytes.begin());
}

void MockHal::write_memory(uint64_t address, std::span<const uint8_t> bytes) {
  check(write_dram(address, {bytes.begin(), bytes.end()}));
  std::copy(bytes.begin(), bytes.end(), dram(address + bytes.size()).begin() + static_cast<ptrdiff_t>(address));
}

void MockHal::fill_memory(uint64_t address, uint64_t bytes, uint8_t value) {
  check(fill_dram(address, bytes, value));
  std::fill_n(dram(address + bytes).begin() + static_cast<ptrdiff_t>(address), bytes, value);
}

void MockHal::read_window(Window window, uint32_t offset, std::span<uint8_t> bytes) {
  const bool data = window == Window::kData;
  check(data ? read_data(offset, bytes.size()) : read_psram(offset, bytes.size()));
  if (!data) require_persistent(!any_wrong(offset, bytes.size()));
  std::copy_n((data ? data_ : persistent_).begin() + offset, bytes.size(), bytes.begin());
}

void MockHal::write_window(Window window, uint32_t offset, std::span<const uint8_t> bytes) {
  const bool code = window == Window::kCode;
  check(code ? write_code(offset, {bytes.begin(), bytes.end()}) : write_psram(offset, {bytes.begin(), bytes.end()}));
  if (!code) require_persistent(mend_words(offset, bytes.size()));
  if (code) code_.resize(offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), (code ? code_ : persistent_).begin() + offset);
}

bool MockHal::persistent_is_on() const {
  return get_register(reg::kPsramPower) == static_cast<uint32_t>(contract::PsramPower::kOn);
}

void MockHal::power_persistent(contract::PsramPower state) {
  if (state == contract::PsramPower::kOff) {
    std::fill(persistent_.begin(), persistent_.end(), uint8_t{0});
    wrong_words.clear();
    set_register(reg::kPsramStatus, reg::kPsramStatusLostMask);
  }
  set_register(reg::kPsramPower, static_cast<uint32_t>(state));
}

void MockHal::scrub() {
  set_register(reg::kEccUncorrectable,
               get_register(reg::kEccUncorrectable) + static_cast<uint32_t>(wrong_words.size()));
}

bool MockHal::any_wrong(uint64_t offset, uint64_t bytes) const {
  const auto word = wrong_words.lower_bound(static_cast<uint32_t>(offset / 8 * 8));
  return word != wrong_words.end() && *word < offset + bytes;
}

bool MockHal::mend_words(uint64_t offset, uint64_t bytes) {
  const auto whole = [&](uint32_t word) { return word >= offset && word + 8 <= offset + bytes; };
  for (const uint32_t word : wrong_words) {
    if (word + 8 > offset && word < offset + bytes && !whole(word)) return false;
  }
  std::erase_if(wrong_words, whole);
  return true;
}

void MockHal::require_persistent(bool readable) {
  if (!persistent_is_on()) throw Error(contract::ErrorCode::kFaultBus, "the persistent SRAM has no power.");
  if (readable) return;
  set_register(reg::kEccUncorrectable, get_register(reg::kEccUncorrectable) + 1);
  throw Error(contract::ErrorCode::kFaultBus, "a word of the persistent SRAM cannot be read.");
}

bool MockHal::interrupt() const {
  return (get_register(reg::kIrqStatus) & get_register(reg::kIrqEnable)) != 0 ||
         (get_register(reg::kHostIrqStatus) & get_register(reg::kHostIrqEnable)) != 0;
}

bool MockHal::wait_interrupt(std::chrono::nanoseconds timeout) {
  const Access* answer = check({Kind::kWait, 0, 0, {}, {}});
  if (on_wait) on_wait(*this);
  if (answer != nullptr && answer->value) return *answer->value != 0;
  if (!interrupt() && sleeps) sleep(timeout);
  return interrupt();
}

void MockHal::sleep(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(sleep_mutex_);
  sleep_end_.wait_for(lock, timeout, [this] { return woken_; });
  woken_ = false;
}

void MockHal::wake() {
  ++wakes_;
  const std::scoped_lock lock(sleep_mutex_);
  woken_ = true;
  sleep_end_.notify_all();
}

}  // namespace npu::runtime
