// SPDX-License-Identifier: Apache-2.0
// Several steps as one: each tile is a stripe of rows of the last step's result, and the results in between exist only
// as the few rows that the next step needs. Saves the way to DRAM and back for results that are larger than the
// scratchpad.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "driver/compiler/schedule/tiled_step.h"

namespace npu::compiler::backend {

// Whether `next` can take over the result of `step` stripe by stripe: one image, whole rows, a dense buffer that
// nothing else touches (the caller knows that).
[[nodiscard]] bool can_chain(const TiledStep& step, const TiledStep& next, int64_t buffer_bytes);

// Steps that follow each other, each with can_chain to the next. They must outlive the result. bytes[i]: size of the
// buffer between steps i and i + 1.
[[nodiscard]] std::unique_ptr<TiledStep> make_chain(std::vector<const TiledStep*> steps, std::vector<int64_t> bytes);

}  // namespace npu::compiler::backend
