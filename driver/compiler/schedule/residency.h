// SPDX-License-Identifier: Apache-2.0
// Which buffers stay in the scratchpad and which live in DRAM.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "driver/compiler/schedule/analysis.h"
#include "driver/compiler/schedule/plan.h"

namespace npu::compiler::backend {

inline constexpr int64_t kBufferAlignment = 64;

class Residency {
 public:
  // All three must outlive this.
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
  [[nodiscard]] std::vector<Home> operand_homes(size_t step) const;
  void move_to_dram(BufferId buffer);
  // Estimate for a step with the homes of now; nullopt when it does not fit.
  std::optional<double> step_cycles(size_t step);
  // Says that the smallest tile of a step does not fit.
  [[noreturn]] void fail(size_t step);

 private:
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
  std::map<std::pair<size_t, std::vector<Home>>, TilePlan> least_;
  // What the cycles of a step depend on: bytes that are available, and the homes of its operands.
  using Circumstances = std::pair<int64_t, std::vector<Home>>;
  std::vector<std::map<Circumstances, std::optional<double>>> cycles_;  // one map a step
};

}  // namespace npu::compiler::backend
