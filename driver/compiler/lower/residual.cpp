// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/residual.h"

#include <algorithm>
#include <bit>

#include "driver/compiler/lower/convolution.h"
#include "driver/compiler/lower/parameters.h"
#include "driver/graph/element.h"
#include "hw/contract/elements.h"

namespace npu::compiler {
namespace {

using contract::Rescale;
using contract::Residual;
using graph::DType;
using graph::Op;
using graph::TensorId;

// An int8 element less its zero point, shifted so far, stays within 32 bits.
constexpr int kMostLeft = 22;
// The inputs and weights of one output element take at most this part of the scratchpad: no step with a residual is
// split along the reduction.
constexpr int64_t kWindowShare = 4;

// The multiplication by 1.
constexpr int32_t kOne = 1 << 30;
constexpr uint8_t kOneShift = 30;

struct Scaling {
  int32_t zp = 0, output_zp = 0, multiplier = 0, shift = 0;
};

// One side of the addition: its RESCALEs, in order.
struct Side {
  TensorId from = 0;
  std::vector<size_t> ops;
  int32_t zp = 0;
  uint32_t left = 0;
  std::optional<Scaling> scale;
};

std::optional<Use> only_use(const Facts& facts, TensorId id) {
  if (facts.is_output(id) || facts.uses(id).size() != 1) return std::nullopt;
  return facts.uses(id)[0];
}

// The only use of a tensor that is no other name or shape of it.
std::optional<Use> use_behind_views(const Facts& facts, TensorId id) {
  auto use = only_use(facts, id);
  while (use && keeps_elements(facts.op(use->op).op)) use = only_use(facts, facts.op(use->op).outputs[0]);
  return use;
}

// A signed RESCALE of a whole tensor with known parameters that rounds as `kind` does. Both kinds of rounding are the
// same up to a shift of 31.
std::optional<Scaling> scaling(const Facts& facts, size_t index, DType from, DType to, Rescale kind) {
  const graph::Operator& op = facts.op(index);
  if (op.op != Op::kRescale || facts.tensor(op.inputs[0]).type != from || facts.result(op).type != to) {
    return std::nullopt;
  }
  const graph::Attributes& how = op.attributes;
  if (!how.scale32 || how.input_unsigned || how.output_unsigned) return std::nullopt;
  const BlockParams params = rescale_params(facts, op);
  if (params.at_run_time() || params.known.entries.size() != 1) return std::nullopt;
  const contract::ParameterEntry& entry = params.known.entries[0];
  if (rescale_kind(op) != kind && entry.shift > 31) return std::nullopt;
  return Scaling{params.known.header.input_zp, params.known.header.output_zp, entry.multiplier, entry.shift};
}

// Whether the scale is a shift to the left, by how many bits.
std::optional<uint32_t> left_bits(const Scaling& scale) {
  if (scale.multiplier <= 0 || !std::has_single_bit(static_cast<uint32_t>(scale.multiplier))) return std::nullopt;
  const int bits = std::countr_zero(static_cast<uint32_t>(scale.multiplier)) - scale.shift;
  if (bits < 0 || bits > kMostLeft) return std::nullopt;
  return static_cast<uint32_t>(bits);
}

// Of RESCALEs from int8 to int32, and maybe from int32 to int32.
bool read_scales(const Facts& facts, Rescale kind, Side& side) {
  const auto first = scaling(facts, side.ops[0], DType::kInt8, DType::kInt32, kind);
  if (!first || first->output_zp != 0) return false;
  side.from = facts.op(side.ops[0]).inputs[0];
  side.zp = first->zp;
  const auto left = left_bits(*first);
  if (left) side.left = *left;
  if (!left) side.scale = *first;
  if (side.ops.size() == 1) return true;
  const auto second = scaling(facts, side.ops[1], DType::kInt32, DType::kInt32, kind);
  if (!left || !second || second->zp != 0 || second->output_zp != 0) return false;
  side.scale = second;
  return true;
}

// From int8 `from` to the ADD; `at` is the ADD's operand then.
std::optional<Side> side_below(const Facts& facts, TensorId from, Rescale kind, Use& at) {
  Side side;
  for (auto use = only_use(facts, from); use; use = only_use(facts, facts.op(use->op).outputs[0])) {
    at = *use;
    const Op op = facts.op(use->op).op;
    if (op == Op::kAdd) {
      if (side.ops.empty() || !read_scales(facts, kind, side)) return std::nullopt;
      return side;
    }
    if (op != Op::kRescale || use->operand != 0 || side.ops.size() == 2) return std::nullopt;
    side.ops.push_back(use->op);
  }
  return std::nullopt;
}

// From the ADD's operand up to int8.
std::optional<Side> side_above(const Facts& facts, TensorId to, Rescale kind) {
  Side side;
  for (TensorId id = to; side.ops.size() < 2; id = facts.op(side.ops[0]).inputs[0]) {
    const auto producer = facts.producer(id);
    if (!producer || facts.op(*producer).op != Op::kRescale || !only_use(facts, id)) return std::nullopt;
    side.ops.insert(side.ops.begin(), *producer);
    if (facts.tensor(facts.op(*producer).inputs[0]).type == DType::kInt8) break;
  }
  if (!read_scales(facts, kind, side)) return std::nullopt;
  return side;
}

bool is_convolution(const graph::Operator& op) { return op.op == Op::kConv2d || op.op == Op::kDepthwiseConv2d; }

// Whether an operator's results of type `type` may have a residual: those of a convolution or a matrix product whose
// parameters are known, and whose smallest tile is small.
bool may_add(const Facts& facts, const graph::Operator& op, DType type) {
  if (facts.machine().mxu_residual == 0 || !(is_convolution(op) || op.op == Op::kMatMul)) return false;
  const auto known = [&](TensorId id) { return facts.constant(id) != nullptr; };
  if (!std::all_of(op.inputs.begin() + 2, op.inputs.end(), known)) return false;
  constexpr int64_t kPosition[] = {1, 1};
  const std::span<const int64_t> window = is_convolution(op) ? window_of(facts, op) : kPosition;
  const auto reached = [&](size_t d) { return window[d] == 1 ? 1 : (window[d] - 1) * op.attributes.dilation[d] + 1; };
  const int64_t reach = reached(0) * reached(1);
  // The smallest tile: an output channel, or those of an input channel, each with its parameters, a result and an
  // operand.
  const bool depthwise = op.op == Op::kDepthwiseConv2d;
  const int64_t channels = depthwise ? 1 : facts.tensor(op.inputs[0]).shape.back();
  const int64_t columns = depthwise ? facts.tensor(op.inputs[1]).shape[3] : 1;
  const auto element = [](DType of) { return int64_t{contract::element_bytes(*element_of(of))}; };
  const int64_t source = element(facts.tensor(op.inputs[0]).type), weight = element(facts.tensor(op.inputs[1]).type);
  const int64_t rest = contract::ParameterEntry::kBytes + 2 * element(type);
  const int64_t bytes = reach * channels * source + columns * (window[0] * window[1] * channels * weight + rest);
  return bytes <= int64_t{facts.machine().spm_bytes} / kWindowShare;
}

bool may_have_residual(const Facts& facts, const graph::Operator& op, const graph::Operator& rescale) {
  if (!is_convolution(op)) return false;
  if (facts.tensor(op.inputs[0]).type != DType::kInt8 || facts.result(rescale).type != DType::kInt8) return false;
  if (rescale.attributes.output_unsigned || facts.result(rescale).shape != facts.result(op).shape) return false;
  return may_add(facts, op, DType::kInt8) && !rescale_params(facts, rescale).at_run_time();
}

// Whether an ADD adds the operand, element by element, to values of a shape, and the operand comes at run time.
bool adds_all(const Facts& facts, const graph::Operator& add, TensorId operand, const graph::Shape& shape) {
  return facts.constant(operand) == nullptr && facts.tensor(operand).shape == shape && facts.result(add).shape == shape;
}

}  // namespace

std::optional<ResidualAdd> residual_add(const Facts& facts, size_t op, size_t rescale) {
  const graph::Operator& own = facts.op(rescale);
  if (!may_have_residual(facts, facts.op(op), own)) return std::nullopt;
  const Rescale kind = rescale_kind(own);
  Use at;
  const auto value = side_below(facts, own.outputs[0], kind, at);
  if (!value) return std::nullopt;
  const graph::Operator& add = facts.op(at.op);
  const auto operand = side_above(facts, add.inputs[1 - at.operand], kind);
  if (!operand || (value->scale && operand->scale)) return std::nullopt;
  if (!adds_all(facts, add, operand->from, facts.result(own).shape)) return std::nullopt;
  const auto last = only_use(facts, add.outputs[0]);
  if (!last || last->operand != 0) return std::nullopt;
  const auto sum = scaling(facts, last->op, DType::kInt32, DType::kInt8, kind);
  if (!sum || sum->zp != 0) return std::nullopt;

  ResidualAdd out;
  out.ops = value->ops;
  out.ops.insert(out.ops.end(), operand->ops.begin(), operand->ops.end());
  out.ops.insert(out.ops.end(), {at.op, last->op});
  out.operand = operand->from;
  out.scales = value->scale ? Residual::kScaleValue : Residual::kScaleOperand;
  out.value_left = value->left;
  out.residual_left = operand->left;
  const auto& scale = value->scale ? value->scale : operand->scale;
  out.header.residual_multiplier = scale ? scale->multiplier : kOne;
  out.header.residual_shift = scale ? static_cast<uint8_t>(scale->shift) : kOneShift;
  out.header.sum_multiplier = sum->multiplier;
  out.header.sum_shift = static_cast<uint8_t>(sum->shift);
  out.header.value_zp = static_cast<int8_t>(value->zp);
  out.header.residual_zp = static_cast<int8_t>(operand->zp);
  out.header.output_zp = sum->output_zp;
  // The value's own zero point is taken off again as it was added.
  if (rescale_params(facts, own).known.header.output_zp != value->zp) return std::nullopt;
  return out;
}

std::optional<ResidualAdd> float_residual_add(const Facts& facts, size_t op) {
  const graph::Operator& own = facts.op(op);
  const DType type = facts.result(own).type;
  if (!contract::is_float(*element_of(type)) || !may_add(facts, own, type)) return std::nullopt;
  const auto use = use_behind_views(facts, own.outputs[0]);
  if (!use || facts.op(use->op).op != Op::kAdd) return std::nullopt;
  const graph::Operator& add = facts.op(use->op);
  ResidualAdd out;
  out.ops = {use->op};
  out.operand = add.inputs[1 - use->operand];
  out.scales = Residual::kFloating;
  if (!adds_all(facts, add, out.operand, facts.tensor(add.inputs[use->operand]).shape)) return std::nullopt;
  return out;
}

}  // namespace npu::compiler
