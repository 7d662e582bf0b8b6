// SPDX-License-Identifier: Apache-2.0
// Results of parts become one: maxima, and sums of 32 and of 48 bits.
#include <algorithm>

#include "driver/compiler/schedule/step_parts.h"

namespace npu::compiler::backend {
namespace {

using contract::UopCode;

// Of any machine.
constexpr uint32_t kFewestRegisters = [] {
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    if (info.member == &contract::Capabilities::vpu_registers) return info.min;
  }
  return 0u;
}();

// Views that one element-wise step joins, by its numbers of operands and of micro-operations.
constexpr ptrdiff_t most_views(Join how) { return how == Join::kAdd48 ? 4 : 6; }

void load(EwiseStep& step, const View& view, uint32_t reg) {
  step.uops.push_back({UopCode::kLoad, reg, static_cast<uint32_t>(step.operands.size()), 0, 0, 0});
  step.operands.push_back({view, false, false});
}

EwiseStep join_simply(std::span<const View> views, UopCode op) {
  EwiseStep step;
  step.dims = views.front().dims;
  for (const View& view : views) {
    const bool first = step.operands.empty();
    load(step, view, first ? 0 : 1);
    if (!first) step.uops.push_back({op, 0, 0, 1, 0, 0});
  }
  step.register_count = 2;
  return step;
}

// The VPU adds 32 bits: upper and lower halves are added apart, and the lower ones' carry to the upper ones.
EwiseStep add_48(std::span<const View> views) {
  constexpr int32_t kHalf = 24, kMask = (1 << kHalf) - 1;
  enum Register : uint32_t { kUpper, kValue, kLower, kMaskRegister, kHalfRegister, kPart, kRegisters };
  static_assert(kRegisters <= kFewestRegisters);
  EwiseStep step;
  step.dims = views.front().dims;
  for (const View& view : views) {
    const bool first = step.operands.empty();
    load(step, view, kValue);
    if (first) {  // a clamp to one value makes a constant
      step.uops.push_back({UopCode::kClamp, kMaskRegister, kValue, 0, kMask, kMask});
      step.uops.push_back({UopCode::kClamp, kHalfRegister, kValue, 0, kHalf, kHalf});
    }
    step.uops.push_back({UopCode::kBitAnd, first ? kLower : kPart, kValue, kMaskRegister, 0, 0});
    if (!first) step.uops.push_back({UopCode::kAdd, kLower, kLower, kPart, 0, 0});
    step.uops.push_back({UopCode::kShrArith, first ? kUpper : kValue, kValue, kHalfRegister, 0, 0});
    if (!first) step.uops.push_back({UopCode::kAdd, kUpper, kUpper, kValue, 0, 0});
  }
  const auto i48 = static_cast<int32_t>(contract::Element::kI48);
  step.uops.push_back({UopCode::kShrArith, kPart, kLower, kHalfRegister, 0, 0});
  step.uops.push_back({UopCode::kAdd, kUpper, kUpper, kPart, 0, 0});
  step.uops.push_back({UopCode::kBitAnd, kLower, kLower, kMaskRegister, 0, 0});
  step.uops.push_back({UopCode::kShl, kUpper, kUpper, kHalfRegister, i48, 0});
  step.uops.push_back({UopCode::kBitOr, 0, kUpper, kLower, 0, 0});
  step.register_count = kRegisters;
  return step;
}

EwiseStep join_at_once(std::span<const View> views, Join how) {
  if (how == Join::kAdd48 && views.size() > 1) return add_48(views);
  return join_simply(views, how == Join::kMax ? UopCode::kMax : UopCode::kAdd);
}

}  // namespace

EwiseStep join(std::vector<View> views, Join how, StepParts& parts) {
  const ptrdiff_t most = most_views(how);
  while (std::ssize(views) > most) {
    EwiseStep step = join_at_once(std::span(views).first(static_cast<size_t>(most)), how);
    View result = parts.intermediate(views[0].dims, views[0].type);
    store(step, result);
    parts.add(std::move(step));
    views.erase(views.begin(), views.begin() + most);
    views.push_back(std::move(result));
  }
  return join_at_once(views, how);
}

void store(EwiseStep& step, const View& dst) {
  step.uops.push_back({UopCode::kStore, 0, 0, static_cast<uint32_t>(step.operands.size()), 0, 0});
  step.operands.push_back({dst, false, true});
}

}  // namespace npu::compiler::backend
