// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/dram_timing.h"

#include <algorithm>

namespace npu::timing {

namespace {

uint64_t picoseconds(uint32_t nanoseconds) { return uint64_t{nanoseconds} * 1000; }

}  // namespace

std::unique_ptr<DramTiming> make_dram_timing(const Dram& dram) {
  if (dram.latency_ns > 0) return std::make_unique<FixedDram>(dram);
  return std::make_unique<RowDram>(dram);
}

FixedDram::FixedDram(const Dram& dram) : latency_(picoseconds(dram.latency_ns)), bus_(dram) {}

uint64_t FixedDram::access(uint64_t arrival, uint64_t address, uint64_t bytes, bool) {
  bus_free_ = std::max(arrival + latency_, bus_free_) + bus_.time(bus_.end(address, bytes) - bus_.begin(address));
  return bus_free_;
}

RowDram::RowDram(const Dram& dram)
    : row_bytes_(dram.row_bytes),
      t_rcd_(picoseconds(dram.t_rcd_ns)),
      t_rp_(picoseconds(dram.t_rp_ns)),
      t_cas_(picoseconds(dram.t_cas_ns)),
      t_ras_(picoseconds(dram.t_ras_ns)),
      t_wr_(picoseconds(dram.t_wr_ns)),
      t_refi_(picoseconds(dram.t_refi_ns)),
      t_rfc_(picoseconds(dram.t_rfc_ns)),
      postponed_(dram.refreshes_postponed),
      bus_(dram),
      banks_(dram.banks) {
  restart();
}

void RowDram::restart() {
  std::fill(banks_.begin(), banks_.end(), Bank{});
  bus_free_ = 0;
  next_refresh_ = t_refi_;
  refreshed_ = 0;
  statistics_ = {};
}

uint64_t RowDram::access(uint64_t arrival, uint64_t address, uint64_t bytes, bool write) {
  const uint64_t end = bus_.end(address, bytes);
  uint64_t done = arrival;
  for (uint64_t at = bus_.begin(address); at < end;) {
    const uint64_t length = std::min(end - at, row_bytes_ - at % row_bytes_);
    done = access_row(arrival, at, length, write);
    at += length;
  }
  return done;
}

void RowDram::refresh_until(uint64_t arrival, uint64_t time) {
  if (t_refi_ == 0) return;
  for (;;) {
    const uint64_t idle = std::max({next_refresh_, bus_free_ + t_rfc_, refreshed_});
    const uint64_t latest = next_refresh_ + postponed_ * t_refi_;
    if (postponed_ > 0 && idle < std::min(arrival, latest)) {
      // Long idle stretches: only the last refresh still matters.
      const uint64_t skipped = idle == next_refresh_ ? (arrival - 1 - idle) / t_refi_ : 0;
      statistics_.refreshes += skipped;
      next_refresh_ += skipped * t_refi_;
      refresh(idle + skipped * t_refi_);
    } else if (latest <= time) {
      const uint64_t skipped = postponed_ == 0 ? (time - latest) / t_refi_ : 0;
      statistics_.refreshes += skipped;
      next_refresh_ += skipped * t_refi_;
      refresh(std::max({latest + skipped * t_refi_, bus_free_, refreshed_}));
    } else {
      return;
    }
  }
}

void RowDram::refresh(uint64_t start) {
  ++statistics_.refreshes;
  next_refresh_ += t_refi_;
  refreshed_ = start + t_rfc_;
  for (Bank& bank : banks_) {
    bank.row = kClosed;
    bank.ready = std::max(bank.ready, refreshed_);
  }
}

uint64_t RowDram::access_row(uint64_t arrival, uint64_t address, uint64_t bytes, bool write) {
  Bank& bank = banks_[address / row_bytes_ % banks_.size()];
  const uint64_t row = address / row_bytes_ / banks_.size();
  refresh_until(arrival, std::max(arrival, bank.ready));
  const uint64_t start = std::max(arrival, bank.ready);
  uint64_t column = start;
  if (bank.row == row) {
    ++statistics_.hits;
  } else {
    uint64_t activate = start;
    if (bank.row == kClosed) {
      ++statistics_.closed;
    } else {
      ++statistics_.misses;
      activate = std::max({start, bank.activated + t_ras_, bank.write_end + t_wr_}) + t_rp_;
    }
    bank.row = row;
    bank.activated = activate;
    column = activate + t_rcd_;
  }
  const uint64_t data = std::max(column + t_cas_, bus_free_);
  bus_free_ = data + bus_.time(bytes);
  bank.ready = bus_free_ - t_cas_;
  if (write) bank.write_end = bus_free_;
  return bus_free_;
}

}  // namespace npu::timing
