// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower.h"

#include <utility>

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/grouping.h"
#include "driver/compiler/lower/refusals.h"
#include "hw/contract/error.h"

namespace npu::compiler {

Module lower(const graph::Graph& graph, const contract::Capabilities& capabilities, uint32_t most_iterations,
             StepDimensions dimensions) {
  const Facts facts(graph, capabilities);
  require_support(facts);
  const Grouping grouping = make_grouping(facts, capabilities);
  Emission emission;
  emission.most_iterations = most_iterations;
  emission.merges = dimensions == StepDimensions::kFewest;
  Emitter(facts, grouping, capabilities, emission).run();
  Module module = std::move(emission.module);
  if (module.layers.size() > UINT16_MAX) {
    throw Error(contract::ErrorCode::kArgumentUnsupported,
                "the network has " + std::to_string(module.layers.size()) +
                    " layers after fusion and a program holds 65535; split it into several networks.");
  }
  return module;
}

}  // namespace npu::compiler
