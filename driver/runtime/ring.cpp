// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/ring.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "hw/contract/error.h"

namespace npu::runtime {
namespace {

using contract::RingCompletion;
using contract::RingRequest;

constexpr uint32_t kRingMagic = 0x474e4952;  // 'RING'
// Offsets in the header that are touched one by one (structure `ring`).
constexpr uint32_t kRequestProducer = 48, kCompletionConsumer = 52, kRequestConsumer = 64, kLogProducer = 72;

}  // namespace

uint64_t Ring::bytes(uint32_t entries) {
  return contract::Ring::kBytes + uint64_t{entries} * (RingRequest::kBytes + RingCompletion::kBytes);
}

Ring::Ring(Hal& hal, uint64_t address, uint32_t entries, uint32_t number)
    : hal_(hal), address_(address), entries_(entries), number_(number) {}

void Ring::lay_out(contract::Ring header) {
  header.magic = kRingMagic;
  header.version = contract::kContractMajor << 16 | contract::kContractMinor;
  header.entries = entries_;
  std::array<uint8_t, contract::Ring::kBytes> bytes{};
  header.store(bytes.data());
  hal_.write_memory(address_, bytes);
  produced_ = completed_ = consumed_ = acknowledged_ = 0;
}

void Ring::write_word(uint32_t offset, uint32_t value) {
  std::array<uint8_t, sizeof(value)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(value));
  hal_.write_memory(address_ + offset, bytes);
}

void Ring::push(const RingRequest& request) {
  NPU_CHECK(!full());
  std::array<uint8_t, RingRequest::kBytes> bytes{};
  request.store(bytes.data());
  hal_.write_memory(address_ + contract::Ring::kBytes + uint64_t{produced_ % entries_} * RingRequest::kBytes, bytes);
  ++produced_;
  write_word(kRequestProducer, produced_);
}

bool Ring::look() {
  struct {
    uint32_t request_consumer, completion_producer, log_producer, error;
  } seen{};
  std::array<uint8_t, sizeof(seen)> bytes{};
  hal_.read_memory(address_ + kRequestConsumer, bytes);
  std::memcpy(&seen, bytes.data(), sizeof(seen));
  if (seen.error != 0) return false;
  if (seen.completion_producer - completed_ > produced_ - completed_ || produced_ - seen.request_consumer > entries_) {
    throw FirmwareGone(
        fmt::format("the firmware wrote impossible indices into ring {}: it has taken {} requests and completed {}, "
                    "but was given {}, of which {} had been completed before",
                    number_, seen.request_consumer, seen.completion_producer, produced_, completed_));
  }
  completed_ = seen.completion_producer;
  return true;
}

uint32_t Ring::log_produced() const {
  uint32_t produced = 0;
  std::array<uint8_t, sizeof(produced)> bytes{};
  hal_.read_memory(address_ + kLogProducer, bytes);
  std::memcpy(&produced, bytes.data(), sizeof(produced));
  return produced;
}

std::optional<RingCompletion> Ring::take() {
  if (consumed_ == completed_) return std::nullopt;
  std::array<uint8_t, RingCompletion::kBytes> bytes{};
  const uint64_t requests = uint64_t{entries_} * RingRequest::kBytes;
  hal_.read_memory(address_ + contract::Ring::kBytes + requests + uint64_t{consumed_ % entries_} * bytes.size(), bytes);
  ++consumed_;
  return RingCompletion::load(bytes.data());
}

void Ring::acknowledge() {
  if (acknowledged_ == consumed_) return;
  write_word(kCompletionConsumer, consumed_);
  acknowledged_ = consumed_;
}

}  // namespace npu::runtime
