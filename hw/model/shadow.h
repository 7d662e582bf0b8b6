// SPDX-License-Identifier: Apache-2.0
// Shadow of one memory for the hazard checker: a state number for every byte, stored per 64-byte block while the whole
// block is in one state and per byte where it is not. Exact to the byte, and a contiguous access costs one step a
// block.
//
// State numbers and split numbers grow from job to job; what is below the job's first number reads as untouched, so
// that a new job needs no clearing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "hw/model/limits.h"

namespace npu::model {

class Shadow {
 public:
  static constexpr uint32_t kUntouched = 0;
  static constexpr uint64_t kBlock = 64;

  explicit Shadow(uint64_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  // Numbers below `first_state` belong to earlier jobs from now on.
  void begin_job(uint32_t first_state);
  // Forgets everything, so that numbers can start again.
  void clear();

  // Replaces the state of bytes [low, high), low < high: update(old) returns the new state; equal old states may be
  // asked once. Stops when update sets `stop`, and returns its position: the first byte of the offending stretch.
  // Out of splits (limits.h): out_of_splits() is true, and the rest of the range is left alone.
  template <class Update>
  uint64_t update(uint64_t low, uint64_t high, Update&& update, bool& stop);

  [[nodiscard]] bool out_of_splits() const { return out_of_splits_; }

  // Calls visit(uint32_t& state) for every state number of this job that is stored.
  template <class Visit>
  void for_each_state(Visit&& visit);

 private:
  using Split = std::array<uint32_t, kBlock>;
  static constexpr uint32_t kSplitFlag = 1u << 31;

  [[nodiscard]] uint32_t current(uint32_t state) const { return state < first_state_ ? kUntouched : state; }
  [[nodiscard]] bool is_split(uint32_t entry) const {
    return (entry & kSplitFlag) != 0 && (entry & ~kSplitFlag) >= first_split_;
  }
  [[nodiscard]] uint32_t whole(uint32_t entry) const { return (entry & kSplitFlag) != 0 ? kUntouched : current(entry); }
  [[nodiscard]] Split& split(uint32_t entry) { return splits_[(entry & ~kSplitFlag) - first_split_]; }
  [[nodiscard]] static uint64_t stretch(const Split& states, uint64_t first, uint64_t end);
  // Number of a split filled with `state`, or 0 when there are too many.
  uint32_t allocate(uint32_t state);

  uint64_t blocks_count_;
  uint32_t* blocks_;  // anonymous mapping: pages appear as they are touched
  uint32_t first_state_ = 1;
  uint32_t first_split_ = 1;
  std::vector<Split> splits_;
  std::vector<uint32_t> free_;                          // split entries
  uint64_t low_block_ = ~uint64_t{0}, high_block_ = 0;  // touched by this job
  bool out_of_splits_ = false;
};

// Behind those states from `first` on, up to `end`, that are as the first one.
inline uint64_t Shadow::stretch(const Split& states, uint64_t first, uint64_t end) {
  constexpr uint64_t kStep = 8;
  const uint32_t state = states[first];
  uint64_t at = first + 1;
  for (; at + kStep <= end; at += kStep) {
    uint32_t difference = 0;  // without a branch for each, so that the compiler takes several at once
    for (uint64_t i = 0; i < kStep; ++i) difference |= states[at + i] ^ state;
    if (difference != 0) break;
  }
  while (at < end && states[at] == state) ++at;
  return at;
}

template <class Update>
uint64_t Shadow::update(uint64_t low, uint64_t high, Update&& update, bool& stop) {
  low_block_ = std::min(low_block_, low / kBlock);
  high_block_ = std::max(high_block_, (high - 1) / kBlock + 1);
  for (uint64_t at = low; at < high;) {
    uint32_t& entry = blocks_[at / kBlock];
    const uint64_t block_end = (at / kBlock + 1) * kBlock;
    const uint64_t end = std::min(high, block_end);
    if (!is_split(entry)) {
      const uint32_t old = whole(entry);
      const uint32_t next = update(old);
      if (stop) return at;
      if (end - at == kBlock) {
        const uint32_t seen = entry;
        for (; high - at >= kBlock && blocks_[at / kBlock] == seen; at += kBlock) blocks_[at / kBlock] = next;
        continue;
      }
      if (next == old) {
        at = end;
        continue;
      }
      const uint32_t fresh = allocate(old);
      if (fresh == 0) {
        out_of_splits_ = true;
        return at;
      }
      entry = fresh;
      Split& states = split(entry);
      std::fill(states.begin() + at % kBlock, states.begin() + ((end - 1) % kBlock + 1), next);
      at = end;
      continue;
    }
    Split& states = split(entry);
    const uint64_t block = at / kBlock * kBlock;
    while (at < end) {
      const uint64_t from = at - block, to = stretch(states, from, end - block);
      const uint32_t next = update(states[from]);
      if (stop) return at;
      std::fill(states.begin() + from, states.begin() + to, next);
      at = block + to;
    }
    if (stretch(states, 0, kBlock) == kBlock) {
      free_.push_back(entry);
      entry = states[0];
    }
  }
  return high;
}

template <class Visit>
void Shadow::for_each_state(Visit&& visit) {
  for (uint64_t block = low_block_; block < high_block_; ++block) {
    uint32_t& entry = blocks_[block];
    if (is_split(entry)) {
      for (uint32_t& state : split(entry)) {
        if (state != kUntouched) visit(state);
      }
    } else if (whole(entry) != kUntouched) {
      visit(entry);
    }
  }
}

}  // namespace npu::model
