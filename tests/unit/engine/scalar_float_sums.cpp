// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/scalar_float_sums.h"

#include <algorithm>

#include "hw/contract/error.h"
#include "tests/unit/engine/scalar_floats.h"

namespace npu::engine::testing::scalar {

using contract::Capabilities;
using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;
using contract::ReduceOp;
using contract::VpuReduceCommand;
using Values = std::vector<uint32_t>;

namespace {

uint64_t cycles_of(Element format, const Capabilities& caps) {
  if (format == Element::kF16) return caps.mxu_fp16_cycles;
  if (format == Element::kBf16) return caps.mxu_bf16_cycles;
  return format == Element::kF32 ? caps.mxu_fp32_cycles : caps.mxu_fp8_cycles;
}

// Neighbours are added until one sum is left; the last one of an odd number meets +0.
uint32_t tree(Values values) {
  while (values.size() > 1) {
    if (values.size() % 2 == 1) values.push_back(0);
    Values sums;
    for (size_t i = 0; i < values.size(); i += 2) sums.push_back(sum(values[i], values[i + 1]));
    values = sums;
  }
  return values.at(0);
}

// Elements of each step.
std::vector<uint64_t> steps_of(const MxuCommand& command, uint64_t depth, uint64_t elements) {
  const bool by_position = command.mode != MxuMode::kDepthwise && command.in_c >= depth;
  const uint64_t run = by_position ? command.in_c : elements;
  std::vector<uint64_t> steps;
  for (uint64_t from = 0; from < elements; from += run) {
    for (uint64_t in_run = 0; in_run < run; in_run += depth) steps.push_back(std::min(depth, run - in_run));
  }
  return steps;
}

uint32_t join(const VpuReduceCommand& command, uint32_t a, uint32_t b) {
  switch (command.op) {
    case ReduceOp::kSum:
      return sum(a, b);
    case ReduceOp::kProduct:
      return product(a, b);
    case ReduceOp::kMax:
      return larger(a, b, command.ignore_nan != 0);
    case ReduceOp::kMin:
      return smaller(a, b, command.ignore_nan != 0);
    default:
      panic(__FILE__, __LINE__, "a reduction that joins no values");
  }
}

uint32_t in_order(const VpuReduceCommand& command, const Values& values) {
  uint32_t result = values.at(0);
  for (size_t i = 1; i < values.size(); ++i) result = join(command, result, values[i]);
  return result;
}

// Lane l joins elements l, l + lanes and so on; then the lanes meet, neighbours first.
uint32_t across_lanes(const VpuReduceCommand& command, const Values& values, size_t lanes) {
  Values held;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i < lanes) {
      held.push_back(values[i]);
    } else {
      held[i % lanes] = join(command, held[i % lanes], values[i]);
    }
  }
  for (size_t apart = 1; apart < held.size(); apart *= 2) {
    const Values before = held;
    for (size_t lane = 0; lane + apart < held.size(); ++lane) {
      held[lane] = join(command, before[lane], before[lane + apart]);
    }
  }
  return held[0];
}

// The halves of a vector meet, then their halves, as far as there are elements.
uint32_t of_vector(const VpuReduceCommand& command, Values values, size_t lanes) {
  for (size_t apart = lanes / 2; apart > 0; apart /= 2) {
    for (size_t lane = 0; lane < apart && lane + apart < values.size(); ++lane) {
      values[lane] = join(command, values[lane], values[lane + apart]);
    }
    values.resize(std::min(values.size(), apart));
  }
  return values.at(0);
}

uint32_t with_tree(const VpuReduceCommand& command, const Values& values, size_t lanes) {
  Values results;
  for (size_t from = 0; from < values.size(); from += lanes) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(from);
    const auto end = begin + static_cast<ptrdiff_t>(std::min(lanes, values.size() - from));
    results.push_back(of_vector(command, Values(begin, end), lanes));
  }
  return in_order(command, results);
}

}  // namespace

uint32_t accumulate(const MxuCommand& command, const Capabilities& caps, const Values& products) {
  const uint64_t depth = command.mode == MxuMode::kDepthwise ? caps.mxu_dw_taps : caps.mxu_depth;
  const uint64_t cycles = cycles_of(command.src_type, caps);
  const uint64_t at_once = (depth + cycles - 1) / cycles;
  uint32_t accumulator = 0;
  size_t at = 0;
  for (const uint64_t step : steps_of(command, depth, products.size())) {
    for (uint64_t done = 0; done < step;) {
      Values slots(at_once);
      for (uint64_t i = 0; i < at_once && done < step; ++i, ++done) slots[i] = products.at(at++);
      accumulator = sum(accumulator, tree(slots));
    }
  }
  return accumulator;
}

uint32_t reduce(const VpuReduceCommand& command, const Capabilities& caps, const Values& values) {
  if (command.inner > 1) return in_order(command, values);
  const bool tree = caps.vpu_tree != 0 && command.op != ReduceOp::kProduct;
  return tree ? with_tree(command, values, caps.vpu_lanes) : across_lanes(command, values, caps.vpu_lanes);
}

int64_t index_of_greatest(const Values& values, bool ignore_nan) {
  // A NaN is above all numbers; ignored, below them.
  const auto above = [&](uint32_t a, uint32_t b) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) != is_nan(b) && is_nan(a) != ignore_nan;
    return less(b, a);
  };
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    if (above(values[i], values[best])) best = i;
  }
  return static_cast<int64_t>(best);
}

uint32_t pool(const contract::VpuPoolCommand& command, const Values& values) {
  const bool average = command.mode == contract::PoolMode::kAvg;
  if (values.empty()) return average ? 0 : kInfinity | kMinus;
  uint32_t result = average ? 0 : values[0];
  if (!average) {
    for (size_t i = 1; i < values.size(); ++i) result = larger(result, values[i], command.ignore_nan != 0);
    return result;
  }
  for (const uint32_t value : values) result = sum(result, value);
  return product(result, quotient(1, values.size()));
}

}  // namespace npu::engine::testing::scalar
