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
  if (ahead_.command != nullptr) return take_over_ahead();

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

// Numbers of flights go on, so that those of a command that was read ahead keep theirs.
void DmaChannel::start_flights(uint64_t bytes) {
  unissued_ = bytes;
  fetched_ = placed_ = stored_ = landed_ = last_;
  end_ = 0;
  port_busy_ = 0;
  traffic_ = {};
}

// The source of the command in hand, with what was read of it before.
void DmaChannel::take_over_ahead() {
  start_source(command_->dma.src, command_->dma_src, ahead_.walk);
  unissued_ = ahead_.unissued;
  traffic_ = ahead_.traffic;
  port_busy_ = ahead_.port_busy;
  if (unissued_ == 0) last_ = issued_;
  ahead_ = {};
  for (uint32_t number = landed_; number != issued_; ++number) {
    Flight& flight = this->flight(number);
    flight.ahead = false;
    if (flight.failed) return bus_error(*flight.read, flight);
  }
}

void DmaChannel::begin_job() {
  QueueUnit::begin_job();
  release_all();  // what was read ahead of a job that was aborted
  std::fill(flights_.begin(), flights_.end(), Flight{});
  issued_ = last_ = 0;
}

void DmaChannel::execute(const IssuedCommand& command, Work& work) {
  const uint64_t now = machine_.clock.now();
  const uint64_t walked = ahead_.command == nullptr ? now + timing::kDmaWalkCycles : std::max(now, ahead_.from);
  wait_until(walked + machine_.jitter.dma());
  if (aborting()) return release_all();
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
  if (!aborting()) {
    place_arrived();
    issue();
  }
  while (!aborting()) {
    if (finished() && machine_.clock.now() >= end_) break;
    if (finished()) wake_.set(end_);
    const sc_core::sc_event* other = reads_ahead() ? next_lacks() : nullptr;
    other == nullptr ? wait(wake_.event()) : wait(wake_.event() | *other);
    issue_ahead();
  }
  if (aborting()) release_all();
}

bool DmaChannel::reads_ahead() const {
  return machine_.config.caps.dma_read_ahead != 0 && unissued_ == 0 && ahead_.command == nullptr && from_dram() &&
         !to_dram() && !to_buffer();
}

// Issues bursts of the command in hand while there are places for them, then those of the next one.
void DmaChannel::issue() {
  while (unissued_ > 0 && flight(issued_).landed) {
    Flight& next = flight(issued_);
    next = {};
    next.landed = false;
    next.bytes = static_cast<uint32_t>(std::min<uint64_t>(unissued_, machine_.config.caps.dma_burst_bytes));
    if (from_dram()) next.bytes = std::min(next.bytes, burst_length(src_walk_));
    if (to_dram()) next.bytes = std::min(next.bytes, burst_length(dst_walk_));
    unissued_ -= next.bytes;
    if (unissued_ == 0) {
      last_ = issued_ + 1;
      wake_.set_now();  // the thread waits for what the next command lacks, from here on
    }
    issue(next);
  }
  issue_ahead();
}

void DmaChannel::issue_ahead() {
  if (command_ == nullptr || unissued_ > 0 || aborting()) return;
  if (reads_ahead() && next_lacks() == nullptr) {
    const IssuedCommand& next = *this->next();
    if (next.header.skip) return;
    const contract::DmaCommand& dma = next.dma;
    if (dma.mode != DmaMode::kCopy || next.dma_src.space != Space::kDram || next.dma_dst.space == Space::kDram ||
        !next.variables.empty()) {
      return;
    }
    ahead_.command = &next;
    ahead_.from = machine_.clock.now() + timing::kDmaWalkCycles;
    ahead_.walk.start(next.dma_src.base + dma.src.offset, contract::dma_source(dma));
    ahead_.unissued = ahead_.walk.left();
  }
  while (ahead_.unissued > 0 && flight(issued_).landed) {
    Flight& next = flight(issued_++);
    next = {};
    next.landed = false;
    next.ahead = true;
    next.bytes = static_cast<uint32_t>(std::min<uint64_t>(ahead_.unissued, burst_length(ahead_.walk)));
    ahead_.unissued -= next.bytes;
    ahead_.port_busy += port_cycles(next.bytes);
    next.read = &machine_.memory.make(false, ahead_.walk.address(), next.bytes, *this);
    next.read->tag = issued_ - 1;
    ahead_.walk.advance(next.bytes);
    machine_.memory.submit(*next.read, queue_, ahead_.from);
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
  if (finished()) wake_.set_now();
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
    if (finished()) wake_.set_now();
    return;
  }
  target_.write(data);
  target_.pass(flight.bytes, tells(number));
}

void DmaChannel::burst_done(Burst& burst, bool ok) {
  Flight& flight = this->flight(burst.tag);
  if (aborting() || (command_ == nullptr && ahead_.command == nullptr)) {
    machine_.memory.release(burst);
    return;
  }
  if (flight.ahead) {
    ahead_.traffic.dram_read += ok ? burst.data().size() : 0;
    flight.here = true;
    flight.failed = !ok;
    return;
  }
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
  if (finished()) wake_.set_now();
}

uint32_t DmaChannel::bursts() const {
  if (command_ == nullptr) return 0;
  const auto owed = [](const Flight& flight) {
    return !flight.landed && !flight.ahead && ((flight.read != nullptr && !flight.here) || flight.write_sent);
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
  for (; placed_ != issued_ && flight(placed_).here && !flight(placed_).ahead; ++placed_) {
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
  ahead_ = {};
  source_.stop();
  target_.stop();
  for (Flight& flight : flights_) {
    if (flight.landed) continue;
    if (flight.here) machine_.memory.release(*flight.read);
    if (flight.write != nullptr && !flight.write_sent) machine_.memory.release(*flight.write);
    flight.landed = true;
  }
}

}  // namespace npu::model
