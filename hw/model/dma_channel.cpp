// SPDX-License-Identifier: Apache-2.0
#include "hw/model/dma_channel.h"

#include <algorithm>
#include <cstring>

#include "hw/timing/dma_cycles.h"

namespace npu::model {

using contract::DmaMode;
using contract::ErrorCode;
using contract::Space;

DmaChannel::DmaChannel(const sc_core::sc_module_name& name, Machine& machine, uint32_t channel)
    : QueueUnit(name, machine, channel),
      source_(machine, OnChipPath::Side::kSource, *this),
      target_(machine, OnChipPath::Side::kTarget, *this),
      flights_(machine.config.caps.dma_outstanding),
      staging_(machine.config.caps.dma_burst_bytes) {}

void DmaChannel::start(const IssuedCommand& command) {
  const contract::DmaCommand& dma = command.dma;
  const contract::DmaSide source = contract::dma_source(dma), target = contract::dma_destination(dma);
  const auto offsets = [&](const contract::DmaSide& side) {
    return side.indexed ? std::span<const int64_t>(offsets_) : std::span<const int64_t>();
  };
  const Window& dst = command.dma_dst;
  contract::ExtentWalk walk;
  walk.start(dst.base + dma.dst.offset, target, offsets(target));
  dst_space_ = dst.space;
  dst_base_ = dst.base;
  if (dst.space == Space::kDram) dst_walk_ = walk;
  target_.start(dst.space, walk);
  start_flights(walk.left());

  if (dma.mode == DmaMode::kFill) {
    src_space_ = Space::kNone;
    source_.start_fill(uint64_t{dma.fill_value_hi} << 32 | dma.fill_value_lo, dma.fill_bytes);
  } else {
    walk.start(command.dma_src.base + dma.src.offset, source, offsets(source));
    start_source(dma.src, command.dma_src, walk);
  }
}

void DmaChannel::start_source(const contract::Address& address, const Window& window,
                              const contract::ExtentWalk& walk) {
  src_address_ = address;
  src_space_ = window.space;
  src_base_ = window.base;
  if (window.space == Space::kDram) src_walk_ = walk;
  source_.start(window.space, walk);
}

void DmaChannel::start_flights(uint64_t bytes) {
  std::fill(flights_.begin(), flights_.end(), Flight{});
  unissued_ = bytes;
  issued_ = fetched_ = placed_ = stored_ = landed_ = 0;
  end_ = 0;
  port_busy_ = 0;
  traffic_ = {};
}

void DmaChannel::execute(const IssuedCommand& command, Work& work) {
  wait_until(machine_.clock.now() + machine_.jitter.dma() + timing::kDmaWalkCycles);
  if (aborting()) return;
  command_ = &command;
  work.traffic = {};
  if (contract::has_indices(command.dma)) {
    start_indices(command);
    run(work);
    if (aborting() || !indices_ok(command)) return;
    wait_until(machine_.clock.now() + timing::kDmaIndexCycles);
    if (aborting()) return;
  }
  command_ = &command;
  start(command);
  run(work);
}

void DmaChannel::run(Work& work) {
  if (machine_.clock.timed()) {
    run_bursts();
  } else {
    run_functional();
  }
  command_ = nullptr;

  if (!from_dram()) traffic_.moved(src_space_, true, source_.bytes());
  if (!to_dram() && !to_buffer()) traffic_.moved(dst_space_, false, target_.bytes());
  work.traffic += traffic_;
  work.busy += std::max({source_.beats(), to_buffer() ? 0 : target_.beats(), port_busy_});
  work.bank_conflicts += source_.bank_conflicts() + (to_buffer() ? 0 : target_.bank_conflicts());
}

uint32_t DmaChannel::burst_length(const contract::ExtentWalk& walk) const {
  return static_cast<uint32_t>(
      timing::burst_bytes(walk.address(), walk.contiguous(), machine_.config.caps.dma_burst_bytes));
}

uint64_t DmaChannel::port_cycles(uint64_t bytes) const {
  const uint64_t port_bytes = machine_.config.caps.dma_port_bytes;
  return (bytes + port_bytes - 1) / port_bytes;
}

void DmaChannel::run_functional() {
  uint64_t left = unissued_;
  while (left > 0 && !aborting()) {
    uint64_t length = std::min<uint64_t>(left, staging_.size());
    if (from_dram()) length = std::min(length, src_walk_.contiguous());
    if (to_dram()) length = std::min(length, dst_walk_.contiguous());
    const std::span<uint8_t> data(staging_.data(), length);
    bool ok = true;
    if (from_dram()) {
      ok = machine_.memory.read_now(src_walk_.address(), data);
      src_walk_.advance(length);
      traffic_.dram_read += length;
    } else {
      source_.read(data);
    }
    if (ok && to_dram()) {
      ok = machine_.memory.write_now(dst_walk_.address(), data);
      dst_walk_.advance(length);
      traffic_.dram_written += length;
    } else if (ok && to_buffer()) {
      keep(data);
    } else if (ok) {
      target_.write(data);
    }
    if (!ok) fault(*command_, ErrorCode::kFaultBus);
    left -= length;
  }
}

// The bursts follow each other by what comes back; the thread only waits for the end.
void DmaChannel::run_bursts() {
  issue();
  while (!aborting()) {
    const bool finished = unissued_ == 0 && landed_ == issued_;
    if (finished && machine_.clock.now() >= end_) break;
    if (finished) wake_.set(end_);
    wait(wake_.event());
  }
  if (aborting()) release_all();
}

// Issues bursts while there are places for them.
void DmaChannel::issue() {
  while (unissued_ > 0 && flight(issued_).landed) {
    Flight& next = flight(issued_);
    next = {};
    next.landed = false;
    next.bytes = static_cast<uint32_t>(std::min<uint64_t>(unissued_, machine_.config.caps.dma_burst_bytes));
    if (from_dram()) next.bytes = std::min(next.bytes, burst_length(src_walk_));
    if (to_dram()) next.bytes = std::min(next.bytes, burst_length(dst_walk_));
    unissued_ -= next.bytes;
    issue(next);
  }
}

void DmaChannel::issue(Flight& next) {
  const uint32_t number = issued_++;
  if (to_dram()) {
    next.write = &machine_.memory.make(true, dst_walk_.address(), next.bytes, *this);
    next.write->tag = number;
    dst_walk_.advance(next.bytes);
    port_busy_ += port_cycles(next.bytes);
  }
  if (from_dram()) {
    next.read = &machine_.memory.make(false, src_walk_.address(), next.bytes, *this);
    next.read->tag = number;
    src_walk_.advance(next.bytes);
    port_busy_ += port_cycles(next.bytes);
    machine_.memory.submit(*next.read, queue_);
  } else if (source_.fills()) {
    fetched(fetched_++, machine_.clock.now());
  } else {
    source_.pass(next.bytes, true);
  }
}

void DmaChannel::passed(OnChipPath::Side side, uint64_t at) {
  if (command_ == nullptr || aborting()) return;
  if (side == OnChipPath::Side::kSource) {
    fetched(fetched_++, at);
    return;
  }
  // The target takes it when it is there, which for the last of it is the answer's cycle.
  if (src_space_ == Space::kPersistent) end_ = machine_.clock.now() + timing::Crossbar::kPersistentLatency;
  land(flight(stored_++));
  issue();
  if (unissued_ == 0 && landed_ == issued_) wake_.set_now();
}

// Data of an on-chip source, or of a fill, is there at cycle `at`.
void DmaChannel::fetched(uint32_t number, uint64_t at) {
  Flight& flight = this->flight(number);
  if (to_dram()) {
    source_.read(flight.write->data());
    flight.write_sent = true;
    machine_.memory.submit(*flight.write, queue_, at);
    return;
  }
  const std::span<uint8_t> data(staging_.data(), flight.bytes);
  source_.read(data);
  if (to_buffer()) {
    keep(data);
    end_ = at;
    land(flight);
    issue();
    if (unissued_ == 0 && landed_ == issued_) wake_.set_now();
    return;
  }
  target_.write(data);
  target_.pass(flight.bytes, tells(number));
}

void DmaChannel::burst_done(Burst& burst, bool ok) {
  if (command_ == nullptr || aborting()) {
    machine_.memory.release(burst);
    return;
  }
  Flight& flight = this->flight(burst.tag);
  if (!ok) {
    bus_error(burst, flight);
    return;
  }
  if (burst.is_write()) {
    traffic_.dram_written += burst.data().size();
    machine_.memory.release(burst);
    land(flight);
  } else {
    traffic_.dram_read += burst.data().size();
    if (to_dram()) {
      std::memcpy(flight.write->data().data(), burst.data().data(), burst.data().size());
      machine_.memory.release(burst);
      flight.read = nullptr;
      flight.write_sent = true;
      machine_.memory.submit(*flight.write, queue_);
    } else {
      flight.here = true;
      place_arrived();
    }
  }
  issue();
  if (unissued_ == 0 && landed_ == issued_) wake_.set_now();
}

uint32_t DmaChannel::bursts() const {
  if (command_ == nullptr) return 0;
  const auto owed = [](const Flight& flight) {
    return !flight.landed && ((flight.read != nullptr && !flight.here) || flight.write_sent);
  };
  return static_cast<uint32_t>(std::count_if(flights_.begin(), flights_.end(), owed));
}

void DmaChannel::bus_error(Burst& burst, Flight& flight) {
  const bool write = burst.is_write();
  const contract::Address& address = write ? command_->dma.dst : src_address_;
  const uint64_t offset = burst.get_address() - (write ? dst_base_ : src_base_);
  machine_.memory.release(burst);
  if (!write && flight.write != nullptr) machine_.memory.release(*flight.write);
  flight.landed = true;
  fault(*command_, ErrorCode::kFaultBus, address, offset);
}

// On-chip target: data goes on in the order of the walk, as soon as it is there.
void DmaChannel::place_arrived() {
  for (; placed_ != issued_ && flight(placed_).here; ++placed_) {
    Flight& next = flight(placed_);
    next.here = false;
    to_buffer() ? keep(next.read->data()) : target_.write(next.read->data());
    machine_.memory.release(*next.read);
    next.read = nullptr;
    if (to_buffer()) {
      land(next);
    } else {
      target_.pass(next.bytes, tells(placed_));
    }
  }
}

void DmaChannel::land(Flight& flight) {
  flight.landed = true;
  ++landed_;
}

// Gives back the bursts that an aborted command holds; what was submitted belongs to the port.
void DmaChannel::release_all() {
  source_.stop();
  target_.stop();
  for (Flight& flight : flights_) {
    if (flight.landed) continue;
    if (flight.here) machine_.memory.release(*flight.read);
    if (flight.write != nullptr && !flight.write_sent) machine_.memory.release(*flight.write);
  }
}

}  // namespace npu::model
