// SPDX-License-Identifier: Apache-2.0
// What the persistent SRAM's RTL has to do in each cycle, for whatever is asked for: the contents with the time that
// its README states.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "hw/timing/round_robin.h"
#include "hw/timing/table_cycles.h"
#include "sim/cosim/persistent_sram_contents.h"

namespace npu::cosim {

class PersistentSramSchedule {
 public:
  using Power = rtl::PersistentSram::Power;

  struct Injection {
    uint32_t row = 0, lane = 0;
    uint64_t data_flips = 0;
    uint8_t check_flips = 0;
  };
  // What is offered in a cycle; nullptr: nothing. While an operation is under way, no other port writes the table.
  struct Inputs {
    const rtl::PersistentSram::Access* access = nullptr;
    const rtl::PersistentSram::Operation* operation = nullptr;
    const Injection* injection = nullptr;
    Power power = Power::kOn;
    bool clear_lost = false;
  };
  struct Answer {
    contract::ErrorCode error = contract::ErrorCode::kOk;
    uint32_t strobe = 0;        // bytes whose words were looked at
    std::vector<uint8_t> data;  // of a read without error
    uint32_t failed = 0;        // words with two wrong bits, one bit each
  };
  struct End {
    contract::ErrorCode error = contract::ErrorCode::kOk;
    std::optional<rtl::PersistentSram::Place> place;  // of a check that is passed
    std::optional<uint32_t> entry;                    // of the table, that has two wrong bits
    uint64_t cycles = 0;                              // by the formulas of the README, without competition
    timing::TableOperation played;                    // what it came to
  };
  struct Outputs {
    bool access_taken = false, operation_taken = false, injection_taken = false;
    bool late = false;  // the access that was taken holds up the next one by a cycle
    std::optional<Answer> answer;
    std::optional<End> end;  // of the operation
    bool lost = false;
    uint32_t corrected = 0;
  };

  // After a reset.
  explicit PersistentSramSchedule(const rtl::PersistentSram::Sizes& sizes)
      : contents_(sizes), clear_left_(contents_.rows()) {}

  Outputs step(const Inputs& inputs);
  // Cycles in which contents are still to be cleared.
  [[nodiscard]] uint64_t clear_left() const { return clear_left_; }
  [[nodiscard]] const PersistentSramContents& contents() const { return contents_; }

 private:
  struct Running {
    rtl::PersistentSram::Operation operation;
    PersistentSramContents::Plan plan;
    size_t run = 0, row = 0;  // that is asked for
    bool writes = false;      // instead of rows
    uint64_t asks_at = 0;     // not before this cycle
    uint64_t answer_at = 0;   // cycle of the answer that ends the reading; 0: not asked for yet
    uint64_t ends_at = 0;     // 0: not known yet
    uint64_t reads = 0;       // of the run, that were looked at
    uint64_t held_up = 0;     // cycles, by rows that were corrected
    bool corrected = false;   // the last row was
    timing::TableOperation played;
    contract::ErrorCode error = contract::ErrorCode::kOk;
    std::optional<uint32_t> entry;  // that has two wrong bits

    [[nodiscard]] const PersistentSramContents::Run& now() const { return plan.runs[run]; }
  };
  template <class Value>
  struct Due {
    uint64_t cycle;
    Value value;
  };

  void read_outputs(Outputs& outputs);
  void start(const rtl::PersistentSram::Operation& operation);
  bool serve(const Inputs& inputs, Outputs& outputs, bool table);
  void took(const PersistentSramContents::Result& result);
  [[nodiscard]] bool table_asks() const;
  void serve_table(Power power);
  void look(bool asked, bool served);
  void took_row(const PersistentSramContents::Result& result);
  void took_mark(const PersistentSramContents::Result& result);
  void found(uint32_t row, const PersistentSramContents::Result& result);
  void next_run();

  PersistentSramContents contents_;
  uint64_t cycle_ = 0, clear_left_;
  bool late_ = false;  // this cycle belongs to what the one before left to be written
  bool lost_ = false;
  bool off_ = false;  // power was, in the cycle before
  uint32_t corrected_ = 0;
  timing::RoundRobin turns_;
  std::deque<Due<Answer>> answers_;
  std::deque<Due<uint32_t>> corrections_;
  std::optional<Running> running_;
};

}  // namespace npu::cosim
