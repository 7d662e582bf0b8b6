// SPDX-License-Identifier: Apache-2.0
// Cycles of RTL beside those that a formula, a schedule or the device gives for the same work.
#pragma once

#include <cstdint>

namespace npu::cosim {

// Sums over tiles or trials. Differences are RTL minus what is said.
struct CycleComparison {
  uint64_t count = 0, exact = 0;
  uint64_t rtl = 0;           // sum
  uint64_t absolute = 0;      // sum of the differences without sign
  int64_t sum = 0;            // of the differences
  int64_t worst = 0;          // the largest without sign
  double worst_relative = 0;  // the largest without sign, as a share of the RTL's cycles of that one

  void add(uint64_t rtl_cycles, uint64_t said);
  void add(const CycleComparison& other);
  [[nodiscard]] bool all_exact() const { return exact == count; }
  [[nodiscard]] double share_exact() const;    // 0 to 1; 0 of none
  [[nodiscard]] double mean_absolute() const;  // cycles
  [[nodiscard]] double mean() const;           // with sign
  [[nodiscard]] double relative() const;       // of the sums, with sign
};

}  // namespace npu::cosim
