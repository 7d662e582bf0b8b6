// SPDX-License-Identifier: Apache-2.0
// Who uses a memory's banks when: the grants of the scratchpad and of the persistent SRAM's port, in time buckets.
//
// A bank serves one access a cycle. A requester books the accesses of a stretch of cycles at once: it wants them spread
// evenly over the stretch; a bucket gives each bank as many as it has cycles, first come, first served; what does not
// fit moves on to the next buckets. The stretch ends when the slowest bank has served its last access: later than asked
// when banks are contended, never earlier. Bookings come in the deterministic order of the simulation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace npu::timing {

class BankOccupancy {
 public:
  static constexpr uint64_t kBucketCycles = 64;

  explicit BankOccupancy(uint32_t banks);

  void begin_job() { ++job_; }

  // Books accesses[b] accesses of bank b over cycles [start, start + length); returns the cycle at which all are
  // served, at least start + length. `length` at least 1.
  uint64_t book(uint64_t start, uint64_t length, std::span<const uint32_t> accesses);

  [[nodiscard]] uint32_t banks() const { return banks_; }

 private:
  static constexpr uint64_t kBuckets = 1024;  // of the time window that is remembered; beyond it banks count as free

  uint32_t* bucket(uint64_t index);
  bool book_in_one_bucket(uint64_t start, uint64_t length, std::span<const uint32_t> accesses);
  uint64_t book_bank(uint32_t bank, uint64_t start, uint64_t length, uint64_t accesses);

  uint32_t banks_;
  uint64_t job_ = 0;
  std::vector<uint64_t> tags_;  // which bucket of which job a slot holds
  std::vector<uint32_t> used_;  // [slot][bank]: accesses booked
};

}  // namespace npu::timing
