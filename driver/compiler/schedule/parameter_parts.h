// SPDX-License-Identifier: Apache-2.0
// Parameter blocks of the parts that a step is split into, made of the step's own block: at compile time where that is
// a constant, else by DMA.
#pragma once

#include "driver/compiler/schedule/step_parts.h"

namespace npu::compiler::backend {

// The block with the entries of `channels` alone.
[[nodiscard]] View part_of_block(const View& block, Range channels, StepParts& parts);

// Of blocks that are made at run time: for sums that are to be added to others that have the bias, and for a RESCALE of
// sums, which no zero point is taken off any more.
[[nodiscard]] View block_without_bias(const View& block, StepParts& parts);
[[nodiscard]] View block_of_sums(const View& block, StepParts& parts);

// The block of `params`, but with this field of the header from another block.
[[nodiscard]] View block_with(const Params& params, int32_t contract::ParameterHeader::*field, const View& from,
                              StepParts& parts);

}  // namespace npu::compiler::backend
