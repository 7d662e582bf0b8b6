// SPDX-License-Identifier: Apache-2.0
// Banks of a memory, each of one access a cycle, and their arbiters: of those that ask for a bank it serves the next in
// turn (RoundRobin), whatever happens at the others.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/timing/round_robin.h"

namespace npu::timing {

// A bit a bank.
struct Banks {
  static constexpr uint32_t kMost = 128;
  std::array<uint64_t, kMost / 64> bits{};

  [[nodiscard]] bool any() const { return (bits[0] | bits[1]) != 0; }
  void add(uint32_t bank) { bits[bank / 64] |= uint64_t{1} << bank % 64; }
  // Those from `first` up to, not including, `end`.
  void add(uint64_t first, uint64_t end) {
    bits[0] |= below(end) & ~below(first);
    if (end > 64) bits[1] |= below(end - 64) & ~below(first < 64 ? 0 : first - 64);
  }
  void add(const Banks& others) {
    for (size_t i = 0; i < bits.size(); ++i) bits[i] |= others.bits[i];
  }
  [[nodiscard]] bool meets(const Banks& others) const {
    return ((bits[0] & others.bits[0]) | (bits[1] & others.bits[1])) != 0;
  }
  void remove(uint32_t bank) { bits[bank / 64] &= ~(uint64_t{1} << bank % 64); }
  [[nodiscard]] bool has(uint32_t bank) const { return (bits[bank / 64] >> bank % 64 & 1) != 0; }
  template <class F>
  void for_each(F f) const {
    for (uint32_t i = 0; i < bits.size(); ++i) {
      for (uint64_t left = bits[i]; left != 0; left &= left - 1) {
        f(64 * i + static_cast<uint32_t>(std::countr_zero(left)));
      }
    }
  }

 private:
  // The lowest bits of a word.
  static uint64_t below(uint64_t count) { return count < 64 ? (uint64_t{1} << count) - 1 : ~uint64_t{0}; }
};

// Words of a memory that lie in a row; word w is in bank w modulo the number of banks.
struct WordRun {
  uint64_t first = 0, count = 0;
};

class BankArbiter {
 public:
  static constexpr uint32_t kMostRequesters = 32;

  // A power of two, at most Banks::kMost.
  explicit BankArbiter(uint32_t banks);

  [[nodiscard]] uint32_t banks() const { return banks_; }
  // As after a reset.
  void reset() {
    turns_.fill({});
    noted_ = 0;
  }

  // Ends a cycle. wanted[r] are the banks that requester r asks for, one of `asking` (a bit each); those that serve it
  // leave its set.
  void step(uint32_t asking, std::span<Banks> wanted);
  // The same as serve(), of few banks; cheaper where many such cycles follow each other.
  void note(uint32_t requester, uint64_t banks) {
    if (noted_ == notes_.size()) settle();
    notes_[noted_++] = {banks, 1u << requester};
  }
  // Serves a requester all of these banks, which no other one wants in this cycle.
  void serve(uint32_t requester, const Banks& banks) {
    settle();
    const uint32_t bit = 1u << requester;
    for (uint32_t i = 0; i < banks.bits.size(); ++i) {
      uint64_t left = banks.bits[i];
      if (left == 0) continue;
      // One or two, usually, in no order that could be predicted.
      const auto first = static_cast<uint32_t>(std::countr_zero(left));
      left &= left - 1;
      const uint32_t second = left == 0 ? first : static_cast<uint32_t>(std::countr_zero(left));
      turns_[64 * i + first].serve(bit);
      turns_[64 * i + second].serve(bit);
      for (left &= left - 1; left != 0; left &= left - 1) {
        turns_[64 * i + static_cast<uint32_t>(std::countr_zero(left))].serve(bit);
      }
    }
  }

  // A set of its banks fits into one word.
  [[nodiscard]] bool few() const { return banks_ <= kFew; }
  // Of few banks, those of a run that is not longer.
  [[nodiscard]] uint64_t few_banks(const WordRun& run) const {
    return runs_[run.count * banks_ + (run.first & (banks_ - 1))];
  }
  // The banks of as many words of a run as can be had in one cycle; these words leave it.
  [[nodiscard]] Banks next_banks(WordRun& run) const {
    const uint64_t count = run.count < banks_ ? run.count : banks_;
    const uint64_t first = run.first & (banks_ - 1), end = first + count;
    run.first += count;
    run.count -= count;
    Banks banks;
    if (few()) {
      banks.bits[0] = runs_[count * banks_ + first];
      return banks;
    }
    banks.add(first, end < banks_ ? end : banks_);
    if (end > banks_) banks.add(0, end - banks_);
    return banks;
  }

 private:
  // Those that more than one asks for.
  void serve_in_turn(uint32_t asking, const Banks& banks, std::span<Banks> wanted);

  // What was noted becomes turns.
  void settle();

  static constexpr uint32_t kFew = 32;
  struct Note {
    uint64_t banks;
    uint32_t requester;  // a bit
  };

  uint32_t banks_;
  // Of few banks: those of every run of words, by its length and its first bank.
  std::vector<uint64_t> runs_;
  std::array<RoundRobin, Banks::kMost> turns_;
  std::array<Note, 64> notes_{};  // in their order
  uint32_t noted_ = 0;
};

}  // namespace npu::timing
