// SPDX-License-Identifier: Apache-2.0
// In which order the networks of `npu stream` get their frames. The order is known before anything runs, so that the
// device and the software reference follow the same one.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cli/stream_networks.h"

namespace npu::cli {

// Jobs that are started together. A network whose frame before has not ended waits for its end, those of one context
// run in this order.
struct Round {
  std::vector<size_t> streams;  // an index for each frame, in the order in which the frames are started
  bool power_down = false;      // afterwards engines sleep and the persistent SRAM goes into retention
};
using Schedule = std::vector<Round>;

struct ScheduleChoices {
  size_t contexts = 0;
  uint64_t seed = 1;
  bool retention = false;  // power the device down after rounds, half of the time
};

// All frames of all streams; Error(bad_option) for more than kMostFrames. In each round a random choice of the contexts
// that have frames left, in random order, gets a turn: `per_round` frames of each of its networks, of one network after
// the other, as long as there are some. The turns of several contexts are started frame by frame in turn. What is
// random follows from the seed alone.
[[nodiscard]] Schedule make_schedule(const std::vector<Stream>& streams, const ScheduleChoices& choices);

// What is left of a schedule for one context that has the device to itself, without power-downs.
[[nodiscard]] Schedule schedule_of(const Schedule& all, const std::vector<Stream>& streams, size_t context);

}  // namespace npu::cli
