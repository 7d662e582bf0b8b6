// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/variants.h"

#include <array>

#include "driver/compiler/schedule/dram.h"
#include "driver/compiler/schedule/estimate.h"
#include "driver/compiler/schedule/order.h"
#include "driver/compiler/schedule/tokens.h"

namespace npu::compiler::backend {
namespace {

// Whether loading of constants can hide behind earlier work depends on all layers at once, so several answers are
// tried; so does whether commands or the ends of short runs are what keeps DRAM busy.
constexpr std::array<Tuning, 8> kTunings = {{{0.3, 512, true},
                                             {0.05, 512, true},
                                             {0.1, 2048, true},
                                             {1.0, 2048, true},
                                             {0.3, 512, false},
                                             {0.05, 512, false},
                                             {0.1, 2048, false},
                                             {1.0, 2048, false}}};
constexpr size_t kManyCommands = 20000;  // then the first answer must do

Schedule make_schedule(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
                       Layout layout, bool contents) {
  Schedule schedule;
  schedule.layout = std::move(layout);
  schedule.stream = emit(module, schedule.layout, capabilities, contents);
  std::vector<Command>& commands = schedule.stream.commands;
  std::vector<std::vector<ByteSet>>& footprints = schedule.footprints;
  footprints.reserve(commands.size());
  for (const Command& command : commands) footprints.push_back(footprint(command.body));
  if (options.prefetch) hoist_loads(commands, footprints, capabilities.fifo_depth);
  set_tokens(commands, footprints);
  schedule.cycles = estimate_cycles(commands, module.variables, capabilities);
  return schedule;
}

}  // namespace

Schedule best_schedule(const Module& module, const contract::Capabilities& capabilities,
                       const ScheduleOptions& options) {
  Schedule best;
  bool first = true;
  for (const Tuning& tuning : kTunings) {
    Layout layout = make_layout(module, capabilities, options, tuning);
    check_layout(layout);
    Schedule next = make_schedule(module, capabilities, options, std::move(layout), false);
    if (first || next.cycles < best.cycles) best = std::move(next);
    first = false;
    if (!options.prefetch || best.stream.commands.size() > kManyCommands) break;
  }
  Layout layout = std::move(best.layout);
  best = {};  // frees the stream
  return make_schedule(module, capabilities, options, std::move(layout), true);
}

}  // namespace npu::compiler::backend
