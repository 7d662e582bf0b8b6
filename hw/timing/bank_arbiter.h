// SPDX-License-Identifier: Apache-2.0
// Banks of a memory, each of one access a cycle, and their arbiters: of those that ask for a bank it serves the next in
// turn (RoundRobin), whatever happens at the others.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

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
  explicit BankArbiter(uint32_t banks) : banks_(banks) {}

  [[nodiscard]] uint32_t banks() const { return banks_; }
  // As after a reset.
  void reset() { turns_.fill({}); }

  // Ends a cycle. wanted[r] are the banks that requester r asks for, one of `asking` (a bit each); those that serve it
  // leave its set.
  void step(uint32_t asking, std::span<Banks> wanted);
  // Serves all of a requester's words, whose banks no other requester wants in this cycle.
  void serve(uint32_t requester, const WordRun& words) {
    const uint64_t end = words.first + words.count;
    for (uint64_t word = words.first; word < end; ++word) {
      turns_[word & (banks_ - 1)].serve(1u << requester);
    }
  }

  // As many words of a run as can be had in one cycle, which leave it, and their banks.
  [[nodiscard]] Banks next_banks(WordRun& run, WordRun& next) const {
    next = {run.first, run.count < banks_ ? run.count : banks_};
    run.first += next.count;
    run.count -= next.count;
    Banks banks;
    const uint64_t first = next.first & (banks_ - 1), end = first + next.count;
    if (banks_ <= 32) {  // the usual case: what goes on behind the last bank starts over
      const uint64_t run_on = ((uint64_t{1} << next.count) - 1) << first;
      banks.bits[0] = (run_on | run_on >> banks_) & ((uint64_t{1} << banks_) - 1);
      return banks;
    }
    banks.add(first, end < banks_ ? end : banks_);
    if (end > banks_) banks.add(0, end - banks_);
    return banks;
  }

 private:
  // Those that more than one asks for.
  void serve_in_turn(uint32_t asking, const Banks& banks, std::span<Banks> wanted);

  uint32_t banks_;
  std::array<RoundRobin, Banks::kMost> turns_;
};

}  // namespace npu::timing
