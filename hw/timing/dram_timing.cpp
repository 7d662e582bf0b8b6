// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/dram_timing.h"

#include <algorithm>
#include <utility>

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
      by_bank_(dram.refresh_by_bank != 0),
      bus_(dram),
      banks_(dram.banks) {
  restart();
}

void RowDram::restart() {
  std::fill(banks_.begin(), banks_.end(), Bank{});
  for (size_t i = 0; i < banks_.size(); ++i) banks_[i].next_refresh = t_refi_ + t_refi_ * i / banks_.size();
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

uint64_t RowDram::late_from(const Bank& bank) const { return bank.next_refresh + postponed_ / 2 * t_refi_; }

uint64_t RowDram::refresh_start(const Bank& bank) const {
  const uint64_t idle = std::min(bank.used + t_rfc_, std::max(bank.used, late_from(bank)));
  uint64_t closed = std::max(bank.next_refresh, idle);
  if (bank.row != kClosed) closed = std::max({closed, bank.activated + t_ras_, bank.write_end + t_wr_}) + t_rp_;
  return std::max(closed, refreshed_);
}

void RowDram::refresh_bank(Bank& bank) {
  ++statistics_.refreshes;
  refreshed_ = refresh_start(bank) + t_rfc_;
  bank.next_refresh += t_refi_;
  bank.row = kClosed;
  bank.ready = std::max(bank.ready, refreshed_);
}

// Once nothing has come for long, all refreshes are on time.
void RowDram::skip_idle_rounds(uint64_t arrival) {
  // Closing banks and refreshing them takes at most 90 % of the time (presets), and of each at most 9 are due: fewer
  // rounds make up for that.
  constexpr uint64_t kRoundsToCatchUp = 100;
  if (arrival < std::max(bus_free_, refreshed_) + kRoundsToCatchUp * t_refi_) return;
  for (Bank& bank : banks_) {
    const uint64_t rounds = (arrival - bank.next_refresh) / t_refi_ - 1;
    statistics_.refreshes += rounds;
    bank.next_refresh += rounds * t_refi_;
    bank.row = kClosed;
  }
}

void RowDram::refresh_banks(Bank& wanted, uint64_t arrival, uint64_t time) {
  if (t_refi_ == 0) return;
  skip_idle_rounds(arrival);
  for (;;) {
    Bank* first = nullptr;
    uint64_t first_start = 0;
    for (Bank& bank : banks_) {
      const uint64_t start = refresh_start(bank);
      const bool waits_for_no_access = late_from(bank) <= time && &bank != &wanted;
      // Before this access arrived, none to the bank was waiting.
      if (start >= (waits_for_no_access ? time : arrival)) continue;
      // Of two the one that has waited longer.
      if (first != nullptr && std::pair(start, bank.next_refresh) >= std::pair(first_start, first->next_refresh))
        continue;
      first = &bank, first_start = start;
    }
    if (first == nullptr && wanted.next_refresh + postponed_ * t_refi_ <= time) first = &wanted;
    if (first == nullptr) return;
    refresh_bank(*first);
  }
}

uint64_t RowDram::access_row(uint64_t arrival, uint64_t address, uint64_t bytes, bool write) {
  Bank& bank = banks_[address / row_bytes_ % banks_.size()];
  const uint64_t row = address / row_bytes_ / banks_.size();
  if (by_bank_) {
    refresh_banks(bank, arrival, std::max(arrival, bank.ready));
  } else {
    refresh_until(arrival, std::max(arrival, bank.ready));
  }
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
  bank.used = bus_free_;
  bank.ready = bus_free_ - t_cas_;
  if (write) bank.write_end = bus_free_;
  return bus_free_;
}

}  // namespace npu::timing
