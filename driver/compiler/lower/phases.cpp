// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/phases.h"

#include <algorithm>

namespace npu::compiler {
namespace {

int64_t floor_div(int64_t value, int64_t unit) { return value / unit - (value % unit < 0 ? 1 : 0); }

// The phase of result `first` alone.
Phase phase_at(const TransposedAxis& axis, int64_t first) {
  Phase phase;
  phase.first = first;
  const int64_t input = floor_div(first - axis.pad, axis.stride);  // the last one that reaches the result
  phase.first_tap = first - axis.pad - input * axis.stride;
  phase.taps = std::max<int64_t>(0, floor_div(axis.kernel - phase.first_tap + axis.stride - 1, axis.stride));
  phase.padding = phase.taps - 1 - input;
  return phase;
}

}  // namespace

std::vector<Phase> phases_of(const TransposedAxis& axis, bool wide) {
  std::vector<Phase> phases;
  const int64_t end = std::min(axis.stride, axis.results);
  for (int64_t at = 0; at < end;) {
    Phase phase = phase_at(axis, at);
    const auto joins = [&](const Phase& next) {
      return (wide || phase.taps == 0) && next.first_tap == phase.first_tap + phase.width && next.taps == phase.taps;
    };
    while (at + phase.width < end && joins(phase_at(axis, at + phase.width))) ++phase.width;
    at += phase.width;
    // Those of the neighbours that begin one row or column more than all of them do.
    const int64_t left = axis.results - phase.first;
    phase.count = (left + axis.stride - phase.width) / axis.stride;
    Phase rest = phase;
    rest.first += phase.count * axis.stride;
    rest.width = std::min(phase.width, left - phase.count * axis.stride);
    rest.padding -= phase.count;
    rest.count = 1;
    if (phase.count > 0) phases.push_back(phase);
    if (rest.width > 0) phases.push_back(rest);
  }
  return phases;
}

}  // namespace npu::compiler
