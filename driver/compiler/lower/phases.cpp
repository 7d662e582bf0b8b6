// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/phases.h"

#include <algorithm>

namespace npu::compiler {
namespace {

int64_t floor_div(int64_t value, int64_t unit) { return value / unit - (value % unit < 0 ? 1 : 0); }

int64_t taps_from(const TransposedAxis& axis, int64_t first_tap) {
  return first_tap < axis.kernel ? (axis.kernel - 1 - first_tap) / axis.stride + 1 : 0;
}

// Of results that exist.
Phase phase_from(const TransposedAxis& axis, int64_t first, int64_t width, int64_t count) {
  const int64_t input = floor_div(first - axis.pad, axis.stride);  // the last one that reaches the first result
  Phase phase{first, width, count, first - axis.pad - input * axis.stride, 0, 0};
  phase.taps = taps_from(axis, phase.first_tap);
  phase.padding = phase.taps - 1 - input;
  return phase;
}

// The results whose first tap is one of `width`, from `first_tap` on.
void add_phases(const TransposedAxis& axis, int64_t first_tap, int64_t width, std::vector<Phase>& phases) {
  const int64_t first = -floor_div(axis.pad + first_tap, axis.stride);  // groups before it begin before the results
  const auto start = [&](int64_t group) { return axis.pad + first_tap + group * axis.stride; };
  const int64_t full = std::max<int64_t>(0, floor_div(axis.results - width - start(first), axis.stride) + 1);
  if (full > 0) phases.push_back(phase_from(axis, start(first), width, full));
  for (const int64_t group : {first - 1, first + full}) {
    const int64_t begin = std::max<int64_t>(0, start(group)), end = std::min(axis.results, start(group) + width);
    if (begin < end) phases.push_back(phase_from(axis, begin, end - begin, 1));
  }
}

}  // namespace

std::vector<Phase> phases_of(const TransposedAxis& axis, bool wide) {
  std::vector<Phase> phases;
  for (int64_t tap = 0; tap < axis.stride;) {
    const int64_t taps = taps_from(axis, tap);
    int64_t width = 1;
    while ((wide || taps == 0) && tap + width < axis.stride && taps_from(axis, tap + width) == taps) ++width;
    add_phases(axis, tap, width, phases);
    tap += width;
  }
  return phases;
}

}  // namespace npu::compiler
