// SPDX-License-Identifier: Apache-2.0
#include "hw/model/on_chip_path.h"

#include <algorithm>
#include <cstring>

namespace npu::model {

using contract::Space;

OnChipPath::OnChipPath(Machine& machine, Side side, Client& client)
    : Lane(machine.interconnect.crossbar(), GoesStraightOn{}), machine_(machine), side_(side), client_(client) {}

void OnChipPath::start(Space space, const contract::ExtentWalk& walk) {
  space_ = space;
  walk_ = beats_walk_ = walk;
  passes_.clear();
  wanted_ = moved_ = goal_ = beats_ = bytes_ = 0;
  advance_by(0, 0);
  tells_ = false;
  clear_waited();
}

void OnChipPath::start_fill(uint64_t pattern, uint32_t pattern_bytes) {
  start(Space::kNone, {});
  for (uint32_t i = 0; i < pattern_.size(); ++i) pattern_[i] = static_cast<uint8_t>(pattern >> (8 * i));
  pattern_bytes_ = pattern_bytes;
  pattern_phase_ = 0;
}

// Cuts `bytes` of the walk into contiguous pieces and calls move(memory, offset, length) for each.
template <class Move>
void OnChipPath::move(uint64_t bytes, Move&& move) {
  const bool scratchpad = space_ == Space::kScratchpad;
  uint8_t* const memory = scratchpad ? machine_.scratchpad.bytes().data() : machine_.persistent.bytes().data();
  for (uint64_t offset = 0; offset < bytes;) {
    const uint64_t length = std::min(bytes - offset, walk_.contiguous());
    move(memory + walk_.address(), offset, length);
    walk_.advance(length);
    offset += length;
  }
  bytes_ += bytes;
}

void OnChipPath::read(std::span<uint8_t> data) {
  if (fills()) {
    for (uint8_t& byte : data) {
      byte = pattern_[pattern_phase_];
      pattern_phase_ = (pattern_phase_ + 1) % pattern_bytes_;
    }
    return;
  }
  move(data.size(), [&](const uint8_t* memory, uint64_t offset, uint64_t length) {
    std::memcpy(data.data() + offset, memory, length);
  });
}

void OnChipPath::write(std::span<const uint8_t> data) {
  move(data.size(), [&](uint8_t* memory, uint64_t offset, uint64_t length) {
    if (space_ == Space::kScratchpad) {
      const auto address = static_cast<uint64_t>(memory - machine_.scratchpad.bytes().data());
      machine_.scratchpad.touch(address, address + length);
    }
    std::memcpy(memory, data.data() + offset, length);
  });
}

void OnChipPath::pass(uint64_t bytes, bool tells) {
  machine_.interconnect.catch_up();  // with what there was
  wanted_ += bytes;
  passes_.push_back({wanted_, tells});
  if (!tells_) go_on();
}

// Up to the first pass that tells, or as far as there is something.
void OnChipPath::go_on() {
  for (;;) {
    const auto next = std::find_if(passes_.begin(), passes_.end(), [](const Pass& pass) { return pass.tells; });
    tells_ = next != passes_.end();
    if (passes_.empty()) return;
    goal_ = tells_ ? next->end : passes_.back().end;
    if (!passed(goal_)) break;
    if (!tells_) return;
    tell();
  }
  machine_.interconnect.start(*this, *this, 0);
}

// Of all that is through up to the goal.
void OnChipPath::tell() {
  const bool answers = side_ == Side::kSource && space_ == Space::kPersistent;
  const uint64_t at = machine_.clock.now() + (answers ? timing::Crossbar::kPersistentLatency : 0);
  for (const uint64_t goal = goal_; !passes_.empty() && passes_.front().end <= goal;) {
    passes_.pop_front();
    client_.passed(side_, at);
  }
}

void OnChipPath::stop() {
  machine_.interconnect.stop(*this);
  passes_.clear();
  tells_ = false;
}

void OnChipPath::advance_by(uint64_t bytes, uint64_t beats) {
  if (bytes > 0) beats_walk_.advance(bytes);
  moved_ += bytes;
  beats_ += beats;
  beat_ = std::min<uint64_t>(machine_.config.caps.dma_port_bytes, beats_walk_.contiguous());
}

bool OnChipPath::passed(uint64_t end) const {
  return moved_ >= end || (side_ == Side::kTarget && moved_ + beat_ > end);
}

void OnChipPath::step(timing::Ports granted) {
  if (granted != 0) advance_by(beat_, 1);
}

// Whole beats of a piece, but the last one.
uint64_t OnChipPath::steady() const {
  const uint64_t left = std::min(beats_walk_.contiguous(), goal_ - std::min(goal_, moved_));
  const uint64_t beats = left / machine_.config.caps.dma_port_bytes;
  return beats == 0 ? 0 : beats - 1;
}

timing::MemoryRequest OnChipPath::next(uint32_t) {
  return {memory(), side_ == Side::kTarget, beats_walk_.address(), beat_};
}

void OnChipPath::ended(uint64_t) {
  tell();
  go_on();
}

uint64_t OnChipPath::cycles_left() const {
  return (goal_ - std::min(goal_, moved_)) / machine_.config.caps.dma_port_bytes;
}

}  // namespace npu::model
