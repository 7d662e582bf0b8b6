// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/persistent_sram_demand.h"

#include <algorithm>
#include <span>
#include <vector>

#include "hw/timing/crossbar.h"
#include "hw/timing/table_ports.h"

namespace npu::cosim {

using timing::Crossbar;
using timing::MemoryRequest;
using timing::OnChip;
using timing::Ports;

namespace {

// Of a row; that it is written matters where a part of a word is.
MemoryRequest request(bool part, uint32_t port_bytes) {
  return {OnChip::kPersistent, part, 0, part ? Crossbar::kCodeBytes / 2 : port_bytes};
}

// Operations, one after the other.
class Table final : public Crossbar::Lane, public timing::SteppedSchedule<Table> {
 public:
  Table(Crossbar& crossbar, std::span<const PersistentSramDemand::Operation> operations, uint32_t port_bytes)
      : Lane(crossbar, 1), left_(operations), port_bytes_(port_bytes) {
    if (!left_.empty()) offered_ = left_.front().pause;
  }
  [[nodiscard]] uint64_t last() const { return last_; }

  [[nodiscard]] Ports asking() const override { return running_ ? operation_.asking() : 0; }
  void step(Ports granted) override {
    if (!running_ && cycle_ >= offered_ && !left_.empty()) take();
    ++cycle_;
    if (!running_) return;
    operation_.step(granted);
    if (!operation_.done()) return;
    running_ = false;
    last_ = cycle_;
    offered_ = std::max(offered_, cycle_ + 1);  // in the cycle of the end nothing is taken
  }
  [[nodiscard]] bool done() const override { return left_.empty() && !running_; }
  [[nodiscard]] MemoryRequest next(uint32_t) override { return request(operation_.writes(), port_bytes_); }
  void ended(uint64_t) override {}
  [[nodiscard]] uint64_t cycles_left() const override { return 1; }

 private:
  void take() {
    operation_ = timing::TablePorts(left_.front().operation);
    running_ = true;
    left_ = left_.subspan(1);
    if (!left_.empty()) offered_ = cycle_ + 1 + left_.front().pause;
  }

  std::span<const PersistentSramDemand::Operation> left_;
  const uint32_t port_bytes_;
  timing::TablePorts operation_;
  bool running_ = false;
  uint64_t cycle_ = 0, offered_ = 0, last_ = 0;
};

class Data final : public Crossbar::Lane, public timing::SteppedSchedule<Data> {
 public:
  Data(Crossbar& crossbar, std::span<const PersistentSramDemand::Access> accesses, uint32_t port_bytes)
      : Lane(crossbar, 1), left_(accesses), port_bytes_(port_bytes) {
    if (!left_.empty()) offered_ = left_.front().pause;
  }
  [[nodiscard]] uint64_t last() const { return last_; }

  [[nodiscard]] Ports asking() const override { return cycle_ >= offered_ ? 1 : 0; }
  void step(Ports granted) override {
    if (granted != 0) {
      last_ = cycle_ + timing::kPersistentAnswer;
      left_ = left_.subspan(1);
      if (!left_.empty()) offered_ = cycle_ + 1 + left_.front().pause;
    }
    ++cycle_;
  }
  [[nodiscard]] bool done() const override { return left_.empty(); }
  [[nodiscard]] MemoryRequest next(uint32_t) override { return request(left_.front().part, port_bytes_); }
  void ended(uint64_t) override {}
  [[nodiscard]] uint64_t cycles_left() const override { return 1; }

 private:
  std::span<const PersistentSramDemand::Access> left_;
  const uint32_t port_bytes_;
  uint64_t cycle_ = 0, offered_ = 0, last_ = 0;
};

contract::Capabilities memory(uint32_t port_bytes) {
  contract::Capabilities caps;
  caps.spm_banks = caps.spm_bank_bytes = 1;
  caps.psram_port_bytes = port_bytes;
  return caps;
}

}  // namespace

uint64_t device_cycles(const PersistentSramDemand& demand, uint32_t port_bytes) {
  Crossbar crossbar(memory(port_bytes));
  Table table(crossbar, demand.operations, port_bytes);
  Data data(crossbar, demand.accesses, port_bytes);
  if (!table.done()) crossbar.start(table, table, 0);
  if (!data.done()) crossbar.start(data, data, 0);
  while (table.running() || data.running()) {
    const uint64_t next = crossbar.next_end();
    crossbar.play(next);
    crossbar.tell(next);
  }
  return std::max(table.last(), data.last());
}

}  // namespace npu::cosim
