// SPDX-License-Identifier: Apache-2.0
// What operators of the MXU share: their windows, their output stage, and results that no weight reaches.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/families.h"
#include "driver/compiler/lower/parameters.h"
#include "driver/compiler/lower/residual.h"

namespace npu::compiler {

// The dimensions of a convolution's weights that are its window: y and x; of CONV3D depth, y and x. None of other
// operators.
[[nodiscard]] std::span<const int64_t> window_of(const Facts& facts, const graph::Operator& op);

// Types and window of a convolution, whatever it walks.
[[nodiscard]] std::optional<Refusal> check_convolution(const Facts& facts, const graph::Operator& op);

// Whether weights [OC, ...] are rows of output channels, each of them dense.
[[nodiscard]] bool has_dense_rows(const View& weights);

// What a group does after the accumulation.
struct OutputStage {
  const graph::Operator* rescale = nullptr;
  std::optional<ResidualAdd> residual;
  std::vector<const graph::Operator*> clamps;
  graph::TensorId result = 0;
};
[[nodiscard]] OutputStage stage_of(const Facts& facts, const Group& group);

// Gives the step its output stage but for the residual's view, and the parameters bias, multiplier and shift of each of
// `channels`, and the zero point and limits of the output.
void fill_stage(const Facts& facts, const OutputStage& stage, std::optional<graph::TensorId> bias, int64_t channels,
                MxuStep& step, BlockParams& params);

// The step of a convolution without its views and window: zero points and output stage for `channels` output channels,
// and the types of source and weights. Adds the steps that make its parameter block where that comes at run time.
[[nodiscard]] MxuStep convolution_step(Emitter& emitter, const graph::Operator& op, const OutputStage& stage,
                                       int64_t channels);

// Adds steps that make `region` [..., OC] of the results of `step`, whose windows there lie in the padding as a whole:
// the bias, as the output stage has it. Windows and views of `step` do not count, the types of its views do.
void add_bias_only(Emitter& emitter, const MxuStep& step, View region);

}  // namespace npu::compiler
