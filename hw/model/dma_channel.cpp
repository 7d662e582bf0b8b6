#include "hw/model/dma_channel.h"

#include <algorithm>
#include <cstring>

namespace npu::model {

using contract::DmaMode;
using contract::ErrorCode;
using contract::Space;

DmaChannel::DmaChannel(const sc_core::sc_module_name& name, Machine& machine, uint32_t channel)
    : QueueUnit(name, machine, channel),
      source_(machine),
      target_(machine),
      flights_(machine.config.caps.dma_outstanding),
      staging_(machine.config.caps.dma_burst_bytes) {}

void DmaChannel::start(const IssuedCommand& command) {
  const contract::DmaCommand& dma = command.dma;
  const Window& dst = command.dma_dst;
  ExtentWalk walk;
  walk.start(dst.base + dma.dst.offset, dma.run_bytes, dma.count, dma.dst_stride);
  dst_space_ = dst.space;
  dst_base_ = dst.base;
  if (dst.space == Space::kDram) dst_walk_ = walk;
  target_.start(dst.space, walk);

  if (dma.mode == DmaMode::kFill) {
    src_space_ = Space::kNone;
    source_.start_fill(uint64_t{dma.fill_value_hi} << 32 | dma.fill_value_lo, dma.fill_bytes);
  } else {
    const Window& src = command.dma_src;
    walk.start(src.base + dma.src.offset, dma.run_bytes, dma.count, dma.src_stride);
    src_space_ = src.space;
    src_base_ = src.base;
    if (src.space == Space::kDram) src_walk_ = walk;
    source_.start(src.space, walk);
  }
  issued_ = stepped_ = retired_ = 0;
  port_busy_ = 0;
  traffic_ = {};
}

void DmaChannel::execute(const IssuedCommand& command, Work& work) {
  wait_until(machine_.clock.now() + machine_.jitter.dma());
  command_ = &command;
  start(command);
  const bool from_dram = src_space_ == Space::kDram, to_dram = dst_space_ == Space::kDram;
  if (!machine_.clock.timed()) {
    run_functional();
  } else if (from_dram && to_dram) {
    copy_in_dram();
  } else if (from_dram) {
    load();
  } else if (to_dram) {
    store();
  } else {
    copy_on_chip();
  }
  land();
  command_ = nullptr;

  if (src_space_ != Space::kDram) traffic_.moved(src_space_, true, source_.bytes());
  if (dst_space_ != Space::kDram) traffic_.moved(dst_space_, false, target_.bytes());
  work.traffic = traffic_;
  work.busy = std::max({source_.busy(), target_.busy(), port_busy_});
  work.bank_conflicts = source_.bank_conflicts() + target_.bank_conflicts();
}

uint32_t DmaChannel::burst_length(const ExtentWalk& walk) const {
  const uint64_t most = machine_.config.caps.dma_burst_bytes;
  return static_cast<uint32_t>(std::min(walk.contiguous(), most - walk.address() % most));
}

void DmaChannel::run_functional() {
  const bool from_dram = src_space_ == Space::kDram, to_dram = dst_space_ == Space::kDram;
  ExtentWalk& dst = dst_walk_;
  uint64_t left = target_.walk().left();
  while (left > 0 && !aborting()) {
    uint64_t length = std::min<uint64_t>(left, staging_.size());
    if (from_dram) length = std::min(length, src_walk_.contiguous());
    if (to_dram) length = std::min(length, dst.contiguous());
    const std::span<uint8_t> data(staging_.data(), length);
    bool ok = true;
    if (from_dram) {
      ok = machine_.memory.read_now(src_walk_.address(), data);
      src_walk_.advance(length);
      traffic_.dram_read += length;
    } else {
      source_.read(data, 0);
    }
    if (ok && to_dram) {
      ok = machine_.memory.write_now(dst.address(), data);
      dst.advance(length);
      traffic_.dram_written += length;
    } else if (ok) {
      target_.write(data, 0);
    }
    if (!ok) fault(*command_, ErrorCode::kFaultBus);
    left -= length;
  }
}

// The next flight; the caller fills it in before it submits a burst, whose response may come at once.
DmaChannel::Flight& DmaChannel::take_off() {
  Flight& next = flight(issued_);
  next = {};
  ++issued_;
  return next;
}

// Frees the flights whose last step is through.
void DmaChannel::retire() {
  const uint64_t now = machine_.clock.now();
  while (retired_ != issued_) {
    const Flight& oldest = flight(retired_);
    if (!oldest.last_step || !oldest.here || oldest.at > now) return;
    ++retired_;
  }
}

// Gives back the bursts that an aborted command still holds; those in flight belong to the port.
void DmaChannel::land() {
  for (; retired_ != issued_; ++retired_) {
    Flight& flight = this->flight(retired_);
    if (flight.last_step) continue;
    if (flight.here) machine_.memory.release(*flight.read);
    if (flight.write != nullptr) machine_.memory.release(*flight.write);
  }
}

void DmaChannel::load() {
  while (!aborting()) {
    retire();
    if (!src_walk_.done() && room()) {
      const uint32_t length = burst_length(src_walk_);
      const uint32_t number = issued_;
      Flight& next = take_off();
      next.read = &machine_.memory.make(false, src_walk_.address(), length, *this);
      next.read->tag = number;
      src_walk_.advance(length);
      port_busy_ += (length + machine_.config.caps.dma_port_bytes - 1) / machine_.config.caps.dma_port_bytes;
      machine_.memory.submit(*next.read, queue_);
      continue;
    }
    if (retired_ == issued_) return;
    const Flight& oldest = flight(retired_);
    if (oldest.last_step && oldest.here) wake_.set(oldest.at);
    wait(wake_.event());
  }
}

// On-chip target: data goes on in the order of the walk, as soon as it is there.
void DmaChannel::place_arrived() {
  while (stepped_ != issued_ && flight(stepped_).here) {
    Flight& next = flight(stepped_++);
    next.at = target_.write(next.read->data(), next.at);
    next.last_step = true;
    machine_.memory.release(*next.read);
  }
  const Flight& oldest = flight(retired_);
  if (!src_walk_.done() && oldest.last_step) {
    wake_.set(oldest.at);
  } else if (stepped_ == issued_) {
    wake_.set(target_.free_at());
  }
}

void DmaChannel::store() {
  while (!aborting()) {
    retire();
    if (!dst_walk_.done() && room()) {
      const uint32_t length = burst_length(dst_walk_);
      Burst& burst = machine_.memory.make(true, dst_walk_.address(), length, *this);
      const uint64_t ready = source_.read(burst.data(), machine_.clock.now());
      wait_until(ready);
      if (aborting()) {
        machine_.memory.release(burst);
        return;
      }
      burst.tag = issued_;
      Flight& next = take_off();
      next.write = &burst;
      next.last_step = true;
      dst_walk_.advance(length);
      port_busy_ += (length + machine_.config.caps.dma_port_bytes - 1) / machine_.config.caps.dma_port_bytes;
      machine_.memory.submit(burst, queue_);
      continue;
    }
    if (retired_ == issued_) return;
    const Flight& oldest = flight(retired_);
    if (oldest.here) wake_.set(oldest.at);
    wait(wake_.event());
  }
}

void DmaChannel::copy_in_dram() {
  const uint32_t port_bytes = machine_.config.caps.dma_port_bytes;
  while (!aborting()) {
    retire();
    while (stepped_ != issued_ && flight(stepped_).here && flight(stepped_).at <= machine_.clock.now()) {
      Flight& next = flight(stepped_++);
      Burst& read = *next.read;
      std::memcpy(next.write->data().data(), read.data().data(), read.data().size());
      machine_.memory.release(read);
      next.here = false;
      next.last_step = true;
      machine_.memory.submit(*next.write, queue_);
    }
    if (!src_walk_.done() && room()) {
      const uint32_t length = std::min(burst_length(src_walk_), burst_length(dst_walk_));
      const uint32_t number = issued_;
      Flight& next = take_off();
      next.read = &machine_.memory.make(false, src_walk_.address(), length, *this);
      next.write = &machine_.memory.make(true, dst_walk_.address(), length, *this);
      next.read->tag = next.write->tag = number;
      src_walk_.advance(length);
      dst_walk_.advance(length);
      port_busy_ += 2 * ((length + port_bytes - 1) / port_bytes);
      machine_.memory.submit(*next.read, queue_);
      continue;
    }
    if (retired_ == issued_) return;
    for (const uint32_t number : {stepped_, retired_}) {
      if (number != issued_ && flight(number).here) wake_.set(flight(number).at);
    }
    wait(wake_.event());
  }
}

void DmaChannel::copy_on_chip() {
  uint64_t left = target_.walk().left();
  while (left > 0 && !aborting()) {
    const std::span<uint8_t> data(staging_.data(), std::min<uint64_t>(left, staging_.size()));
    const uint64_t read = source_.read(data, machine_.clock.now());
    const uint64_t written = target_.write(data, read);
    left -= data.size();
    wait_until(source_.fills() || left == 0 ? written : read);
  }
}

void DmaChannel::burst_done(Burst& burst, bool ok) {
  if (command_ == nullptr || aborting()) {
    machine_.memory.release(burst);
    return;
  }
  Flight& flight = this->flight(burst.tag);
  const bool write = burst.is_write();
  (write ? traffic_.dram_written : traffic_.dram_read) += burst.data().size();
  flight.here = true;
  flight.at = machine_.clock.now();
  if (!ok) {
    const contract::Address& address = write ? command_->dma.dst : command_->dma.src;
    const uint64_t offset = burst.get_address() - (write ? dst_base_ : src_base_);
    machine_.memory.release(burst);
    if (!write && flight.write != nullptr) machine_.memory.release(*flight.write);
    flight.last_step = true;
    fault(*command_, ErrorCode::kFaultBus, address, offset);
    return;
  }
  if (write) machine_.memory.release(burst);
  if (!write && dst_space_ != Space::kDram) {
    place_arrived();
  } else {
    wake_.set(flight.at);
  }
}

}  // namespace npu::model
