// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/flow.h"

#include <algorithm>
#include <map>

#include "hw/contract/error.h"
#include "hw/contract/overloaded.h"

namespace npu::compiler::backend {
namespace {

// Joins ranges that overlap. Ascending.
std::vector<StepRange> outermost(std::vector<StepRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const StepRange& a, const StepRange& b) { return a.first < b.first; });
  std::vector<StepRange> out;
  for (const StepRange& range : ranges) {
    if (!out.empty() && range.first <= out.back().last) {
      out.back().last = std::max(out.back().last, range.last);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

}  // namespace

bool is_control(const Work& work) {
  return std::visit(Overloaded{[](const MxuStep&) { return false; }, [](const EwiseStep&) { return false; },
                               [](const PoolStep&) { return false; }, [](const ReduceStep&) { return false; },
                               [](const CopyStep&) { return false; }, [](const GatherStep&) { return false; },
                               [](const DeclareStep&) { return false; }, [](const LabelStep&) { return true; },
                               [](const BranchStep&) { return true; }},
                    work);
}

Flow::Flow(std::span<const Step> steps) {
  std::map<uint32_t, size_t> labels;
  std::vector<std::pair<size_t, const BranchStep*>> branches;
  size_t begin = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    control_.push_back(backend::is_control(steps[s].work));
    if (control_.back()) begin = s;
    block_.push_back(begin);
    if (control_.back()) begin = s + 1;
    if (const auto* label = std::get_if<LabelStep>(&steps[s].work)) labels.emplace(label->label, s);
    if (const auto* branch = std::get_if<BranchStep>(&steps[s].work)) branches.emplace_back(s, branch);
  }
  std::vector<StepRange> ranges;
  for (const auto& [s, branch] : branches) {
    const size_t target = labels.at(branch->label);
    NPU_CHECK((branch->mode == contract::BranchMode::kRepeat) == (target < s));
    ranges.push_back({std::min(s, target), std::max(s, target)});
    if (target < s) loops_.push_back(ranges.back());
  }
  std::stable_sort(loops_.begin(), loops_.end(),
                   [](const StepRange& a, const StepRange& b) { return a.last - a.first < b.last - b.first; });
  constructs_ = outermost(std::move(ranges));
}

const StepRange* Flow::construct_of(size_t step) const {
  auto after = std::upper_bound(constructs_.begin(), constructs_.end(), step,
                                [](size_t at, const StepRange& range) { return at < range.first; });
  if (after == constructs_.begin()) return nullptr;
  --after;
  return after->contains(step) ? &*after : nullptr;
}

}  // namespace npu::compiler::backend
