// SPDX-License-Identifier: Apache-2.0
// What firmware reads of a program and writes for it, in the shared memory: its job and its counters.
#pragma once

#include <cstdint>

#include "driver/runtime/link.h"
#include "driver/runtime/shared_memory.h"

namespace npu::runtime {

class PlacedJob final : public Placement {
 public:
  // Writes what is the same for every run. Throws Error(kDramFull).
  PlacedJob(Hal& hal, SharedMemory& memory, const contract::Job& job);

  // Before a run: epoch, event_capacity, cycle_limit and not_before of `run`; counters start at 0.
  void prepare(const contract::Job& run);
  [[nodiscard]] Counters read_counters();
  [[nodiscard]] uint64_t address() const { return piece_.address(); }
  // Of the last run.
  [[nodiscard]] uint64_t cycle_limit() const { return job_.cycle_limit; }
  [[nodiscard]] uint64_t not_before() const { return job_.not_before; }

 private:
  Hal& hal_;
  SharedMemory::Piece piece_;
  contract::Job job_;
};

}  // namespace npu::runtime
