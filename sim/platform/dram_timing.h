// SPDX-License-Identifier: Apache-2.0
// A simple row model of one DRAM channel: when an access is done, given what came before. Plain arithmetic in
// picoseconds.
//
// Accesses are served in order of arrival over one data bus; banks prepare their rows in parallel. Address mapping,
// from the low end: byte in the row, bank, row. An access finds its row open (hit: t_cas to data), its bank closed
// (t_rcd more), or another row open (miss: t_rp more, and the precharge waits for t_ras after the activation and t_wr
// after the last write data). Data takes the bus for whole 64-byte granules. Every t_refi all banks are busy for t_rfc,
// and their rows are closed after it.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/presets/preset.h"

namespace npu::platform {

class DramTiming {
 public:
  static constexpr uint64_t kGranule = 64;  // bytes

  struct Statistics {
    uint64_t hits = 0, closed = 0, misses = 0, refreshes = 0;
    friend bool operator==(const Statistics&, const Statistics&) = default;
  };

  explicit DramTiming(const presets::Dram& dram);

  // All rows closed, the bus free, the first refresh t_refi from now; this moment is time 0.
  void restart();
  // An access that arrives at `arrival` (not before the one before); returns when its last data is transferred.
  uint64_t access(uint64_t arrival, uint64_t address, uint64_t bytes, bool write);
  // Since restart().
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  static constexpr uint64_t kClosed = ~uint64_t{0};
  struct Bank {
    uint64_t row = kClosed;
    uint64_t ready = 0;  // for the next column command
    uint64_t activated = 0;
    uint64_t write_end = 0;
  };

  uint64_t access_row(uint64_t arrival, uint64_t address, uint64_t bytes, bool write);
  void refresh_until(uint64_t time);

  uint64_t row_bytes_, t_rcd_, t_rp_, t_cas_, t_ras_, t_wr_, t_refi_, t_rfc_;
  uint64_t transfer_bytes_, rate_mts_;
  std::vector<Bank> banks_;
  uint64_t bus_free_ = 0;
  uint64_t next_refresh_ = 0;
  Statistics statistics_;
};

}  // namespace npu::platform
