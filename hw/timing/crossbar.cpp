// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/crossbar.h"

#include <algorithm>
#include <bit>
#include <span>

#include "hw/contract/error.h"

namespace npu::timing {

Crossbar::Lane::Lane(Crossbar& crossbar, uint32_t ports, RequestWalk* walks, bool goes_straight_on)
    : first_(crossbar.ports_used_), count_(ports), walks_(walks), goes_straight_on_(goes_straight_on) {
  crossbar.ports_used_ += ports;
  NPU_CHECK(crossbar.ports_used_ <= kMostPorts);
  for (uint32_t port = 0; port < ports; ++port) crossbar.askers_[first_ + port] = {*this, port};
  crossbar.lanes_.push_back(this);
}

MemoryRequest Crossbar::Lane::next(uint32_t) { panic(__FILE__, __LINE__, "a lane without requests"); }

Crossbar::Crossbar(const contract::Capabilities& caps)
    : bank_shift_(static_cast<uint32_t>(std::countr_zero(caps.spm_bank_bytes))),
      row_shift_(static_cast<uint32_t>(std::countr_zero(caps.psram_port_bytes))),
      banks_(caps.spm_banks),
      persistent_(banks_.single()) {}

void Crossbar::begin_job() {
  for (Lane* lane : lanes_) stop(*lane);
  banks_.reset();
  played_ = 0;
  late_ = false;
}

void Crossbar::start(Lane& lane, PortSchedule& schedule, uint64_t at_least) {
  if (lane.running()) return;
  lane.schedule_ = &schedule;
  lane.asking_ = schedule.asking();
  lane.untold_ = 0;
  lane.at_least_ = at_least;
  lane.turn_ = starts_++;
  lane.memories_ = lane.memories();
  for (uint32_t port = 0; port < lane.count_; ++port) askers_[lane.first_ + port].begin();
  look_ahead(lane);
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
    uint64_t cycles = play_alone(party, end - now);
    if (cycles == 0) cycles = run(party, now, end - now);
    now += cycles;
    if (!some_ended_) continue;
    some_ended_ = false;
    gathered_ = !together();  // that of both memories may be gone
    const auto done = [](const Lane* lane) { return lane->asking_ == kDone; };
    std::erase_if(party.lanes, done);
    std::erase_if(running_, done);
  }
  if (now < end && party.persistent) late_ = false;  // a cycle without requests
  for (Lane* lane : party.lanes) lane->tell_schedule();
}

uint64_t Crossbar::play_alone(const Party& party, uint64_t most) {
  Lane& lane = *party.lanes.front();
  if (party.lanes.size() > 1 || late_) return 0;
  if (lane.known_ == 0 || (lane.asking_ & (lane.asking_ - 1)) != 0) return 0;
  uint64_t cycles = std::min(most, lane.known_);
  if (lane.asking_ != 0) {
    const auto port = static_cast<uint32_t>(std::countr_zero(lane.asking_));
    if (askers_[lane.first_ + port].open) return 0;
    const auto serve = [&](const RequestWalk::Bytes& bytes) {
      WordRun words = words_of(bytes, bank_shift_);
      banks_.serve(lane.first_ + port, banks_.next_banks(words));
    };
    if (lane.walks_ != nullptr) {
      if (lane.memories_ != set_of(OnChip::kScratchpad)) return 0;
      RequestWalk::Part* const part = lane.walks_[port].current();
      if (part == nullptr || !one_cycle(part->most_bytes())) return 0;
      cycles = std::min(cycles, part->left());
      part->take(cycles, serve);
    } else {
      if (!one_cycle(lane.on_)) return 0;
      const RequestWalk::Bytes bytes = lane.go_on(cycles);
      if (lane.on_.memory == OnChip::kScratchpad) {
        serve(bytes);
      } else {
        banks_.serve(lane.first_ + port, persistent_);
      }
    }
  }
  lane.known_ -= cycles;
  lane.untold_ += cycles;
  return cycles;
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

// Until a lane has ended, or a request does not take one cycle, or play_alone() can go on.
uint64_t Crossbar::run(Party& party, uint64_t now, uint64_t most) {
  Askers asking = ask(party);
  if (!banks_.few() || (late_ && party.persistent)) {
    cycle(party, asking, now);
    return 1;
  }
  banks_.take(asking);
  uint64_t cycles = 0;
  while (cycles < most) {
    // Schedules need not be asked for so many cycles; then comes one for which they are.
    uint64_t known = kNever;
    for (const Lane* lane : party.lanes) known = std::min(known, lane->known_);
    const uint64_t wanted = known < most - cycles ? known + 1 : most - cycles;
    const uint64_t played = play_free(asking, wanted);
    known = std::min(known, played);
    for (Lane* lane : party.lanes) {
      lane->known_ -= known;
      lane->untold_ += known;
    }
    cycles += known;
    if (played == wanted && played == known) break;  // all of `most`
    if (played < wanted) {
      if (!std::all_of(asking.begin(), asking.end(), [](const Asker* asker) { return asker->quick; })) {
        banks_.give(asking);
        cycle(party, asking, now + cycles);
        return cycles + 1;
      }
      share(asking);
    }
    ++cycles;
    const bool same = advance(party, asking, now + cycles);
    if (some_ended_ || (party.lanes.size() == 1 && asking.size() <= 1)) break;
    if (!same) {
      banks_.give(asking);
      asking = ask(party);
      banks_.take(asking);
    }
  }
  banks_.give(asking);
  return cycles;
}

Crossbar::Askers Crossbar::ask(const Party& party) {
  size_t count = 0;
  for (const Lane* lane : party.lanes) {
    for (Ports left = lane->asking_; left != 0; left &= left - 1) {
      asking_[count++] = &askers_[lane->first_ + static_cast<uint32_t>(std::countr_zero(left))];
    }
  }
  return {asking_.data(), count};
}

// Of a port whose request is open behind a cycle().
void Crossbar::look(Asker& asker) {
  const Port& port = ports_[asker.number];
  asker.quick = banks_.few() && port.words.count == 0 && !(port.memory == OnChip::kPersistent && port.part());
  asker.banks = wanted_[asker.number].bits[0];
}

// For a cycle().
void Crossbar::keep(const Asker& asker) {
  ports_[asker.number] = {};
  if (asker.banks == persistent_.bits[0]) ports_[asker.number].memory = OnChip::kPersistent;
  wanted_[asker.number] = Banks{{asker.banks}};
}

// At most `most` cycles, as long as each request takes one cycle and no two of them want a bank. Opens what is not
// open, of the cycle that could not be played, too.
uint64_t Crossbar::play_free(Askers asking, uint64_t most) {
  for (uint64_t cycles = 0; cycles < most; ++cycles) {
    uint64_t taken = 0, twice = 0;
    bool quick = true;
    for (Asker* asker : asking) {
      if (!asker->open) open(*asker);
      quick = quick && asker->quick;
      twice |= taken & asker->banks;
      taken |= asker->banks;
    }
    if (!quick || twice != 0) return cycles;
    for (Asker* asker : asking) {
      BankArbiter::serve(*asker, taken);
      asker->open = false;
    }
  }
  return most;
}

void Crossbar::share(Askers asking) {
  banks_.share(asking);
  for (Asker* asker : asking) asker->open = asker->banks != 0;
}

bool Crossbar::advance(const Party& party, Askers asking, uint64_t end) {
  bool same = true;
  auto asker = asking.begin();
  for (Lane* lane : party.lanes) {
    Ports waiting = 0;
    uint64_t wanted = 0;
    for (; asker != asking.end() && (*asker)->lane == lane; ++asker) {
      if (!(*asker)->open) continue;
      waiting |= 1u << (*asker)->port;
      wanted |= (*asker)->banks;
    }
    if ((wanted & ~persistent_.bits[0]) != 0) ++lane->waited_;
    const Ports asked = lane->asking_;
    advance(*lane, asked & ~waiting, end);
    same = same && lane->asking_ == asked;
  }
  return same;
}

// Nearly every request of the device comes through here: no MemoryRequest is passed on where its bytes will do.
inline void Crossbar::open(Asker& asker) {
  asker.open = true;
  if (asker.part == nullptr || asker.part->left() == 0) {
    open_next(asker);
  } else {
    asker.banks = banks_.few_banks(words_of(asker.part->take(), bank_shift_));
  }
}

void Crossbar::open_next(Asker& asker) {
  Lane& lane = *asker.lane;
  asker.quick = true;
  asker.part = nullptr;
  asker.banks = 0;
  if (lane.walks_ != nullptr) {
    RequestWalk::Part* const part = lane.walks_[asker.port].next_part();
    if (part == nullptr) return;
    const RequestWalk::Bytes bytes = part->take();
    NPU_CHECK(bytes.bytes == 0 || (lane.memories_ & set_of(part->range().memory)) != 0);
    const bool scratchpad = part->range().memory == OnChip::kScratchpad;
    asker.quick = scratchpad ? one_cycle(bytes.bytes) : one_cycle(part->request(bytes));
    if (!asker.quick) {
      begin(asker.number, lane, part->request(bytes));
      return;
    }
    asker.banks = quick_banks(part->range().memory, bytes);
    // It stays with this part for as long as it has requests, unless parts take turns.
    const bool stays = scratchpad && one_cycle(part->most_bytes()) && lane.walks_[asker.port].current() == part;
    if (stays) asker.part = part;
  } else if (lane.goes_straight_on_ && one_cycle(lane.on_)) {
    asker.banks = quick_banks(lane.on_.memory, lane.go_on(1));
  } else {
    asker.quick = false;
    begin(asker.number, lane, next(lane, asker.port));
  }
}

// Of a request of one cycle.
uint64_t Crossbar::quick_banks(OnChip memory, const RequestWalk::Bytes& bytes) const {
  if (memory == OnChip::kPersistent) return bytes.bytes == 0 ? 0 : persistent_.bits[0];
  return banks_.few_banks(words_of(bytes, bank_shift_));
}

bool Crossbar::one_cycle(const MemoryRequest& request) const {
  if (request.memory == OnChip::kScratchpad) return one_cycle(request.bytes);
  // Within a row; and whole codes are written.
  const uint64_t row = uint64_t{1} << row_shift_;
  if (request.bytes == 0) return true;
  if (row % request.bytes != 0 || request.address % request.bytes != 0) return false;
  return !request.write || request.bytes % kCodeBytes == 0;
}

// Of whatever takes place in it.
void Crossbar::cycle(Party& party, Askers asking, uint64_t now) {
  Banks taken;
  bool clash = late_ && party.persistent;
  for (Asker* asker : asking) {
    const uint32_t number = asker->number;
    if (!asker->open) {
      begin(number, *asker->lane, next(*asker->lane, asker->port));
    } else if (asker->quick) {
      keep(*asker);
    }
    clash |= ports_[number].words.count != 0;
    clash |= taken.meets(wanted_[number]);
    taken.add(wanted_[number]);
  }
  if (clash) {
    arbitrate(party, now + 1);
    return;
  }
  for (Asker* asker : asking) {
    grant(asker->number);
    asker->open = false;
  }
  for (Lane* lane : party.lanes) advance(*lane, lane->asking_, now + 1);
}

void Crossbar::grant(uint32_t number) {
  Port& port = ports_[number];
  banks_.serve(number, wanted_[number]);
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
  if (late_ && party.persistent) {
    late_ = false;
    asking[1] = 0;
  }
  banks_.step(asking[0] | asking[1], wanted_);
  after_persistent(asking[1]);
  for (Lane* lane : party.lanes) finish(*lane, end);
}

MemoryRequest Crossbar::next(Lane& lane, uint32_t port) {
  if (lane.walks_ != nullptr) return lane.walks_[port].next();
  if (!lane.goes_straight_on_) return lane.next(port);
  MemoryRequest request = lane.on_;
  request.address = lane.go_on(1).address;
  return request;
}

void Crossbar::want(uint32_t number) {
  Port& port = ports_[number];
  if (port.memory == OnChip::kScratchpad) {
    wanted_[number] = banks_.next_banks(port.words);
    return;
  }
  wanted_[number] = persistent_;
  ++port.words.first;
  --port.words.count;
}

// A port's request begins.
void Crossbar::begin(uint32_t number, const Lane& lane, const MemoryRequest& request) {
  Port& at = ports_[number];
  if (request.bytes == 0) {
    at = {};
    wanted_[number] = {};
    return;
  }
  NPU_CHECK((lane.memories_ & set_of(request.memory)) != 0);
  at.memory = request.memory;
  at.words =
      words_of({request.address, request.bytes}, request.memory == OnChip::kScratchpad ? bank_shift_ : row_shift_);
  at.part_first = at.part_last = false;
  if (request.memory == OnChip::kPersistent) {
    at.part_first = request.write && request.address % kCodeBytes != 0;
    at.part_last = request.write && (request.address + request.bytes) % kCodeBytes != 0;
    at.at_first = true;
  }
  want(number);
}

// One of those that asked was served.
void Crossbar::after_persistent(uint32_t asked) {
  for (uint32_t left = asked; left != 0; left &= left - 1) {
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
    Asker& asker = askers_[number];
    asker.open = true;
    if (wanted_[number].any()) {
      waits = waits || port.memory == OnChip::kScratchpad;
    } else if (port.words.count == 0) {
      granted |= left & (~left + 1);
      asker.open = false;
    } else {
      want(number);
    }
    if (asker.open) look(asker);
  }
  if (waits) ++lane.waited_;
  advance(lane, granted, end);
}

// `end`: of the cycle.
void Crossbar::advance(Lane& lane, Ports granted, uint64_t end) {
  if (granted == lane.asking_ && lane.known_ > 0) {
    --lane.known_;
    ++lane.untold_;
    return;
  }
  if (granted == 0 && lane.goes_straight_on_) return;
  lane.tell_schedule();
  lane.asking_ = lane.schedule_->advance(granted);
  if (lane.asking_ == kDone) {
    end_lane(lane, end);
  } else {
    look_ahead(lane);
  }
}

void Crossbar::look_ahead(Lane& lane) {
  // Who is asked for each of its requests has to be asked in each cycle.
  const bool known = lane.walks_ != nullptr || lane.goes_straight_on_;
  lane.known_ = known ? lane.schedule_->steady() : 0;
  if (lane.goes_straight_on_) lane.on_ = lane.next(0);
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
