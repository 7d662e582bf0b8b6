// SPDX-License-Identifier: Apache-2.0
// The front end of the compiler: a TOSA graph becomes steps on buffers.
#pragma once

#include "driver/compiler/ir.h"
#include "driver/graph/graph.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// Folds constants, drops operators whose results are not used, fuses operators into steps and makes views of
// data-layout operators. The graph must be valid. Throws Error: operator_unsupported, type_unsupported,
// argument_unsupported (naming operator, type, rule and way out), variable_redeclared.
[[nodiscard]] Module lower(const graph::Graph& graph, const contract::Capabilities& capabilities);

}  // namespace npu::compiler
