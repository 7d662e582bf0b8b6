// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/ring_driver.h"

#include <algorithm>
#include <array>

namespace npu::firmware_test {

namespace reg = contract::reg;

namespace {

constexpr uint32_t kMagic = 0x474e4952;
constexpr uint32_t kVersion = contract::kContractMajor << 16 | contract::kContractMinor;
constexpr uint32_t kRequestProducerOffset = 48, kCompletionConsumerOffset = 52;

template <typename Record>
void write_record(DevicePort& device, uint64_t address, const Record& record) {
  std::array<uint8_t, Record::kBytes> bytes;
  record.store(bytes.data());
  device.write_memory(address, bytes);
}

template <typename Record>
Record read_record(DevicePort& device, uint64_t address) {
  std::array<uint8_t, Record::kBytes> bytes;
  device.read_memory(address, bytes);
  return Record::load(bytes.data());
}

}  // namespace

contract::Ring RingDriver::admin_header(uint32_t log_level) const {
  contract::Ring header;
  header.magic = kMagic;
  header.version = kVersion;
  header.entries = kEntries;
  header.shared_base = kShared;
  header.shared_bytes = kSharedBytes;
  header.log_base = kLog;
  header.log_bytes = kLogBytes;
  header.log_level = log_level;
  return header;
}

void RingDriver::boot(std::span<const uint8_t> image, uint32_t log_level) { boot_with(image, admin_header(log_level)); }

void RingDriver::boot_with(std::span<const uint8_t> image, const contract::Ring& admin, uint64_t admin_address) {
  std::fill(std::begin(indices_), std::end(indices_), Indices{});
  device_.write_register(reg::kCpuControl, reg::kCpuControlResetAllMask);
  device_.write_code(image.subspan(contract::FirmwareHeader::kBytes));
  write_ring(0, admin);
  device_.write_register(reg::kAdminRingLo, static_cast<uint32_t>(admin_address));
  device_.write_register(reg::kAdminRingHi, static_cast<uint32_t>(admin_address >> 32));
  device_.write_register(reg::kHostIrqEnable, 7);
  device_.write_register(reg::kCpuControl, kRunBit);
}

void RingDriver::write_ring(uint32_t ring, const contract::Ring& header) {
  write_record(device_, ring_address(ring), header);
  // What a completion does not set shows.
  const std::vector<uint8_t> filler(kEntries * contract::RingCompletion::kBytes, 0xa5);
  device_.write_memory(ring_address(ring) + contract::Ring::kBytes + kEntries * contract::RingRequest::kBytes, filler);
}

uint32_t RingDriver::submit(uint32_t ring, contract::Request type, uint64_t argument, std::span<const uint32_t> value) {
  contract::RingRequest request;
  request.type = static_cast<uint32_t>(type);
  request.id = next_id_++;
  request.argument = argument;
  std::copy(value.begin(), value.end(), request.value.begin());
  Indices& indices = indices_[ring];
  write_record(device_,
               ring_address(ring) + contract::Ring::kBytes +
                   indices.produced % kEntries * uint64_t{contract::RingRequest::kBytes},
               request);
  ++indices.produced;
  write_word(ring_address(ring) + kRequestProducerOffset, indices.produced);
  ring_doorbell(ring);
  return request.id;
}

void RingDriver::ring_doorbell(uint32_t ring) { device_.write_register(reg::kDoorbell, ring); }

uint32_t RingDriver::open(uint32_t ring, uint32_t priority, uint32_t owner, uint32_t first_index) {
  contract::Ring header;
  header.magic = kMagic;
  header.version = kVersion;
  header.entries = kEntries;
  header.request_producer = header.request_consumer = first_index;
  header.completion_producer = header.completion_consumer = first_index;
  indices_[ring] = {first_index, first_index};
  write_ring(ring, header);
  return submit(0, contract::Request::kContextOpen, ring_address(ring), std::array<uint32_t, 3>{ring, priority, owner});
}

uint64_t RingDriver::put_job(const contract::Job& job, uint32_t slot) {
  const uint64_t address = kJobs + 0x100 * uint64_t{slot};
  write_record(device_, address, job);
  return address;
}

uint32_t RingDriver::run(uint32_t ring, const contract::Job& job, uint32_t slot) {
  return submit(ring, contract::Request::kRun, put_job(job, slot));
}

std::optional<contract::RingCompletion> RingDriver::peek(uint32_t ring) {
  const uint32_t collected = indices_[ring].collected;
  if (header(ring).completion_producer == collected) return std::nullopt;
  return read_record<contract::RingCompletion>(
      device_, ring_address(ring) + contract::Ring::kBytes + kEntries * uint64_t{contract::RingRequest::kBytes} +
                   collected % kEntries * uint64_t{contract::RingCompletion::kBytes});
}

std::optional<contract::RingCompletion> RingDriver::take(uint32_t ring) {
  std::optional<contract::RingCompletion> completion = peek(ring);
  if (completion) write_word(ring_address(ring) + kCompletionConsumerOffset, ++indices_[ring].collected);
  return completion;
}

contract::Ring RingDriver::header(uint32_t ring) { return read_record<contract::Ring>(device_, ring_address(ring)); }

void RingDriver::write_word(uint64_t address, uint32_t value) {
  std::array<uint8_t, 4> bytes;
  for (uint32_t i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(value >> 8 * i);
  device_.write_memory(address, bytes);
}

std::string RingDriver::log() {
  const uint32_t end = header(0).log_producer;
  std::string text(std::min(end, kLogBytes), 0);
  device_.read_memory(kLog, std::span(reinterpret_cast<uint8_t*>(text.data()), text.size()));
  if (end > kLogBytes) std::rotate(text.begin(), text.begin() + end % kLogBytes, text.end());
  return text;
}

}  // namespace npu::firmware_test
