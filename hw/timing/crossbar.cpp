// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/crossbar.h"

#include <algorithm>

#include "hw/contract/error.h"

namespace npu::timing {

Crossbar::Lane::Lane(Crossbar& crossbar, uint32_t ports) : first_(crossbar.ports_used_) {
  crossbar.ports_used_ += ports;
  NPU_CHECK(crossbar.ports_used_ <= kMostPorts);
  crossbar.lanes_.push_back(this);
}

Crossbar::Crossbar(const contract::Capabilities& caps)
    : bank_shift_(static_cast<uint32_t>(std::countr_zero(caps.spm_bank_bytes))),
      row_shift_(static_cast<uint32_t>(std::countr_zero(caps.psram_port_bytes))),
      scratchpad_(caps.spm_banks),
      persistent_(1) {}

void Crossbar::begin_job() {
  for (Lane* lane : lanes_) stop(*lane);
  scratchpad_.reset();
  persistent_.reset();
  played_ = 0;
  late_ = false;
}

void Crossbar::start(Lane& lane, PortSchedule& schedule, uint64_t at_least) {
  if (lane.running()) return;
  lane.schedule_ = &schedule;
  lane.asking_ = schedule.asking();
  lane.waiting_ = 0;
  lane.at_least_ = at_least;
  lane.turn_ = starts_++;
  lane.memories_ = lane.memories();
  running_.push_back(&lane);
  gathered_ = gathered_ && !together() && lane.memories_ != kBothMemories;
  if (gathered_) join(lane);
}

void Crossbar::stop(Lane& lane) {
  lane.schedule_ = nullptr;
  std::erase(running_, &lane);
  std::erase(ended_, &lane);
  gathered_ = false;
}

// Those of the scratchpad, and those of the persistent SRAM; all in one while a lane asks for both.
void Crossbar::gather() {
  gathered_ = true;
  const bool one =
      std::any_of(running_.begin(), running_.end(), [](const Lane* lane) { return lane->memories_ == kBothMemories; });
  Party& first = parties_[0];
  Party& second = parties_[1];
  first.lanes.clear();
  second.lanes.clear();
  first.persistent = one;
  second.persistent = !one;
  for (Lane* lane : running_) join(*lane);
}

void Crossbar::join(Lane& lane) {
  const bool first = together() || lane.memories_ == set_of(OnChip::kScratchpad);
  parties_[first ? 0 : 1].lanes.push_back(&lane);
}

void Crossbar::play(uint64_t end) {
  if (played_ >= end) return;
  if (!gathered_) gather();
  for (Party& party : parties_) {
    if (!party.lanes.empty()) {
      play(party, end);
    } else if (party.persistent) {
      late_ = false;  // cycles without requests
    }
  }
  played_ = end;
}

void Crossbar::play(Party& party, uint64_t end) {
  uint64_t now = played_;
  while (now < end && !party.lanes.empty()) {
    if (party.lanes.size() == 1) {
      now = play_alone(party, now, end);
    } else {
      cycle(party, now++);
    }
    if (!some_ended_) continue;
    some_ended_ = false;
    gathered_ = !together();  // that of both memories may be gone
    const auto done = [](const Lane* lane) { return lane->asking_ == kDone; };
    std::erase_if(party.lanes, done);
    std::erase_if(running_, done);
  }
  if (now < end && party.persistent) late_ = false;  // a cycle without requests
}

// One port of one lane has no competitor; its next cycles follow from its schedule. Returns the cycle behind them.
uint64_t Crossbar::play_alone(Party& party, uint64_t now, uint64_t end) {
  Lane& lane = *party.lanes.front();
  while (now < end && !some_ended_) {
    const Ports asking = lane.asking_;
    if ((asking & (asking - 1)) != 0 || (late_ && party.persistent) || lane.waiting_ != 0) {
      cycle(party, now++);
      continue;
    }
    if (asking != 0) {
      if (const uint64_t cycles = lane.run(end - now); cycles > 0) {
        now += cycles;
        if (lane.schedule_->done()) end_lane(lane, now);
        continue;
      }
      const auto port = static_cast<uint32_t>(std::countr_zero(asking));
      const uint32_t number = lane.first_ + port;
      open(lane, port);
      if (ports_[number].slow) {
        lane.waiting_ = asking;  // it is open
        cycle(party, now++);
        continue;
      }
      grant(number);
    }
    advance(lane, asking, ++now);
  }
  return now;
}

void Crossbar::tell(uint64_t now) {
  // Who is told may start again, or others.
  for (;;) {
    const auto lane = std::find_if(ended_.begin(), ended_.end(), [&](const Lane* lane) { return lane->end_ <= now; });
    if (lane == ended_.end()) return;
    Lane& told = **lane;
    ended_.erase(lane);
    told.schedule_ = nullptr;
    told.ended(told.end_);
  }
}

uint64_t Crossbar::next_end() const {
  uint64_t next = kNever;
  for (const Lane* lane : running_) next = std::min(next, next_end(*lane));
  for (const Lane* lane : ended_) next = std::min(next, lane->end_);
  return next;
}

uint64_t Crossbar::next_end(const Lane& lane) const {
  if (!lane.wants_end()) return kNever;
  if (lane.asking_ == kDone) return lane.end_;
  return std::max(lane.at_least_, played_ + std::max<uint64_t>(1, lane.cycles_left()));
}

void Crossbar::cycle(Party& party, uint64_t now) {
  // The usual case first: who asks finds all of its banks free.
  Banks taken;
  bool clash = late_ && party.persistent, persistent = false;
  for (Lane* lane : party.lanes) {
    for (Ports left = lane->asking_ & ~lane->waiting_; left != 0; left &= left - 1) {
      open(*lane, static_cast<uint32_t>(std::countr_zero(left)));
    }
    for (Ports left = lane->asking_; left != 0; left &= left - 1) {
      const uint32_t number = lane->first_ + static_cast<uint32_t>(std::countr_zero(left));
      clash |= ports_[number].slow;
      if (ports_[number].memory == OnChip::kPersistent) {
        clash |= persistent;
        persistent = true;
        continue;
      }
      const Banks& wanted = wanted_[number];
      for (size_t i = 0; i < taken.bits.size(); ++i) {
        clash |= (taken.bits[i] & wanted.bits[i]) != 0;
        taken.bits[i] |= wanted.bits[i];
      }
    }
  }
  if (clash) {
    arbitrate(party, now + 1);
  } else {
    grant_all(party, now + 1);
  }
}

void Crossbar::grant_all(Party& party, uint64_t end) {
  for (Lane* lane : party.lanes) {
    for (Ports left = lane->asking_; left != 0; left &= left - 1) {
      grant(lane->first_ + static_cast<uint32_t>(std::countr_zero(left)));
    }
    lane->waiting_ = 0;
    advance(*lane, lane->asking_, end);
  }
}

void Crossbar::grant(uint32_t number) {
  Port& port = ports_[number];
  arbiter(port.memory).serve(number, port.now);
  if (port.memory == OnChip::kPersistent) late_ = port.part();
}

void Crossbar::arbitrate(Party& party, uint64_t end) {
  std::array<uint32_t, kOnChipMemories> asking{};
  for (const Lane* lane : party.lanes) {
    for (Ports left = lane->asking_; left != 0; left &= left - 1) {
      const uint32_t number = lane->first_ + static_cast<uint32_t>(std::countr_zero(left));
      if (wanted_[number].any()) asking[static_cast<size_t>(ports_[number].memory)] |= 1u << number;
    }
  }
  if (asking[0] != 0) scratchpad_.step(asking[0], wanted_);
  if (late_ && party.persistent) {
    late_ = false;
  } else if (asking[1] != 0) {
    serve_persistent(asking[1]);
  }
  for (Lane* lane : party.lanes) finish(*lane, end);
}

void Crossbar::alone(const Lane& lane, uint32_t port, uint64_t address, uint64_t bytes) {
  const uint64_t first = address >> bank_shift_, last = (address + bytes - 1) >> bank_shift_;
  scratchpad_.serve(lane.first_ + port, {first, std::min<uint64_t>(last - first + 1, scratchpad_.banks())});
}

// A port's request begins.
void Crossbar::open(Lane& lane, uint32_t port) {
  const MemoryRequest request = lane.next(port);
  const uint32_t number = lane.first_ + port;
  Port& at = ports_[number];
  if (request.bytes == 0) {
    at = {};
    wanted_[number] = {};
    return;
  }
  NPU_CHECK((lane.memories_ & set_of(request.memory)) != 0);
  at.memory = request.memory;
  const uint64_t end = request.address + request.bytes;
  const uint32_t shift = request.memory == OnChip::kScratchpad ? bank_shift_ : row_shift_;
  const uint64_t first = request.address >> shift;
  at.words = {first, ((end - 1) >> shift) - first + 1};
  at.part_first = at.part_last = false;
  if (request.memory == OnChip::kPersistent) {
    at.part_first = request.write && request.address % kCodeBytes != 0;
    at.part_last = request.write && end % kCodeBytes != 0;
    at.at_first = true;
  }
  want(number);
  at.slow = at.words.count != 0;
}

void Crossbar::serve_persistent(uint32_t asking) {
  persistent_.step(asking, wanted_);
  for (uint32_t left = asking; left != 0; left &= left - 1) {
    const auto number = static_cast<size_t>(std::countr_zero(left));
    if (wanted_[number].any()) continue;
    Port& port = ports_[number];
    late_ = port.part();
    port.at_first = false;
  }
}

void Crossbar::finish(Lane& lane, uint64_t end) {
  Ports granted = 0;
  bool waits = false;
  for (Ports left = lane.asking_; left != 0; left &= left - 1) {
    const uint32_t number = lane.first_ + static_cast<uint32_t>(std::countr_zero(left));
    Port& port = ports_[number];
    port.slow = true;  // what is left of its banks is no run of words
    if (wanted_[number].any()) {
      waits = waits || port.memory == OnChip::kScratchpad;
    } else if (port.words.count == 0) {
      granted |= left & (~left + 1);
    } else {
      want(number);
    }
  }
  lane.waiting_ = lane.asking_ & ~granted;
  if (waits) ++lane.waited_;
  advance(lane, granted, end);
}

// `end`: of the cycle.
void Crossbar::advance(Lane& lane, Ports granted, uint64_t end) {
  lane.asking_ = lane.schedule_->advance(granted);
  if (lane.asking_ == kDone) end_lane(lane, end);
}

void Crossbar::end_lane(Lane& lane, uint64_t now) {
  lane.asking_ = kDone;
  some_ended_ = true;
  lane.through_ = now;
  lane.end_ = std::max(now, lane.at_least_);
  if (!lane.wants_end()) {
    lane.schedule_ = nullptr;
    return;
  }
  // The other party may be ahead.
  const auto later = [](const Lane* a, const Lane* b) {
    return a->through_ != b->through_ ? a->through_ < b->through_ : a->turn_ < b->turn_;
  };
  ended_.insert(std::upper_bound(ended_.begin(), ended_.end(), &lane, later), &lane);
}

}  // namespace npu::timing
