// SPDX-License-Identifier: Apache-2.0
#include "hw/model/fetch_unit.h"

#include <algorithm>
#include <cstring>

#include "hw/timing/dma_cycles.h"

namespace npu::model {

FetchUnit::FetchUnit(Machine& machine)
    : machine_(machine),
      flights_(machine.config.caps.dma_outstanding),
      ring_(timing::kPrefetchBytes),
      arrival_(machine.agenda) {}

void FetchUnit::begin_job(uint64_t base, uint64_t start, uint64_t bytes) {
  base_ = base;
  start_ = start;
  bytes_ = bytes;
  requested_ = arrived_ = taken_ = start;
  asked_before_ = arrived_before_ = 0;
  // Bursts that an aborted job left behind have no client any more; what it held goes back.
  for (; absorbed_ != issued_; ++absorbed_) {
    Flight& flight = flights_[absorbed_ % flights_.size()];
    if (flight.here) machine_.memory.release(*flight.burst);
  }
  issued_ = absorbed_ = 0;
  failed_ = false;
}

void FetchUnit::jump(uint64_t start) {
  asked_before_ = requested();
  arrived_before_ = fetched();
  start_ = requested_ = arrived_ = taken_ = start;
  begin();
}

void FetchUnit::request() {
  while (requested_ < bytes_ &&
         issued_ - absorbed_ <
             timing::prefetch_bursts(requested_ - taken_, machine_.scoreboard.under_way(), flights_.size())) {
    const uint64_t length =
        timing::burst_bytes(base_ + requested_, bytes_ - requested_, machine_.config.caps.dma_burst_bytes);
    if (requested_ - taken_ + length > ring_.size()) return;
    Flight& flight = flights_[issued_ % flights_.size()];
    flight.here = false;
    flight.burst = &machine_.memory.make(false, base_ + requested_, static_cast<uint32_t>(length), *this);
    flight.burst->tag = issued_++;
    requested_ += length;
    machine_.memory.submit(*flight.burst, MemoryPort::kFetchRequester);
  }
}

void FetchUnit::burst_done(Burst& burst, bool ok) {
  Flight& flight = flights_[burst.tag % flights_.size()];
  flight.here = true;
  flight.ok = ok;
  arrival_.set_now();
}

void FetchUnit::store(std::span<const uint8_t> data) {
  const uint64_t at = arrived_ % ring_.size();
  const uint64_t first = std::min<uint64_t>(data.size(), ring_.size() - at);
  std::memcpy(ring_.data() + at, data.data(), first);
  std::memcpy(ring_.data(), data.data() + first, data.size() - first);
  arrived_ += data.size();
}

void FetchUnit::absorb() {
  while (absorbed_ != issued_) {
    Flight& flight = flights_[absorbed_ % flights_.size()];
    if (!flight.here) return;
    if (!flight.ok) {  // a fault once commands are asked for that are in it
      failed_ = true;
      return;
    }
    store(flight.burst->data());
    machine_.memory.release(*flight.burst);
    ++absorbed_;
  }
}

bool FetchUnit::ready(uint32_t bytes) {
  absorb();
  if (!failed_) request();
  return arrived_ - taken_ >= bytes;
}

bool FetchUnit::fetch_now(uint32_t bytes) {
  while (arrived_ - taken_ < bytes) {
    std::array<uint8_t, 4096> buffer;
    const uint64_t space = ring_.size() - (arrived_ - taken_);
    const std::span<uint8_t> data(buffer.data(), std::min({bytes_ - arrived_, buffer.size(), space}));
    if (!machine_.memory.read_now(base_ + arrived_, data)) {
      failed_ = true;
      return false;
    }
    store(data);
    requested_ = arrived_;
  }
  return true;
}

bool FetchUnit::settled() {
  absorb();
  return failed_ || arrived_ == requested_;
}

uint32_t FetchUnit::bursts() const {
  uint32_t owed = 0;
  for (uint32_t number = absorbed_; number != issued_; ++number)
    owed += flights_[number % flights_.size()].here ? 0 : 1;
  return owed;
}

void FetchUnit::peek(std::span<uint32_t> words) const {
  const uint64_t at = taken_ % ring_.size();
  const uint64_t first = std::min<uint64_t>(words.size_bytes(), ring_.size() - at);
  std::memcpy(words.data(), ring_.data() + at, first);
  std::memcpy(reinterpret_cast<uint8_t*>(words.data()) + first, ring_.data(), words.size_bytes() - first);
}

}  // namespace npu::model
