// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/compile.h"

#include <utility>

#include "driver/compiler/lower.h"
#include "driver/compiler/promote.h"

namespace npu::compiler {

Program compile_unchecked(const graph::Graph& graph, const contract::Capabilities& capabilities, const Options& options,
                          Explanation* explanation) {
  Module module = options.promote_to_fp32 ? lower(promote(graph, capabilities), capabilities, options.most_iterations)
                                          : lower(graph, capabilities, options.most_iterations);
  return schedule(std::move(module), capabilities, options.schedule, explanation);
}

Program compile(const graph::Graph& graph, const contract::Capabilities& capabilities, const Options& options,
                Explanation* explanation) {
  Program program;
  const Attempt attempt = [&](const contract::Capabilities& machine) {
    program = compile_unchecked(graph, machine, options, explanation);
    MachineNeeds needs;
    needs.add(program, machine, options.schedule.two_places, options.firmware);
    return needs;
  };
  require_room(capabilities, options.firmware, attempt, "it");
  return program;
}

}  // namespace npu::compiler
