// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/convolution.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <utility>

#include "driver/compiler/lower/ewise_rules.h"
#include "driver/graph/element.h"
#include "hw/contract/elements.h"

namespace npu::compiler {

using graph::Op;

namespace {

// A view of any rank as parts of rank 4 [N, H, W, C] with at most `most` rows and columns.
void for_each_image(View view, int64_t most, const std::function<void(const View&)>& visit) {
  std::vector<int64_t>* const strides[] = {&view.strides};
  coalesce(view.dims, strides, true);
  while (view.dims.size() < 4) {
    view.dims.insert(view.dims.begin(), 1);
    view.strides.insert(view.strides.begin(), 0);
  }
  const auto cut = [&](size_t dim, int64_t size) {
    Dims start(view.dims.size()), part = view.dims;
    for (; start[dim] < view.dims[dim]; start[dim] += size) {
      part[dim] = std::min(size, view.dims[dim] - start[dim]);
      for_each_image(slice(view, start, part), most, visit);
    }
  };
  if (view.dims.size() > 4) return cut(0, 1);
  if (view.dims[1] > most) return cut(1, most);
  if (view.dims[2] > most) return cut(2, most);
  visit(view);
}

}  // namespace

std::span<const int64_t> window_of(const Facts& facts, const graph::Operator& op) {
  const auto dims = [&] { return std::span<const int64_t>(facts.tensor(op.inputs[1]).shape); };
  switch (op.op) {
    case Op::kConv2d:
    case Op::kTransposeConv2d:  // [OC,KH,KW,IC]
      return dims().subspan(1, 2);
    case Op::kConv3d:  // [OC,KD,KH,KW,IC]
      return dims().subspan(1, 3);
    case Op::kDepthwiseConv2d:  // [KH,KW,C,M]
      return dims().first(2);
    default:
      return {};
  }
}

std::optional<Refusal> check_convolution(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_types(facts, op)) return refusal;
  if (auto refusal = refuse_mxu_type(facts, op)) return refusal;
  if (facts.constant(op.inputs[2]) == nullptr) {
    // The VPU puts a bias that comes at run time into the parameter block.
    if (auto refusal = refuse_vpu_type(facts, op)) return refusal;
  }
  return refuse_window(op, window_of(facts, op));
}

bool has_dense_rows(const View& weights) {
  const Dims start(weights.dims.size(), 0);
  Dims row = weights.dims;
  row[0] = 1;
  return weights.strides[0] > 0 && is_dense(slice(weights, start, row));
}

namespace {

using Limits = std::pair<int64_t, int64_t>;

// Of FP32 patterns: infinities where there is no CLAMP. Two CLAMPs in a row: the second one limits the first one's.
Limits float_limits(const OutputStage& stage, graph::DType type) {
  const auto number = [](int64_t pattern) { return std::bit_cast<float>(static_cast<int32_t>(pattern)); };
  const auto pattern = [](float value) { return int64_t{std::bit_cast<int32_t>(value)}; };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float low = -kInfinity, high = kInfinity;
  for (const graph::Operator* clamp : stage.clamps) {
    const auto [clamp_low, clamp_high] = clamp_range(*clamp, type);
    low = std::min(std::max(low, number(clamp_low)), number(clamp_high));
    high = std::min(std::max(high, number(clamp_low)), number(clamp_high));
  }
  return {pattern(low), pattern(high)};
}

void set_limits(contract::ParameterHeader& header, const Limits& limits) {
  header.clamp_min = static_cast<int32_t>(limits.first);
  header.clamp_max = static_cast<int32_t>(limits.second);
}

}  // namespace

OutputStage stage_of(const Facts& facts, const Group& group) {
  OutputStage stage;
  for (size_t index : group.ops) {
    const graph::Operator& op = facts.op(index);
    if (op.op == Op::kRescale && stage.rescale == nullptr) stage.rescale = &op;
    if (op.op == Op::kAdd) {
      stage.residual = stage.rescale != nullptr ? residual_add(facts, group.ops[0], group.ops[1])
                                                : float_residual_add(facts, group.ops[0]);
    }
    if (op.op == Op::kClamp) stage.clamps.push_back(&op);
    stage.result = op.outputs[0];
  }
  return stage;
}

void fill_stage(const Facts& facts, const OutputStage& stage, std::optional<graph::TensorId> bias, int64_t channels,
                MxuStep& step, BlockParams& params) {
  std::vector<contract::ParameterEntry>& entries = params.known.entries;
  entries.resize(static_cast<size_t>(channels));
  const Constant* known_bias = bias ? facts.constant(*bias) : nullptr;
  if (bias && known_bias == nullptr) params.bias = RunTimeField{*bias};
  for (int64_t c = 0; c < channels && known_bias != nullptr; ++c) {
    entries[static_cast<size_t>(c)].bias = known_bias->in_register(known_bias->elements() == 1 ? 0 : c);
  }
  if (const auto& add = stage.residual) step.residual = {{}, add->scales, add->value_left, add->residual_left};
  const graph::DType type = facts.tensor(stage.result).type;
  if (contract::is_float(*element_of(type))) {
    step.rescale = contract::Rescale::kFloating;
    set_limits(params.known.header, float_limits(stage, type));
    return;
  }
  if (stage.rescale == nullptr) return;
  step.rescale = rescale_kind(*stage.rescale);
  step.output_unsigned = stage.rescale->attributes.output_unsigned;
  // The zero point of sums is 0 by the operator's conditions.
  const BlockParams scale = rescale_params(facts, *stage.rescale);
  params.multiplier = scale.multiplier;
  params.shift = scale.shift;
  params.output_zp = scale.output_zp;
  for (size_t c = 0; c < entries.size(); ++c) {
    const contract::ParameterEntry& from = scale.known.entries[scale.known.entries.size() == 1 ? 0 : c];
    entries[c].multiplier = from.multiplier;
    entries[c].shift = from.shift;
  }
  auto [low, high] = element_range(*element_of(type));
  if (step.output_unsigned) {
    high -= low;
    low = 0;
  }
  for (const graph::Operator* clamp : stage.clamps) {
    // Two CLAMPs in a row: the second one limits the first one's limits.
    const auto [clamp_low, clamp_high] = clamp_range(*clamp, type);
    low = std::clamp(low, clamp_low, clamp_high);
    high = std::clamp(high, clamp_low, clamp_high);
  }
  contract::ParameterHeader& header = params.known.header;
  if (stage.residual) {
    const int32_t input_zp = header.input_zp, weight_zp = header.weight_zp;
    header = stage.residual->header;
    header.input_zp = input_zp;
    header.weight_zp = weight_zp;
  } else {
    header.output_zp = scale.known.header.output_zp;
  }
  set_limits(header, {low, high});
}

MxuStep convolution_step(Emitter& emitter, const graph::Operator& op, const OutputStage& stage, int64_t channels) {
  const Facts& facts = emitter.facts();
  MxuStep step{};
  step.mode = contract::MxuMode::kConv;
  step.src.type = *element_of(facts.tensor(op.inputs[0]).type);
  step.weights.type = *element_of(facts.tensor(op.inputs[1]).type);
  BlockParams params;
  set_zero_point(facts, op.inputs[3], false, params.known.header.input_zp, params.input_zp);
  set_zero_point(facts, op.inputs[4], false, params.known.header.weight_zp, params.weight_zp);
  fill_stage(facts, stage, op.inputs[2], channels, step, params);
  set_params(emitter, std::move(params), step);
  return step;
}

void add_bias_only(Emitter& emitter, const MxuStep& step, View region) {
  // One row above the first window, so that none reads the only pixel that there is.
  constexpr int64_t kAbove = 1;
  for_each_image(std::move(region), kMostPadding - kAbove, [&](const View& image) {
    MxuStep part = step;
    part.dst = image;
    part.src = emitter.zeros(step.src.type, {1, 1, 1, 1});
    part.src.dims[0] = image.dims[0];
    part.src.strides[0] = 0;
    part.weights = emitter.zeros(step.weights.type, {image.dims[3], 1, 1, 1});
    part.kernel_h = part.kernel_w = part.stride_y = part.stride_x = part.dilation_y = part.dilation_x = 1;
    part.pad_top = -kAbove;
    part.pad_left = 0;
    emitter.add(std::move(part));
  });
}

}  // namespace npu::compiler
