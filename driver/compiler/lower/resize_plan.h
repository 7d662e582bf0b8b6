// SPDX-License-Identifier: Apache-2.0
// In which passes a RESIZE runs, and how each covers its image, by what it costs.
#pragma once

#include <vector>

#include "driver/compiler/lower/resize_axis.h"
#include "driver/compiler/lower/resize_program.h"
#include "driver/compiler/lower/views.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// One direction of a pass.
struct ResizeDirection {
  ResizeAxis axis;
  std::vector<ResizeSegment> cover;

  [[nodiscard]] ResizeBlend blend(const ResizeSegment& segment) const {
    return {segment.kind, axis.unit, segment.weight};
  }
};

// A step for each segment in y times each in x.
struct ResizePass {
  ResizeDirection y, x;
  contract::Element type = contract::Element::kI8;  // of the pass's result
  ResizeSums sums = ResizeSums::kNarrow;
  const EwiseProgram* tail = nullptr;
};

struct ResizePlan {
  std::vector<ResizePass> passes;  // one or two
  double cycles = 0;               // estimate
};

struct ResizeRequest {
  const ResizeCovers& x_covers;  // of the axis x: stripes of an image share it
  contract::Element from, to;
  Dims dims;  // of the result, [N, H, W, C]
  ResizeSums sums = ResizeSums::kNarrow;
  const EwiseProgram* tail = nullptr;
};

// Of the result of a first pass whose weights have this sum.
[[nodiscard]] contract::Element type_between(contract::Element from, int64_t unit);

// The cheapest of: both directions at once; x first; y first.
[[nodiscard]] ResizePlan plan_resize(const ResizeAxis& y, const ResizeAxis& x, const ResizeRequest& request,
                                     const contract::Capabilities& machine);

}  // namespace npu::compiler
