// SPDX-License-Identifier: Apache-2.0
// Where a module's blocks, loops and constructs of control flow are (ir.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "driver/compiler/ir.h"

namespace npu::compiler::backend {

// Steps [first, last].
struct StepRange {
  size_t first = 0, last = 0;
  [[nodiscard]] bool contains(size_t step) const { return first <= step && step <= last; }
};

class Flow {
 public:
  Flow() = default;
  // Branches and labels must match, and constructs must nest.
  explicit Flow(std::span<const Step> steps);

  [[nodiscard]] bool straight() const { return constructs_.empty(); }  // no control flow at all
  // Whether no control step lies between the two, themselves included.
  [[nodiscard]] bool same_block(size_t a, size_t b) const { return block_[a] == block_[b] && !control_[a]; }
  [[nodiscard]] bool is_control(size_t step) const { return control_[step]; }
  // The first step of the block that a step is in.
  [[nodiscard]] size_t block_begin(size_t step) const { return block_[step]; }
  // From the label to the branch back; inner loops before those that they are in.
  [[nodiscard]] const std::vector<StepRange>& loops() const { return loops_; }
  // The outermost construct that a step is in; null when it runs exactly once.
  [[nodiscard]] const StepRange* construct_of(size_t step) const;

 private:
  std::vector<bool> control_;
  std::vector<size_t> block_;  // by step: the first one of its block
  std::vector<StepRange> loops_, constructs_;
};

// A work that is control flow.
[[nodiscard]] bool is_control(const Work& work);

}  // namespace npu::compiler::backend
