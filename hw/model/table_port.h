// SPDX-License-Identifier: Apache-2.0
// The time of operations on the variable table: one after the other, in the order in which they were asked for, each
// with accesses to the persistent SRAM that compete with those of engines and DMA channels. What an operation does is
// its caller's affair.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <systemc>

#include "hw/model/command.h"
#include "hw/model/interconnect.h"
#include "hw/model/job.h"
#include "hw/timing/table_ports.h"

namespace npu::model {

class TablePort final : private timing::Crossbar::Lane {
 public:
  TablePort(Interconnect& interconnect, const Clock& clock, Job& job);

  void begin_job();
  // From the process of a queue's unit, or of the sequencer (its queue): returns at the cycle in which the operation is
  // through, or when the job is aborted.
  void operate(uint32_t queue, const timing::TableOperation& operation);

 private:
  struct Ticket {
    uint32_t queue;
    timing::TableOperation operation;
  };
  void start_next();

  [[nodiscard]] timing::OnChipSet memories() const override { return timing::set_of(timing::OnChip::kPersistent); }
  [[nodiscard]] timing::MemoryRequest next(uint32_t) override;
  void ended(uint64_t end) override;
  [[nodiscard]] uint64_t cycles_left() const override;

  Interconnect& interconnect_;
  const Clock& clock_;
  const Job& job_;
  std::deque<Ticket> waiting_;                                  // the first one is under way
  std::array<sc_core::sc_event, kSequencerQueue + 1> through_;  // by queue
  timing::TablePorts ports_;                                    // of the first one
  uint64_t ended_ = timing::Crossbar::kNever;                   // cycle in which the last one did
};

}  // namespace npu::model
