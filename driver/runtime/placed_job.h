// SPDX-License-Identifier: Apache-2.0
// What firmware reads of a program and writes for it, in the shared memory: its job, its counters, and the sizes that a
// run brings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/runtime/link.h"
#include "driver/runtime/shared_memory.h"

namespace npu::runtime {

class PlacedJob final : public Placement {
 public:
  // Writes what is the same for every run. Throws Error(kDramFull).
  PlacedJob(Hal& hal, SharedMemory& memory, const contract::Job& job, const compiler::SizeTable& sizes);

  // Before a run: epoch, event_capacity, cycle_limit and not_before of `run`; counters start at 0.
  void prepare(const contract::Job& run);
  void bring_sizes(std::span<const int64_t> sizes) override;
  [[nodiscard]] std::vector<int64_t> read_results() override;
  [[nodiscard]] Counters read_counters();
  [[nodiscard]] uint64_t address() const { return piece_.address(); }
  // Of the last run.
  [[nodiscard]] uint64_t cycle_limit() const { return job_.cycle_limit; }
  [[nodiscard]] uint64_t not_before() const { return job_.not_before; }
  // firmware_cycles() of its sizes.
  [[nodiscard]] uint64_t sizes_cycles() const { return sizes_cycles_; }

 private:
  Hal& hal_;
  SharedMemory::Piece piece_;
  contract::Job job_;
  contract::JobSizes sizes_;  // header; no symbols: sizes are fixed
  uint16_t results_ = 0;
  uint64_t sizes_cycles_ = 0;
};

}  // namespace npu::runtime
