// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/estimate.h"

namespace npu::compiler::backend {

Timeline estimate_timeline(const std::vector<Command>& commands, std::span<const Variable> variables,
                           const contract::Capabilities& capabilities) {
  Estimator estimator(commands.size(), variables, capabilities);
  Timeline timeline;
  timeline.issued.reserve(commands.size());
  timeline.completed.reserve(commands.size());
  timeline.times.reserve(commands.size());
  for (const Command& command : commands) {
    timeline.times.push_back(estimator.issue(command));
    timeline.issued.push_back(estimator.clock());
    timeline.completed.push_back(estimator.end());
  }
  timeline.moving = estimator.moving();
  return timeline;
}

}  // namespace npu::compiler::backend
