// SPDX-License-Identifier: Apache-2.0
// Where a job may be stopped.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/estimate.h"

namespace npu::compiler::backend {

struct YieldPoint {
  size_t before = 0;  // index of the command that follows
  double cycles = 0;  // estimate: from passing the point before, or from the start, until all before this one is done
};

struct Yields {
  std::vector<YieldPoint> points;  // ascending
  double tail = 0;                 // cycles from the last point, or the start, to the end of the stream
};

// Points that a stream passes at most `segment_cycles` cycles apart, as far as single commands allow it: of the later
// half of each segment the one with the fewest live bytes, of equals the latest. A job that passes a point has commands
// in its queues that must end before it can stop at the next, so a segment's cycles count from when the sequencer
// leaves the point, not from when the queues are through. `live`: bytes before each command. Every loop has a point
// behind the label that it begins with, so that each iteration passes one, whatever it does. Cycles count along the
// stream: a branch forward goes past the points of what it skips.
[[nodiscard]] Yields choose_yields(const std::vector<Command>& commands, const Timeline& timeline,
                                   const std::vector<int64_t>& live, uint32_t segment_cycles);
// A stream that cannot be stopped.
[[nodiscard]] Yields no_yields(const Timeline& timeline);

}  // namespace npu::compiler::backend
