// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/compile.h"

#include "driver/compiler/lower.h"

namespace npu::compiler {

Program compile(const graph::Graph& graph, const contract::Capabilities& capabilities, const Options& options) {
  return schedule(lower(graph, capabilities), capabilities, options.schedule);
}

}  // namespace npu::compiler
