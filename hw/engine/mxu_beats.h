// SPDX-License-Identifier: Apache-2.0
// The memory traffic of an MXU tile.
#pragma once

#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"
#include "hw/engine/mxu_tile.h"

namespace npu::engine {

// Beats of a tile, in step with timing::mxu_cycles. What is read how often follows from the dataflow:
//   weights      every weight once a block of pixels (they sit in the array while the block streams)
//   activations  convolution and matmul: every kernel position inside the input box once a pixel and group of channels,
//                mxu_depth bytes a cycle; depthwise: every element once a tile, a line buffer keeps the window
//   parameters   the header once, the entries once a block of pixels
//   results      once
// Blocks are lumped into at most kSegments segments, so a tile has a few dozen runs.
[[nodiscard]] std::vector<BeatRun> mxu_beats(const MxuTile& tile, const contract::Capabilities& caps);

}  // namespace npu::engine
