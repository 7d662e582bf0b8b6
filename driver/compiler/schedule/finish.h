// SPDX-License-Identifier: Apache-2.0
// From the schedule that was chosen to the program. Private to the back end.
#pragma once

#include <cstddef>
#include <vector>

#include "driver/compiler/explanation.h"
#include "driver/compiler/program.h"
#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/choice.h"
#include "driver/compiler/schedule/sizes.h"

namespace npu::compiler::backend {

// What a program for several sizes has beside that for the largest.
struct OtherSizes {
  std::vector<SizedWords> words;  // one a size
  std::vector<size_t> order;      // of the stream's commands, in that of emit()
};

[[nodiscard]] Program finish(Prepared&& prepared, Choice&& choice, const OtherSizes& others,
                             const contract::Capabilities& capabilities, const ScheduleOptions& options,
                             Explanation* explanation);

// The estimate of the program, and the layers' parts of it: each is charged with the time by which its commands move
// the end. They add up. Both begin at 0.
void spread_estimate(const std::vector<Command>& commands, const Timeline& timeline, Program& program);

}  // namespace npu::compiler::backend
