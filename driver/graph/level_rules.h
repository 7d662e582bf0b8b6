// SPDX-License-Identifier: Apache-2.0
// The bounds of a level where sizes stay open. Private to this folder.
#pragma once

#include "driver/graph/dim.h"
#include "driver/graph/level.h"

namespace npu::graph {

class OperatorView;

// What a level bounds of an operator, and of a tensor: where that depends on sizes that stay open, it becomes a
// condition on them. Level::kNone bounds nothing here. Throws Error(require_failed) where no sizes are within the
// level, and NotExpressible.
void require_level(const OperatorView& op, Level level);
void require_level(const OperatorView& op, DType type, const Dims& sizes, Level level);

}  // namespace npu::graph
