// SPDX-License-Identifier: Apache-2.0
// Data-layout operators. RESHAPE, IDENTITY, SLICE, TRANSPOSE and REVERSE are views; CONCAT, PAD and TILE put tensors
// together by copies, of which those fall away whose source was made in place.
#include "driver/compiler/lower/layout.h"

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"
#include "driver/compiler/lower/operands.h"

namespace npu::compiler {
namespace {

std::optional<Refusal> check_layout(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_types(facts, op)) return refusal;
  return refuse_run_time_shapes(facts, op);
}

void emit_concat(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  const std::vector<View> parts = concat_parts(emitter.facts(), op, emitter.place(op.outputs[0]));
  for (size_t i = 0; i < parts.size(); ++i) {
    const View from = emitter.read(op.inputs[i]);
    if (!same_place(from, parts[i])) emitter.add_copy(from, parts[i]);
  }
}

Dims pad_start(const Facts& facts, const graph::Operator& op) {
  const Dims padding = *facts.shape_operand(op, 0);
  Dims start;
  for (size_t d = 0; d < padding.size(); d += 2) start.push_back(padding[d]);
  return start;
}

void emit_pad(Emitter& emitter, const Group& group) {
  const Facts& facts = emitter.facts();
  const graph::Operator& op = facts.op(group.ops[0]);
  const View whole = emitter.place(op.outputs[0]);
  const graph::TensorId pad_const = data_operand_id(facts.block(), op, 1).value();
  fill_shell(emitter, whole, pad_start(facts, op), facts.tensor(op.inputs[0]).shape, element_value(emitter, pad_const));
  const View from = emitter.read(op.inputs[0]), interior = pad_interior(facts, op, whole);
  if (!same_place(from, interior)) emitter.add_copy(from, interior);
}

// Sees the result as [copies, size] in each dimension; the source repeats along `copies`.
void emit_tile(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  const View from = emitter.read(op.inputs[0]), to = emitter.place(op.outputs[0]);
  View src{from.buffer, from.offset, from.type, {}, {}}, dst{to.buffer, to.offset, to.type, {}, {}};
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const int64_t copies = to.dims[d] / from.dims[d];
    src.dims.insert(src.dims.end(), {copies, from.dims[d]});
    src.strides.insert(src.strides.end(), {0, from.strides[d]});
    dst.strides.insert(dst.strides.end(), {to.strides[d] * from.dims[d], to.strides[d]});
  }
  dst.dims = src.dims;
  emitter.add_copy(std::move(src), std::move(dst));
}

}  // namespace

std::vector<View> concat_parts(const Facts& facts, const graph::Operator& op, const View& whole) {
  std::vector<View> parts;
  Dims start(whole.dims.size());
  const auto axis = static_cast<size_t>(op.attributes.axis);
  for (graph::TensorId id : op.inputs) {
    const graph::Shape& shape = facts.tensor(id).shape;
    parts.push_back(slice(whole, start, shape));
    start[axis] += shape[axis];
  }
  return parts;
}

View pad_interior(const Facts& facts, const graph::Operator& op, const View& whole) {
  return slice(whole, pad_start(facts, op), facts.tensor(op.inputs[0]).shape);
}

ElementValue element_value(Emitter& emitter, graph::TensorId id) {
  if (const Constant* constant = emitter.facts().constant(id)) return static_cast<uint64_t>(constant->at(0));
  return emitter.read(id);
}

void fill_shell(Emitter& emitter, const View& whole, const Dims& start, const Dims& size, const ElementValue& element) {
  const auto fill = [&](View box) {
    if (const auto* known = std::get_if<uint64_t>(&element)) return emitter.add_fill(std::move(box), *known);
    View repeated = std::get<View>(element);
    repeated.dims = box.dims;
    repeated.strides.assign(box.dims.size(), 0);
    emitter.add_copy(std::move(repeated), std::move(box));
  };
  Dims box_start(whole.dims.size()), box_size = whole.dims;
  for (size_t d = 0; d < whole.dims.size(); ++d) {
    const int64_t after = start[d] + size[d];
    box_start[d] = 0;
    box_size[d] = start[d];
    if (box_size[d] > 0) fill(slice(whole, box_start, box_size));
    box_start[d] = after;
    box_size[d] = whole.dims[d] - after;
    if (box_size[d] > 0) fill(slice(whole, box_start, box_size));
    box_start[d] = start[d];
    box_size[d] = size[d];
  }
}

const Family kViewFamily = {Kind::kView, std::nullopt, check_layout, nullptr, nullptr};
const Family kConcatFamily = {Kind::kStep, contract::Engine::kDma, check_layout, nullptr, emit_concat};
const Family kPadFamily = {Kind::kStep, contract::Engine::kDma, check_layout, nullptr, emit_pad};
const Family kTileFamily = {Kind::kStep, contract::Engine::kDma, check_layout, nullptr, emit_tile};

}  // namespace npu::compiler
