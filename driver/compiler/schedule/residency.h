// SPDX-License-Identifier: Apache-2.0
// Which buffers stay in the scratchpad and which live in DRAM.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "driver/compiler/schedule/analysis.h"
#include "driver/compiler/schedule/plan.h"

namespace npu::compiler::backend {

inline constexpr int64_t kBufferAlignment = 64;

class Residency {
 public:
  // All three must outlive this, and the analysis keep its steps as long as cycles are asked for.
  Residency(const Module& module, const Analysis& analysis, const PlanSettings& settings);

  // Starts with everything in the scratchpad, moves out what keeps some step's smallest tile from fitting, then moves
  // single buffers as long as the estimated time gets better. Throws Error(scratchpad_full).
  void choose();

  [[nodiscard]] const std::vector<Home>& homes() const { return homes_; }
  [[nodiscard]] bool resident(BufferId buffer) const { return homes_[buffer] == Home::kScratchpad; }
  [[nodiscard]] bool resident_at(BufferId buffer, size_t step) const;
  // Whether it is resident in the step and may move to DRAM.
  [[nodiscard]] bool can_leave(BufferId buffer, size_t step) const;
  [[nodiscard]] int64_t footprint(BufferId buffer) const;  // bytes, alignment included
  // Bytes that resident buffers leave for tile buffers in a step.
  [[nodiscard]] int64_t available(size_t step) const { return size_ - live_[step]; }
  [[nodiscard]] const std::vector<Home>& operand_homes(size_t step) const { return operand_homes_[step]; }
  void move_to_dram(BufferId buffer);
  // Estimate for a step with the homes of now; nullopt when it does not fit.
  std::optional<double> step_cycles(size_t step);
  // Says that the smallest tile of a step does not fit.
  [[noreturn]] void fail(size_t step);

 private:
  void list_operands();
  void set_home(BufferId buffer, Home home);
  void toggle(BufferId buffer);
  void demote_one(size_t step);
  void improve();
  const TilePlan& least(size_t step);
  std::optional<double> buffer_cycles(BufferId buffer);

  const Module& module_;
  const Analysis& analysis_;
  const PlanSettings& settings_;
  const int64_t size_;
  std::vector<Home> homes_;    // one a buffer
  std::vector<int64_t> live_;  // bytes of resident buffers, one a step
  // The homes again, of each step's operands: most steps of a long life are asked for, and few have the buffer.
  std::vector<std::vector<Home>> operand_homes_;
  struct Use {
    size_t step, operand;
  };
  std::vector<std::vector<Use>> uses_;  // of each buffer
  // For each step by the homes of its operands; cycles by the bytes that are available, too.
  std::vector<std::map<std::vector<Home>, TilePlan>> least_;
  std::vector<std::map<std::vector<Home>, std::map<int64_t, std::optional<double>>>> cycles_;
};

}  // namespace npu::compiler::backend
