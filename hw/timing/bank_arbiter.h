// SPDX-License-Identifier: Apache-2.0
// Banks of a memory, each of one access a cycle, and their arbiters: of those that ask for a bank it serves the next in
// turn (RoundRobin), whatever happens at the others. Behind them is one that stands by itself, of another memory.
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
  static constexpr uint32_t kMostInRow = 128;
  static constexpr uint32_t kMost = kMostInRow + 1;  // with a single one behind them
  std::array<uint64_t, (kMost + 63) / 64> bits{};

  [[nodiscard]] bool any() const { return *this != Banks{}; }
  friend bool operator==(const Banks&, const Banks&) = default;
  void add(uint32_t bank) { bits[bank / 64] |= uint64_t{1} << bank % 64; }
  // Those from `first` up to, not including, `end`, at most kMostInRow.
  void add(uint64_t first, uint64_t end) {
    bits[0] |= below(end) & ~below(first);
    if (end > 64) bits[1] |= below(end - 64) & ~below(first < 64 ? 0 : first - 64);
  }
  void add(const Banks& others) {
    for (size_t i = 0; i < bits.size(); ++i) bits[i] |= others.bits[i];
  }
  [[nodiscard]] bool meets(const Banks& others) const {
    uint64_t both = 0;
    for (size_t i = 0; i < bits.size(); ++i) both |= bits[i] & others.bits[i];
    return both != 0;
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

  // A power of two, at most Banks::kMostInRow.
  explicit BankArbiter(uint32_t banks);

  [[nodiscard]] uint32_t banks() const { return banks_; }
  // The one behind them.
  [[nodiscard]] Banks single() const {
    Banks banks;
    banks.add(banks_);
    return banks;
  }
  // As after a reset.
  void reset() {
    turns_.fill({});
    last_.fill(0);
  }

  // Ends a cycle. wanted[r] are the banks that requester r asks for, one of `asking` (a bit each); those that serve it
  // leave its set.
  void step(uint32_t asking, std::span<Banks> wanted);
  // Serves a requester all of these banks, which no other one wants in this cycle.
  void serve(uint32_t requester, const Banks& banks);

  // Of few banks: what one of those that ask wants, for cycles that follow each other. From take() to give() they alone
  // are served.
  struct Claim {
    uint32_t number = 0;  // of the requester
    uint64_t banks = 0;   // that it wants
    uint64_t last = 0;    // that served it last
  };
  // A claim may be part of something else.
  template <class Held>
  void take(std::span<Held* const> claims) const {
    for (Claim* claim : claims) claim->last = last_[claim->number];
  }
  template <class Held>
  void give(std::span<Held* const> claims) {
    uint64_t theirs = 0;
    for (const Claim* claim : claims) theirs |= claim->last;
    for (uint64_t& last : last_) last &= ~theirs;
    for (const Claim* claim : claims) last_[claim->number] = claim->last;
  }
  // One of them, in a cycle in which no two want a bank, and all together these.
  static void serve(Claim& claim, uint64_t banks) { claim.last = (claim.last & ~banks) | claim.banks; }
  // A cycle of any claims: banks that serve a claim leave it.
  template <class Held>
  void share(std::span<Held* const> claims) const {
    uint64_t once = 0, twice = 0;
    for (const Claim* claim : claims) {
      twice |= once & claim->banks;
      once |= claim->banks;
    }
    once &= ~twice;
    for (uint64_t left = twice; left != 0; left &= left - 1) {
      share_bank(static_cast<uint32_t>(std::countr_zero(left)), claims);
    }
    for (Claim* claim : claims) {
      claim->last = (claim->last & ~once) | (claim->banks & once);
      claim->banks &= ~claim->last;
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
  // `last` of the claims says then whom it serves.
  template <class Held>
  void share_bank(uint32_t bank, std::span<Held* const> claims) const {
    uint32_t asking = 0, before = 0;
    for (const Claim* claim : claims) {
      asking |= static_cast<uint32_t>(claim->banks >> bank & 1) << claim->number;
      before |= static_cast<uint32_t>(claim->last >> bank & 1) << claim->number;
    }
    RoundRobin turn;
    turn.serve(before != 0 ? before : served_last(bank));
    const uint32_t winner = turn.next(asking);
    for (Claim* claim : claims) {
      claim->last = (claim->last & ~(uint64_t{1} << bank)) | uint64_t{winner >> claim->number & 1} << bank;
    }
  }
  // Of few banks; a bit a requester.
  [[nodiscard]] uint32_t served_last(uint32_t bank) const;
  [[nodiscard]] RoundRobin turn(uint32_t bank) const;
  // Those that more than one asks for.
  void serve_in_turn(uint32_t asking, const Banks& banks, std::span<Banks> wanted);

  static constexpr uint32_t kFew = 32;

  uint32_t banks_;
  // Of few banks: those of every run of words, by its length and its first bank; and by requester, those that served it
  // last.
  std::vector<uint64_t> runs_;
  std::array<uint64_t, kMostRequesters> last_{};
  // Of more banks.
  std::array<RoundRobin, Banks::kMost> turns_;
};

}  // namespace npu::timing
