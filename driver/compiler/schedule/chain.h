// SPDX-License-Identifier: Apache-2.0
// Several steps as one: each tile is a stripe of rows of an image of the last step's result, or several images, and the
// results in between exist only as the few rows that later steps of the chain need. Saves the way to DRAM and back for
// results that are larger than the scratchpad. A result may have several readers in the chain, as a residual block has
// them, and others behind it: then its rows are stored as well.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "driver/compiler/schedule/tiled_step.h"

namespace npu::compiler::backend {

// The result of a step of a chain that later ones of it read.
struct ChainLink {
  int64_t bytes = 0;    // size of its buffer
  bool stored = false;  // steps behind the chain read it, too
};

// Whether a step reads or writes the result of another one.
[[nodiscard]] bool touches_result(const TiledStep& step, const TiledStep& other);

// How each of these steps is cut into images and rows; empty where that does not go together. A step that knows no
// images, or more rows than can be told apart, takes as many as those next to it.
[[nodiscard]] std::vector<RowAxis> rows_of_chain(std::span<const TiledStep* const> steps);

struct ChainStep {
  const TiledStep& step;
  const RowAxis& rows;
};

// Whether `to` can take over the result of `from` stripe by stripe: image by image, whole rows, a dense buffer.
[[nodiscard]] bool can_chain(const ChainStep& from, const ChainStep& to, int64_t buffer_bytes);

// Steps that follow each other. They must outlive the result. links[i] is the result of step i, for all steps but the
// last one: one or more later steps touch it, and each that does has can_chain with step i.
[[nodiscard]] std::unique_ptr<TiledStep> make_chain(std::vector<const TiledStep*> steps,
                                                    const std::vector<ChainLink>& links);

}  // namespace npu::compiler::backend
