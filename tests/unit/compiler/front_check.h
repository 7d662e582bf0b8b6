// SPDX-License-Identifier: Apache-2.0
// Compares the steps that the front end makes of a graph with the reference, on random inputs.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/graph/builder.h"
#include "driver/graph/graph.h"
#include "driver/graph/value.h"
#include "tests/unit/compiler/front_run.h"

namespace npu::compiler::testing {

// Elements between -range and range, or of the type's whole range when that is smaller; corners are frequent.
[[nodiscard]] graph::Value random_value(graph::DType type, const graph::Shape& shape, std::mt19937& random,
                                        int64_t range = 1000);

// Validates the graph, lowers it and runs it `invocations` times next to the reference, with the state of both carried
// on. Expects equal outputs. Invocations that the reference calls unpredictable end the comparison. Returns how many
// were compared.
int compare_with_reference(const graph::Graph& graph, int invocations = 3, uint32_t seed = 1,
                           const contract::Capabilities& machine = front_machine());

// The lowered module of a legal graph, for looking at its steps.
[[nodiscard]] Module lowered(const graph::Graph& graph, const contract::Capabilities& machine = front_machine());
template <typename Work>
[[nodiscard]] std::vector<const Work*> steps_of(const Module& module) {
  std::vector<const Work*> result;
  for (const Step& step : module.steps) {
    if (const auto* work = std::get_if<Work>(&step.work)) result.push_back(work);
  }
  return result;
}

}  // namespace npu::compiler::testing
