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

// From the last one on: of each bank, only that one counts.
void BankArbiter::settle() {
  uint64_t seen = 0;
  while (noted_ > 0) {
    const Note& note = notes_[--noted_];
    for (uint64_t left = note.banks & ~seen; left != 0; left &= left - 1) {
      turns_[static_cast<size_t>(std::countr_zero(left))].serve(note.requester);
    }
    seen |= note.banks;
  }
}

void BankArbiter::step(uint32_t asking, std::span<Banks> wanted) {
  settle();
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
    const uint32_t winner = turns_[bank].next(here);
    turns_[bank].serve(winner);
    wanted[static_cast<size_t>(std::countr_zero(winner))].remove(bank);
  });
}

}  // namespace npu::timing
