// SPDX-License-Identifier: Apache-2.0
// When accesses to DRAM are done, given what came before: plain arithmetic in picoseconds, behind one interface.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace npu::timing {

// The memory behind the DMA port: one channel of banks with a row buffer each, or one whose accesses all take the same
// latency. Times are whole nanoseconds.
struct Dram {
  std::string name;            // "LPDDR4-3200 x32"
  uint32_t data_rate_mts = 0;  // million transfers a second
  uint32_t bus_bits = 0;       // width of a transfer
  uint32_t latency_ns = 0;     // of each access, until its first transfer; 0: what follows counts
  uint32_t banks = 0;
  uint32_t row_bytes = 0;            // a row of one bank, over the whole bus
  uint32_t t_rcd_ns = 0;             // activate to read or write
  uint32_t t_rp_ns = 0;              // precharge to activate
  uint32_t t_cas_ns = 0;             // read command to data
  uint32_t t_ras_ns = 0;             // activate to precharge, at least
  uint32_t t_wr_ns = 0;              // end of write data to precharge
  uint32_t t_refi_ns = 0;            // between refreshes of a bank
  uint32_t t_rfc_ns = 0;             // a refresh
  uint32_t refreshes_postponed = 0;  // at most, while accesses come
  uint32_t refresh_by_bank = 0;      // 1: a refresh takes one bank; 0: all of them

  // Peak, bytes a second.
  [[nodiscard]] uint64_t bytes_per_second() const { return uint64_t{data_rate_mts} * 1'000'000 * (bus_bits / 8); }

  friend bool operator==(const Dram&, const Dram&) = default;
};

class DramTiming {
 public:
  virtual ~DramTiming() = default;
  // As at power-on: this moment is time 0.
  virtual void restart() = 0;
  // An access that arrives at `arrival` (not before the one before); returns when its last data is transferred.
  virtual uint64_t access(uint64_t arrival, uint64_t address, uint64_t bytes, bool write) = 0;
};

// The kind of memory that the machine's file describes.
[[nodiscard]] std::unique_ptr<DramTiming> make_dram_timing(const Dram& dram);

// The data bus. It moves whole granules: 64 bytes, or a transfer where that is more.
class DramBus {
 public:
  explicit DramBus(const Dram& dram)
      : bytes_(dram.bus_bits / 8), rate_mts_(dram.data_rate_mts), granule_(std::max<uint64_t>(64, bytes_)) {}
  // Where the granules of an access begin and end.
  [[nodiscard]] uint64_t begin(uint64_t address) const { return address / granule_ * granule_; }
  [[nodiscard]] uint64_t end(uint64_t address, uint64_t bytes) const { return begin(address + bytes + granule_ - 1); }
  // Of whole granules.
  [[nodiscard]] uint64_t time(uint64_t bytes) const { return (bytes / bytes_ * 1'000'000 + rate_mts_ - 1) / rate_mts_; }

 private:
  uint64_t bytes_, rate_mts_, granule_;
};

// Data follows a fixed time after each access arrives, over one bus: no rows, no refresh.
class FixedDram final : public DramTiming {
 public:
  explicit FixedDram(const Dram& dram);
  void restart() override { bus_free_ = 0; }
  uint64_t access(uint64_t arrival, uint64_t address, uint64_t bytes, bool write) override;

 private:
  uint64_t latency_;
  DramBus bus_;
  uint64_t bus_free_ = 0;
};

// A simple row model of one channel. Accesses are served in order of arrival over one data bus; banks prepare their
// rows in parallel. Address mapping, from the low end: byte in the row, bank, row. An access finds its row open (hit:
// t_cas to data), its bank closed (t_rcd more), or another row open (miss: t_rp more, and the precharge waits for t_ras
// after the activation and t_wr after the last write data). Every t_refi a refresh is due, in which all banks are busy
// for t_rfc and after which their rows are closed. As controllers do, it waits until the bus has been idle for as long
// as a refresh takes, one after the other, but for so many of them only that may be postponed: then accesses wait.
//
// Bank by bank, each bank has a refresh of its own due every t_refi, those of all banks spread over that time. It waits
// until no access to the bank has come for as long as a refresh takes, and its row is closed; the other banks go on,
// but only one is refreshed at a time. When half as many as may be postponed wait and one more is due, it waits for no
// access but those that the bus serves, and when all that may be postponed wait and one more is due, for none.
class RowDram final : public DramTiming {
 public:
  struct Statistics {
    uint64_t hits = 0, closed = 0, misses = 0, refreshes = 0;
    friend bool operator==(const Statistics&, const Statistics&) = default;
  };

  explicit RowDram(const Dram& dram);
  void restart() override;  // all rows closed, the first refresh due t_refi from now; bank by bank: of bank 0
  uint64_t access(uint64_t arrival, uint64_t address, uint64_t bytes, bool write) override;
  // Since restart().
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  static constexpr uint64_t kClosed = ~uint64_t{0};
  struct Bank {
    uint64_t row = kClosed;
    uint64_t ready = 0;  // for the next column command
    uint64_t activated = 0;
    uint64_t write_end = 0;
    uint64_t used = 0;          // end of the last access
    uint64_t next_refresh = 0;  // bank by bank
  };

  uint64_t access_row(uint64_t arrival, uint64_t address, uint64_t bytes, bool write);
  // Does what is due before an access that arrives at `arrival` finds its bank ready at `time`.
  void refresh_until(uint64_t arrival, uint64_t time);
  void refresh(uint64_t start);
  // Bank by bank: before such an access to `wanted`.
  void refresh_banks(Bank& wanted, uint64_t arrival, uint64_t time);
  void skip_idle_rounds(uint64_t arrival);
  [[nodiscard]] uint64_t late_from(const Bank& bank) const;
  [[nodiscard]] uint64_t refresh_start(const Bank& bank) const;
  void refresh_bank(Bank& bank);

  uint64_t row_bytes_, t_rcd_, t_rp_, t_cas_, t_ras_, t_wr_, t_refi_, t_rfc_, postponed_;
  bool by_bank_;
  DramBus bus_;
  std::vector<Bank> banks_;
  uint64_t bus_free_ = 0;
  uint64_t next_refresh_ = 0;  // when the first one that is not done is due, or was
  uint64_t refreshed_ = 0;     // end of the last one
  Statistics statistics_;
};

}  // namespace npu::timing
