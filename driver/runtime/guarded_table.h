// SPDX-License-Identifier: Apache-2.0
// The variable table of a device that may lose its power while the driver waits for an answer.
#pragma once

#include <span>
#include <vector>

#include "driver/runtime/link.h"
#include "hw/contract/error.h"

namespace npu::runtime {

class GuardedTable final : public VariableEntries {
 public:
  explicit GuardedTable(VariableEntries& table) : table_(table) {}

  // What was or will be exchanged is worth nothing: every exchange throws Error(kPowerLost) when it has ended.
  void set_lost(bool lost) { lost_ = lost; }
  [[nodiscard]] bool lost() const { return lost_; }

  void write_entries(std::span<const Write> writes) override {
    table_.write_entries(writes);
    require_kept();
  }
  [[nodiscard]] std::vector<contract::VariableEntry> read_entries(std::span<const uint32_t> indices) override {
    std::vector<contract::VariableEntry> entries = table_.read_entries(indices);
    require_kept();
    return entries;
  }

 private:
  void require_kept() const {
    if (!lost_) return;
    throw Error(contract::ErrorCode::kPowerLost,
                "the persistent SRAM lost its power during the call, and with it what variables held; call again.");
  }

  VariableEntries& table_;
  bool lost_ = false;
};

}  // namespace npu::runtime
