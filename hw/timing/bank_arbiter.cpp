// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/bank_arbiter.h"

namespace npu::timing {

BankArbiter::BankArbiter(uint32_t banks) : banks_(banks) {
  if (banks > kFew) return;
  for (uint64_t count = 0; count <= banks; ++count) {
    for (uint64_t first = 0; first < banks; ++first) {
      // What goes on behind the last bank starts over.
      const uint64_t run = ((uint64_t{1} << count) - 1) << first;
      runs_.push_back((run | run >> banks) & ((uint64_t{1} << banks) - 1));
    }
  }
}

void BankArbiter::serve(uint32_t requester, const Banks& banks) {
  if (few()) {
    for (uint64_t& last : last_) last &= ~banks.bits[0];
    last_[requester] |= banks.bits[0];
    return;
  }
  banks.for_each([&](uint32_t bank) { turns_[bank].serve(1u << requester); });
}

uint32_t BankArbiter::served_last(uint32_t bank) const {
  for (uint32_t requester = 0; requester < kMostRequesters; ++requester) {
    if ((last_[requester] >> bank & 1) != 0) return 1u << requester;
  }
  return 0;
}

RoundRobin BankArbiter::turn(uint32_t bank) const {
  if (!few()) return turns_[bank];
  RoundRobin turn;
  turn.serve(served_last(bank));
  return turn;
}

void BankArbiter::step(uint32_t asking, std::span<Banks> wanted) {
  Banks seen, twice;
  for (uint32_t left = asking; left != 0; left &= left - 1) {
    const Banks& banks = wanted[static_cast<size_t>(std::countr_zero(left))];
    for (size_t i = 0; i < seen.bits.size(); ++i) {
      twice.bits[i] |= seen.bits[i] & banks.bits[i];
      seen.bits[i] |= banks.bits[i];
    }
  }
  for (uint32_t left = asking; left != 0; left &= left - 1) {
    const auto requester = static_cast<uint32_t>(std::countr_zero(left));
    Banks& banks = wanted[requester];
    Banks alone = banks;
    for (size_t i = 0; i < banks.bits.size(); ++i) {
      alone.bits[i] &= ~twice.bits[i];
      banks.bits[i] &= twice.bits[i];
    }
    serve(requester, alone);
  }
  if (twice.any()) serve_in_turn(asking, twice, wanted);
}

void BankArbiter::serve_in_turn(uint32_t asking, const Banks& banks, std::span<Banks> wanted) {
  banks.for_each([&](uint32_t bank) {
    uint32_t here = 0;
    for (uint32_t left = asking; left != 0; left &= left - 1) {
      if (wanted[static_cast<size_t>(std::countr_zero(left))].has(bank)) here |= left & (~left + 1);
    }
    const auto winner = static_cast<uint32_t>(std::countr_zero(turn(bank).next(here)));
    Banks served;
    served.add(bank);
    serve(winner, served);
    wanted[winner].remove(bank);
  });
}

}  // namespace npu::timing
