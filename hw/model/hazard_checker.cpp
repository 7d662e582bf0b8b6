// SPDX-License-Identifier: Apache-2.0
#include "hw/model/hazard_checker.h"

#include <algorithm>

namespace npu::model {

namespace {

using contract::ErrorCode;
using contract::Space;

constexpr uint64_t kCompactAt = uint64_t{1} << 20;        // states
constexpr uint32_t kLastState = (1u << 31) - (1u << 29);  // numbers start again beyond

}  // namespace

HazardChecker::HazardChecker(const contract::Capabilities& caps)
    : shadows_{Shadow(uint64_t{caps.dram_mib} << 20), Shadow(caps.spm_bytes), Shadow(caps.psram_bytes)} {}

void HazardChecker::begin_job() {
  first_state_ += static_cast<uint32_t>(states_.size());
  states_.clear();
  if (first_state_ > kLastState) {
    for (Shadow& shadow : shadows_) shadow.clear();
    first_state_ = 1;
  }
  for (Shadow& shadow : shadows_) shadow.begin_job(first_state_);
  compact_at_ = kCompactAt;
  for (QueueHistory& history : history_) history.issued = 0;
  sequencer_clock_.fill(0);
  access_ = 0;
}

void HazardChecker::join_tokens(const std::array<uint8_t, contract::kWaitQueues>& wait, VectorClock& clock) const {
  for (uint32_t queue = 0; queue < contract::kEngineQueues; ++queue) {
    const QueueHistory& history = history_[queue];
    if (wait[queue] == 0 || history.issued < wait[queue]) continue;
    const VectorClock& done = history.done[(history.issued - wait[queue]) % kHistory];
    for (uint32_t i = 0; i < contract::kEngineQueues; ++i) clock[i] = std::max(clock[i], done[i]);
  }
}

void HazardChecker::sequencer_waited(const std::array<uint8_t, contract::kWaitQueues>& wait) {
  join_tokens(wait, sequencer_clock_);
}

void HazardChecker::issue(uint32_t queue, uint32_t index, const std::array<uint8_t, contract::kWaitQueues>& wait) {
  queue_ = queue;
  self_ = index + 1;
  read_fresh_ = write_state_ = 0;
  clock_ = sequencer_clock_;
  std::array<uint8_t, contract::kWaitQueues> tokens = wait;
  tokens[queue] = 1;  // behind its own queue, whatever it says
  join_tokens(tokens, clock_);

  QueueHistory& history = history_[queue];
  VectorClock& done = history.done[history.issued % kHistory];
  done = clock_;
  done[queue] = self_;
  ++history.issued;
}

Conflict HazardChecker::access(Space space, const ByteSet& bytes, engine::Access access) {
  if (states_.size() > compact_at_) compact();
  ++access_;
  Shadow& shadow = shadows_[static_cast<uint32_t>(space) - 1];
  Conflict conflict;
  bool stop = false;
  uint64_t last = ~uint64_t{0};  // no state; stretches of one state follow each other
  uint32_t next = 0;
  const auto update = [&](uint32_t old) {
    if (last == old) return next;
    last = old;
    next = access == engine::Access::kRead ? after_read(old, conflict) : after_write(old, conflict);
    stop = conflict.error != ErrorCode::kOk;
    return next;
  };
  bytes.for_each_run([&](uint64_t low, uint64_t high) {
    const uint64_t at = shadow.update(low, high, update, stop);
    if (at != high && !stop) conflict.error = ErrorCode::kFaultBadCommand;  // out of splits
    if (at != high) conflict.address = at;
    return at == high;
  });
  return conflict;
}

Conflict HazardChecker::glance(Space space, const ByteSet& bytes) {
  Conflict conflict;
  bool stop = false;
  const auto check = [&](uint32_t now) {
    if (now == Shadow::kUntouched) return now;
    const ByteState& before = state(now);
    stop = before.writer > clock_[before.writer_queue];
    if (stop) conflict = {ErrorCode::kFaultHazard, before.writer - 1, 0};
    return now;
  };
  bytes.for_each_run([&](uint64_t low, uint64_t high) {
    const uint64_t at = shadows_[static_cast<uint32_t>(space) - 1].update(low, high, check, stop);
    if (stop) conflict.address = at;
    return !stop;
  });
  return conflict;
}

uint32_t HazardChecker::after_read(uint32_t old, Conflict& conflict) {
  if (old == Shadow::kUntouched) {
    if (read_fresh_ == 0) {
      ByteState fresh;
      fresh.readers[queue_] = self_;
      read_fresh_ = add_state(fresh);
    }
    return read_fresh_;
  }
  ByteState& before = state(old);
  if (before.asked == access_) return before.next;
  if (before.writer > clock_[before.writer_queue]) {
    conflict = {ErrorCode::kFaultHazard, before.writer - 1, 0};
    return old;
  }
  before.asked = access_;
  before.next = old;
  if (before.readers[queue_] != self_) {
    ByteState after = before;
    after.asked = 0;
    after.readers[queue_] = self_;
    const uint32_t next = add_state(after);
    state(old).next = next;
    return next;
  }
  return old;
}

uint32_t HazardChecker::after_write(uint32_t old, Conflict& conflict) {
  if (write_state_ == 0) {
    ByteState written;
    written.writer = self_;
    written.writer_queue = queue_;
    write_state_ = add_state(written);
  }
  if (old == Shadow::kUntouched) return write_state_;
  if (old == write_state_) {
    conflict = {ErrorCode::kFaultBadCommand, self_ - 1, 0};
    return old;
  }
  ByteState& before = state(old);
  if (before.asked == access_) return before.next;
  if (before.writer > clock_[before.writer_queue]) {
    conflict = {ErrorCode::kFaultHazard, before.writer - 1, 0};
    return old;
  }
  for (uint32_t queue = 0; queue < contract::kEngineQueues; ++queue) {
    if (before.readers[queue] <= clock_[queue]) continue;
    const bool own = before.readers[queue] == self_;
    conflict = {own ? ErrorCode::kFaultBadCommand : ErrorCode::kFaultHazard, before.readers[queue] - 1, 0};
    return old;
  }
  before.asked = access_;
  before.next = write_state_;
  return write_state_;
}

uint32_t HazardChecker::add_state(const ByteState& state) {
  states_.push_back(state);
  return first_state_ + static_cast<uint32_t>(states_.size()) - 1;
}

// Drops the states that no byte is in any more; their number is bounded by what the job has touched.
void HazardChecker::compact() {
  std::vector<uint32_t> renumbered(states_.size(), 0);
  std::vector<ByteState> live;
  for (Shadow& shadow : shadows_) {
    shadow.for_each_state([&](uint32_t& number) {
      uint32_t& fresh = renumbered[number - first_state_];
      if (fresh == 0) {
        live.push_back(state(number));
        live.back().asked = 0;
        fresh = first_state_ + static_cast<uint32_t>(live.size()) - 1;
      }
      number = fresh;
    });
  }
  const auto moved = [&](uint32_t number) { return number == 0 ? 0 : renumbered[number - first_state_]; };
  read_fresh_ = moved(read_fresh_);
  write_state_ = moved(write_state_);
  states_ = std::move(live);
  compact_at_ = std::max(kCompactAt, 2 * static_cast<uint64_t>(states_.size()));
}

}  // namespace npu::model
