// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/exposure.h"

#include <algorithm>
#include <limits>

namespace npu::compiler::backend {

std::vector<double> observe_exposure(const std::vector<Command>& commands, const Timeline& timeline,
                                     std::vector<double> before) {
  std::vector<double> ready(before.size(), std::numeric_limits<double>::infinity());
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].part != Command::Part::kCompute) continue;
    double& first = ready[commands[i].step];
    first = std::min(first, timeline.times[i].ready);
  }
  std::vector<double> loading(before.size()), exposed(before.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    if (!loads_constants(commands[i])) continue;
    const size_t step = commands[i].step;
    const Estimator::Times& times = timeline.times[i];
    loading[step] += times.done - times.started;
    exposed[step] += std::max(0.0, times.done - std::max(times.started, ready[step]));
  }
  for (size_t s = 0; s < before.size(); ++s) {
    if (loading[s] > 0) before[s] = exposed[s] / loading[s];
  }
  return before;
}

}  // namespace npu::compiler::backend
