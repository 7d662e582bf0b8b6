// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/bank_occupancy.h"

#include <algorithm>

namespace npu::timing {

BankOccupancy::BankOccupancy(uint32_t banks)
    : banks_(banks), tags_(kBuckets, ~uint64_t{0}), used_(kBuckets * banks, 0) {}

uint32_t* BankOccupancy::bucket(uint64_t index) {
  const uint64_t slot = index % kBuckets;
  const uint64_t tag = job_ << 40 ^ index;
  uint32_t* used = used_.data() + slot * banks_;
  if (tags_[slot] != tag) {
    tags_[slot] = tag;
    std::fill_n(used, banks_, 0);
  }
  return used;
}

uint64_t BankOccupancy::book_bank(uint32_t bank, uint64_t start, uint64_t length, uint64_t accesses) {
  const uint64_t end = start + std::max(length, accesses);  // one access a cycle at most
  const uint64_t last_bucket = start / kBucketCycles + kBuckets - 1;
  uint64_t served = 0;
  for (uint64_t index = start / kBucketCycles;; ++index) {
    const uint64_t begin = std::max(start, index * kBucketCycles);
    const uint64_t finish = (index + 1) * kBucketCycles;
    const uint64_t wanted = finish >= end ? accesses : accesses * (finish - start) / (end - start);
    const uint64_t want = wanted - served;
    if (index > last_bucket) return std::max(end, begin + want);
    uint32_t& used = bucket(index)[bank];
    const uint64_t free = std::min(kBucketCycles - used, finish - begin);
    const uint64_t take = std::min(want, free);
    used += static_cast<uint32_t>(take);
    served += take;
    if (served < accesses) continue;
    // The last accesses of an overfull stretch come at the rate at which this bucket had room.
    if (begin >= end) return begin + (take * (finish - begin) + free - 1) / free;
    return end;
  }
}

// The short way for a short stretch that fits: most of the traffic of DMA.
bool BankOccupancy::book_in_one_bucket(uint64_t start, uint64_t length, std::span<const uint32_t> accesses) {
  if (start / kBucketCycles != (start + length - 1) / kBucketCycles) return false;
  uint32_t* const used = bucket(start / kBucketCycles);
  bool fits = true;
  for (uint32_t bank = 0; bank < banks_; ++bank) {
    fits &= accesses[bank] <= length && used[bank] + accesses[bank] <= kBucketCycles;
  }
  if (!fits) return false;
  for (uint32_t bank = 0; bank < banks_; ++bank) used[bank] += accesses[bank];
  return true;
}

uint64_t BankOccupancy::book(uint64_t start, uint64_t length, std::span<const uint32_t> accesses) {
  uint64_t end = start + length;
  if (book_in_one_bucket(start, length, accesses)) return end;
  for (uint32_t bank = 0; bank < banks_; ++bank) {
    if (accesses[bank] > 0) end = std::max(end, book_bank(bank, start, length, accesses[bank]));
  }
  return end;
}

}  // namespace npu::timing
