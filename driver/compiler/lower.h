// SPDX-License-Identifier: Apache-2.0
// The front end of the compiler: a TOSA graph becomes steps on buffers.
#pragma once

#include <cstdint>

#include "driver/compiler/ir.h"
#include "driver/graph/graph.h"
#include "driver/graph/level.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// Whether steps get the fewest dimensions that express them. Of a graph that is compiled for several sizes they keep
// those of the tensors, because which of them change with the size is still to be found.
enum class StepDimensions : uint8_t { kFewest, kOfTensors };

// Folds constants, drops operators whose results are not used, fuses operators into steps and makes views of
// data-layout operators. The graph must be valid. Throws Error: operator_unsupported, type_unsupported,
// argument_unsupported (naming operator, type, rule and way out), variable_redeclared. Blocks of control flow are put
// where they are named, each time; `most_iterations`: limit of each loop.
[[nodiscard]] Module lower(const graph::Graph& graph, const contract::Capabilities& capabilities,
                           uint32_t most_iterations = graph::kMostIterations,
                           StepDimensions dimensions = StepDimensions::kFewest);

}  // namespace npu::compiler
