// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/mock_firmware.h"

#include <algorithm>
#include <cstring>

#include "hw/contract/gen/registers.h"

namespace npu::runtime {
namespace {

using contract::Request;
using contract::RingCompletion;
using contract::RingRequest;
namespace reg = contract::reg;

// Offsets in a ring's header (structure `ring`).
constexpr uint32_t kRequestConsumer = 64, kCompletionProducer = 68, kLogProducer = 72, kError = 76;

uint32_t fnv1a(std::span<const uint8_t> bytes) {
  uint32_t hash = 0x811c9dc5;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x01000193;
  return hash;
}

}  // namespace

MockFirmware::MockFirmware(MockHal& hal) : hal_(hal) {
  hal_.on_mailbox_write = [this](MockHal&, uint32_t offset, uint32_t value) { mailbox_write(offset, value); };
  hal_.on_wait = [this](MockHal&) {
    advance(cycles_per_wait);
    if (later_.empty()) return;
    const Run run = later_.front();
    later_.pop_front();
    complete(run);
  };
}

std::vector<uint8_t> MockFirmware::image(uint32_t code_bytes) {
  std::vector<uint8_t> code(code_bytes);
  for (uint32_t i = 0; i < code_bytes; ++i) code[i] = static_cast<uint8_t>(7 * i);
  contract::FirmwareHeader header;
  header.magic = 0x4655504e;
  header.major = contract::kContractMajor;
  header.minor = contract::kContractMinor;
  header.code_bytes = code_bytes;
  header.data_bytes = 1024;
  header.checksum = fnv1a(code);
  std::vector<uint8_t> bytes(contract::FirmwareHeader::kBytes);
  header.store(bytes.data());
  for (const uint8_t byte : code) bytes.push_back(byte);
  return bytes;
}

void MockFirmware::mailbox_write(uint32_t offset, uint32_t value) {
  if (offset == reg::kCpuControl) {
    if ((value & reg::kCpuControlResetAllMask) != 0) {
      hal_.power_persistent(contract::PsramPower::kOff);
      hal_.power_persistent(contract::PsramPower::kOn);
      hal_.set_register(reg::kPsramStatus, 0);
    }
    running_ = (value & reg::kCpuControlRunMask) != 0;
    for (const uint32_t word : {reg::kFirmwareState, reg::kFirmwareVersion, reg::kFirmwareChecksum}) {
      hal_.set_register(word, 0);
    }
    hal_.set_register(reg::kPhaseCount, 0);
    rings_.clear();
    pending_.clear();
    later_.clear();
    if (running_) boot();
  } else if (offset == reg::kDoorbell && running_) {
    serve(value);
  }
}

void MockFirmware::boot() {
  ++boots_;
  rings_[0].address = hal_.get_register(reg::kAdminRingLo) | uint64_t{hal_.get_register(reg::kAdminRingHi)} << 32;
  if (boots_as != contract::FirmwareState::kFailed ||
      self_test != static_cast<uint32_t>(contract::SelfTest::kDataMemory)) {  // too early for these
    hal_.set_register(reg::kFirmwareVersion, contract::kContractMajor << 16 | contract::kContractMinor);
    hal_.set_register(reg::kFirmwareChecksum, fnv1a(hal_.code()));
  }
  hal_.set_register(reg::kCpuStatus, reg::kCpuStatusRunningMask);
  hal_.set_register(reg::kFirmwareState, static_cast<uint32_t>(boots_as) | self_test << reg::kFirmwareStateDetailLsb);
  const bool over = boots_as == contract::FirmwareState::kReady || boots_as == contract::FirmwareState::kFailed;
  if (over) raise(reg::kHostIrqStatusFirmwareMask);
}

void MockFirmware::raise(uint32_t bits) {
  if (!interrupts) return;
  hal_.set_register(reg::kHostIrqStatus, hal_.get_register(reg::kHostIrqStatus) | bits);
}

void MockFirmware::advance(uint64_t cycles) {
  time_ += cycles;
  hal_.set_register(reg::kTimeLo, static_cast<uint32_t>(time_));
  hal_.set_register(reg::kTimeHi, static_cast<uint32_t>(time_ >> 32));
}

uint8_t* MockFirmware::memory(uint64_t address, uint64_t bytes) { return hal_.dram(address + bytes).data() + address; }

contract::Ring MockFirmware::header(uint32_t ring) {
  return contract::Ring::load(memory(rings_.at(ring).address, contract::Ring::kBytes));
}

void MockFirmware::poke(uint32_t ring, uint32_t offset, uint32_t value) {
  std::memcpy(memory(rings_.at(ring).address + offset, 4), &value, 4);
}

uint32_t MockFirmware::peek(uint32_t ring, uint32_t offset) {
  uint32_t value = 0;
  std::memcpy(&value, memory(rings_.at(ring).address + offset, 4), 4);
  return value;
}

void MockFirmware::serve(uint32_t ring) {
  if (!rings_.contains(ring) || (ring == 0 && !answers)) return;
  for (;;) {
    const contract::Ring head = header(ring);
    if (head.error != 0 || head.request_consumer == head.request_producer) return;
    const uint64_t at = rings_.at(ring).address + contract::Ring::kBytes +
                        uint64_t{head.request_consumer % head.entries} * RingRequest::kBytes;
    const auto request = RingRequest::load(memory(at, RingRequest::kBytes));
    poke(ring, kRequestConsumer, head.request_consumer + 1);
    if (ring == 0) {
      if (on_admin) on_admin(request);
      serve_admin(request);
    } else {
      const Run run{ring, request, contract::Job::load(memory(request.argument, contract::Job::kBytes))};
      pending_.push_back(run);
      on_run(run);
    }
  }
}

void MockFirmware::serve_admin(const RingRequest& request) {
  RingCompletion completion;
  completion.id = request.id;
  const uint64_t offset = uint64_t{request.value[0]} * contract::VariableEntry::kBytes;
  uint8_t* const entry = hal_.persistent().data() + offset;
  switch (static_cast<Request>(request.type)) {
    case Request::kContextOpen:
      rings_[request.value[0]] = {request.argument, request.value[1], request.value[2]};
      break;
    case Request::kContextClose:
      std::erase_if(pending_, [&](const Run& run) { return run.ring == request.value[0]; });
      std::erase_if(later_, [&](const Run& run) { return run.ring == request.value[0]; });
      rings_.erase(request.value[0]);
      break;
    case Request::kCancel:
      serve_cancel(request.value[0], request.value[1]);
      break;
    case Request::kVariableWrite:
      completion.code = static_cast<uint32_t>(table_fault());
      if (completion.code != 0) break;
      hal_.mend_words(offset, contract::VariableEntry::kBytes);
      std::memcpy(entry, &request.value[1], contract::VariableEntry::kBytes);
      break;
    case Request::kVariableRead:
      completion.code = static_cast<uint32_t>(table_fault());
      if (hal_.any_wrong(offset, contract::VariableEntry::kBytes)) {
        completion.code = static_cast<uint32_t>(contract::ErrorCode::kFaultEcc);
      }
      std::memcpy(completion.value.data(), entry, contract::VariableEntry::kBytes);
      break;
    case Request::kPersistentPower:
      hal_.power_persistent(static_cast<contract::PsramPower>(request.value[0]));
      break;
    case Request::kScrub:
      completion.value[0] = scrub_corrects;
      completion.value[1] = static_cast<uint32_t>(hal_.wrong_words.size());
      hal_.scrub();
      break;
    case Request::kAcknowledgeLoss:
      hal_.set_register(reg::kPsramStatus, 0);
      break;
    case Request::kPower:
    case Request::kNop:
      break;
    default:
      completion.code = static_cast<uint32_t>(contract::ErrorCode::kFaultRequest);
      break;
  }
  write_completion(0, completion);
}

contract::ErrorCode MockFirmware::table_fault() const {
  return hal_.persistent_is_on() ? contract::ErrorCode::kOk : contract::ErrorCode::kFaultPower;
}

void MockFirmware::serve_cancel(uint32_t ring, uint32_t id) {
  const auto run = std::find_if(pending_.begin(), pending_.end(),
                                [&](const Run& other) { return other.ring == ring && other.request.id == id; });
  if (run == pending_.end()) return;
  const Run cancelled = *run;
  std::erase_if(later_, [&](const Run& other) { return other.request.id == id; });
  on_cancel(cancelled);
}

void MockFirmware::complete(const Run& run, RingCompletion completion) {
  const uint32_t id = run.request.id;
  std::erase_if(pending_, [&](const Run& other) { return other.request.id == id; });
  completion.id = id;
  write_completion(run.ring, completion);
}

void MockFirmware::fail(const Run& run, contract::ErrorCode code) {
  RingCompletion completion;
  completion.code = static_cast<uint32_t>(code);
  complete(run, completion);
}

void MockFirmware::write_completion(uint32_t ring, const RingCompletion& completion) {
  const contract::Ring head = header(ring);
  const uint64_t at = rings_.at(ring).address + contract::Ring::kBytes + uint64_t{head.entries} * RingRequest::kBytes +
                      uint64_t{head.completion_producer % head.entries} * RingCompletion::kBytes;
  completion.store(memory(at, RingCompletion::kBytes));
  poke(ring, kCompletionProducer, head.completion_producer + 1);
  raise(reg::kHostIrqStatusCompletionMask);
}

void MockFirmware::stop(contract::CpuStop reason, uint32_t pc, uint32_t cause, uint32_t value) {
  running_ = false;
  hal_.set_register(reg::kCpuStatus, reg::kCpuStatusStoppedMask | static_cast<uint32_t>(reason)
                                                                      << reg::kCpuStatusReasonLsb);
  hal_.set_register(reg::kStopPc, pc);
  hal_.set_register(reg::kStopCause, cause);
  hal_.set_register(reg::kStopValue, value);
  raise(reg::kHostIrqStatusCpuStoppedMask);
}

void MockFirmware::log(const std::string& text) {
  const contract::Ring head = header(0);
  for (size_t i = 0; i < text.size(); ++i) {
    *memory(head.log_base + (head.log_producer + i) % head.log_bytes, 1) = static_cast<uint8_t>(text[i]);
  }
  poke(0, kLogProducer, head.log_producer + static_cast<uint32_t>(text.size()));
}

void MockFirmware::phase(contract::Phase phase, uint32_t argument) {
  const uint64_t base = hal_.get_register(reg::kPhaseBaseLo) | uint64_t{hal_.get_register(reg::kPhaseBaseHi)} << 32;
  const uint32_t count = hal_.get_register(reg::kPhaseCount);
  contract::PhaseRecord record;
  record.time = time_;
  record.id = static_cast<uint32_t>(phase);
  record.argument = argument;
  const uint64_t place = count % hal_.get_register(reg::kPhaseCapacity);
  record.store(memory(base + place * contract::PhaseRecord::kBytes, contract::PhaseRecord::kBytes));
  hal_.set_register(reg::kPhaseCount, count + 1);
}

void MockFirmware::set_error(uint32_t ring, contract::ErrorCode code) {
  poke(ring, kError, static_cast<uint32_t>(code));
  raise(reg::kHostIrqStatusCompletionMask);
}

}  // namespace npu::runtime
