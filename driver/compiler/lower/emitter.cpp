// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/emitter.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>

#include "driver/compiler/lower/convolution.h"
#include "driver/compiler/lower/families.h"
#include "driver/graph/element.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"

namespace npu::compiler {

using graph::Op;
using graph::TensorId;

namespace {

// Whether an operator stands around others for the sake of their types: it is no reason for a layer's name.
bool adapts_values(Op op) { return op == Op::kRescale || op == Op::kClamp || op == Op::kCast || op == Op::kIdentity; }

}  // namespace

Emitter::Emitter(const Facts& facts, const Grouping& grouping, const contract::Capabilities& capabilities,
                 Emission& emission)
    : facts_(facts),
      grouping_(grouping),
      capabilities_(capabilities),
      emission_(emission),
      module_(emission.module),
      values_(facts.block().tensors.size()),
      wishes_(facts.block().tensors.size()) {}

void Emitter::run() {
  make_ports();
  declare_variables();
  std::vector<std::optional<View>> places;
  for (size_t i = 0; i < module_.outputs.size(); ++i) {
    const graph::Tensor& tensor = facts_.tensor(facts_.block().outputs[i]);
    places.emplace_back(dense_view(module_.output_buffers[i], *element_of(tensor.type), tensor.shape));
  }
  wish_places(places);
  for (const Group& group : grouping_.groups) emit_group(group);
  copy_outputs();
  order_layers();
}

std::vector<View> Emitter::run_nested(std::span<const View> inputs, std::span<const std::optional<View>> results) {
  const graph::Block& block = facts_.block();
  for (size_t i = 0; i < inputs.size(); ++i) values_[block.inputs[i]] = inputs[i];
  wish_places(results);
  for (const Group& group : grouping_.groups) emit_group(group);
  std::vector<View> views;
  for (const TensorId id : block.outputs) views.push_back(read(id));
  return views;
}

void Emitter::emit_group(const Group& group) {
  const Family& family = family_of(facts_.op(group.ops.front()).op);
  begin_layer(group.ops, family.engine);
  layer().control = family.kind == Kind::kControl || family.kind == Kind::kDeclare;
  family.emit(*this, group);
}

void Emitter::order_layers() {
  std::vector<Layer> ordered;
  std::vector<std::optional<uint32_t>> number(module_.layers.size());
  for (Step& step : module_.steps) {
    std::optional<uint32_t>& known = number[step.layer];
    if (!known) {
      known = static_cast<uint32_t>(ordered.size());
      ordered.push_back(std::move(module_.layers[step.layer]));
    }
    step.layer = *known;
  }
  module_.layers = std::move(ordered);
}

void Emitter::copy_outputs() {
  for (size_t i = 0; i < module_.outputs.size(); ++i) {
    const TensorId id = facts_.block().outputs[i];
    const auto first = std::find(facts_.block().outputs.begin(), facts_.block().outputs.end(), id);
    if (first != facts_.block().outputs.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    const View from = read(id);
    const View to = dense_view(module_.output_buffers[i], from.type, facts_.tensor(id).shape);
    if (same_place(from, to)) continue;
    Layer layer;
    layer.name = layer.position = std::string("output_").append(std::to_string(i));
    if (!facts_.tensor(id).name.empty()) layer.name = facts_.tensor(id).name;
    layer.operators = layer.kind = "COPY";
    layer.engine = contract::Engine::kDma;
    layer.output = facts_.tensor(id).name;
    layer.input_shape = layer.output_shape = facts_.tensor(id).shape;
    begin_layer(std::move(layer));
    add_copy(from, to);
  }
}

std::string Emitter::position_of(size_t op) const {
  std::string name(graph::name(facts_.op(op).op));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  name.append("_").append(std::to_string(op));
  return facts_.nested() ? facts_.block().name + "/" + name : name;
}

void Emitter::begin_layer(const std::vector<size_t>& ops, std::optional<contract::Engine> engine) {
  Layer layer;
  const auto append = [&](std::string& list, size_t op) {
    if (!list.empty()) list += "+";
    list += graph::name(facts_.op(op).op);
  };
  const auto works = [&](size_t op) { return !adapts_values(facts_.op(op).op); };
  for (size_t op : ops) {
    append(layer.operators, op);
    if (works(op)) append(layer.kind, op);
  }
  const auto first = std::find_if(ops.begin(), ops.end(), works);
  const size_t main = first == ops.end() ? ops.front() : *first;
  if (layer.kind.empty()) append(layer.kind, main);
  describe(facts_.op(main), layer);
  layer.position = position_of(main);
  layer.engine = engine;
  layer.location = facts_.op(ops.front()).location;
  layer.name = layer.position;
  if (!facts_.op(ops.back()).outputs.empty()) {
    const graph::Tensor& result = facts_.result(facts_.op(ops.back()));
    layer.output = result.name;
    layer.output_shape = result.shape;
    // A variable has its name from its state, and may be written by several layers.
    if (!result.variable && !result.name.empty()) layer.name = result.name;
  }
  begin_layer(std::move(layer));
}

void Emitter::describe(const graph::Operator& op, Layer& layer) const {
  if (!op.inputs.empty()) layer.input_shape = facts_.tensor(op.inputs[0]).shape;
  layer.kernel = op.attributes.kernel;
  layer.stride = op.attributes.stride;
  layer.dilation = op.attributes.dilation;
  for (const int64_t size : window_of(facts_, op)) layer.kernel.push_back(static_cast<int32_t>(size));
}

void Emitter::begin_layer(Layer layer) {
  if (const auto [named, fresh] = emission_.layer_names.try_emplace(layer.name, 1); !fresh) {
    const std::string copy = layer.name + "_copy";
    for (uint32_t& number = named->second;; ++number) {
      layer.name = number == 1 ? copy : copy + std::to_string(number);
      if (emission_.layer_names.try_emplace(layer.name, 1).second) break;
    }
  }
  layer_ = static_cast<uint32_t>(module_.layers.size());
  module_.layers.push_back(std::move(layer));
}

BufferId Emitter::add_buffer(Buffer buffer) {
  module_.buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(module_.buffers.size() - 1);
}

View Emitter::intermediate(std::string name, contract::Element type, const Dims& dims) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.bytes = static_cast<uint64_t>(product(dims)) * contract::element_bytes(type);
  return dense_view(add_buffer(std::move(buffer)), type, dims);
}

View Emitter::new_dense(TensorId id) {
  const graph::Tensor& tensor = facts_.tensor(id);
  return intermediate(tensor.name, *element_of(tensor.type), tensor.shape);
}

BufferId Emitter::add_constant(const std::string& name, std::vector<uint8_t> bytes) {
  Buffer buffer;
  buffer.name = name;
  buffer.kind = BufferKind::kConstant;
  buffer.bytes = bytes.size();
  buffer.data = std::move(bytes);
  return add_buffer(std::move(buffer));
}

BufferId Emitter::share_constant(const std::string& name, std::vector<uint8_t> bytes) {
  const size_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto [begin, end] = emission_.contents.equal_range(hash);
  const auto known = std::find_if(begin, end, [&](const auto& at) { return module_.buffers[at.second].data == bytes; });
  if (known != end) return known->second;
  return emission_.contents.emplace(hash, add_constant(name, std::move(bytes)))->second;
}

View Emitter::constant_view(TensorId id) {
  const Constant& constant = *facts_.constant(id);
  const auto [known, fresh] = emission_.constants.try_emplace(constant.bytes, BufferId{0});
  if (fresh) {
    // What folding makes of constants is made anew wherever its block is put.
    const std::string& name = facts_.tensor(id).name;
    known->second = facts_.nested() ? share_constant(name, *constant.bytes) : add_constant(name, *constant.bytes);
  }
  return dense_view(known->second, *element_of(constant.type), constant.shape);
}

View Emitter::constant_blob(std::vector<uint8_t> bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  return blob_view(share_constant("parameters", std::move(bytes)), size);
}

View Emitter::constant(std::vector<uint8_t> bytes, contract::Element type, const Dims& dims) {
  NPU_CHECK(static_cast<int64_t>(bytes.size()) == product(dims) * contract::element_bytes(type));
  return dense_view(constant_blob(std::move(bytes)).buffer, type, dims);
}

View Emitter::zeros(contract::Element type, const Dims& dims) {
  return constant(std::vector<uint8_t>(static_cast<size_t>(product(dims) * contract::element_bytes(type))), type, dims);
}

View Emitter::variable(TensorId id) const {
  return dense_view(emission_.variables.at(graph::variable_identity(facts_.tensor(id))),
                    *element_of(facts_.tensor(id).type), facts_.tensor(id).shape);
}

std::optional<View> Emitter::derive(const graph::Operator& op, const View& in) const {
  switch (op.op) {
    case Op::kIdentity:
      return in;
    case Op::kReshape:
      return reshape(in, facts_.result(op).shape);
    case Op::kSlice:
      return slice(in, *facts_.shape_operand(op, 0), *facts_.shape_operand(op, 1));
    case Op::kTranspose:
      return permute(in, op.attributes.perms);
    case Op::kReverse:
      return reverse(in, static_cast<size_t>(op.attributes.axis));
    default:
      panic(__FILE__, __LINE__, "an operator of the family of views that is none");
  }
}

View Emitter::read(TensorId id) {
  // The views between this tensor and the next one that has a place.
  std::vector<size_t> chain;
  while (!values_[id]) {
    if (facts_.constant(id) != nullptr) {
      values_[id] = constant_view(id);
      break;
    }
    const size_t producer = facts_.producer(id).value();
    const graph::Operator& op = facts_.op(producer);
    if (op.op == Op::kVariableRead) {
      NPU_CHECK(grouping_.direct_reads[producer]);
      values_[id] = variable(op.inputs[0]);
      break;
    }
    NPU_CHECK(family_of(op.op).kind == Kind::kView);
    chain.push_back(producer);
    id = op.inputs[0];
  }
  for (; !chain.empty(); chain.pop_back()) {
    const graph::Operator& op = facts_.op(chain.back());
    std::optional<View> view = derive(op, *values_[id]);
    if (!view) view = derive(op, materialise(id, *values_[id]));
    id = op.outputs[0];
    values_[id] = view;
  }
  return *values_[id];
}

View Emitter::read_dense(TensorId id) {
  const View view = read(id);
  return is_dense(view) ? view : materialise(id, view);
}

View Emitter::read_operand(const graph::Operator& op, size_t operand) {
  const TensorId id = op.inputs[operand];
  const View view = read(id);
  const auto accepts = family_of(op.op).accepts;
  return accepts == nullptr || accepts(op, operand, view) ? view : materialise(id, view);
}

View Emitter::materialise(TensorId id, const View& view) {
  const uint32_t outer = layer_;
  const auto producer = facts_.producer(id);
  if (producer) begin_layer({*producer}, contract::Engine::kDma);
  const View dense = new_dense(id);
  add_copy(view, dense);
  layer_ = outer;
  values_[id] = dense;
  return dense;
}

View Emitter::place(TensorId id, const Dims& as, bool need_inner_dense) {
  if (wishes_[id]) {
    const std::optional<View> view = reshape(*wishes_[id], as);
    if (view && (!need_inner_dense || inner_dense(*view))) {
      values_[id] = wishes_[id];
      return *view;
    }
  }
  values_[id] = new_dense(id);
  return *reshape(*values_[id], as);
}

void Emitter::add(Work work) {
  if (module_.steps.size() >= emission_.most_steps) {
    throw Error(contract::ErrorCode::kArgumentUnsupported,
                "layer " + layer().position + " (" + layer().operators + ") cannot run on this device: with it the " +
                    "network takes more than " + std::to_string(emission_.most_steps) +
                    " steps, and no program has more commands; split the network, or run it with `npu reference`.");
  }
  module_.steps.push_back({layer_, std::move(work), false});
}

void Emitter::add_copy(View src, View dst, bool commit) {
  NPU_CHECK(src.dims == dst.dims && src.type == dst.type);
  std::vector<int64_t>* const strides[] = {&src.strides, &dst.strides};
  if (emission_.merges) coalesce(src.dims, strides, false);
  dst.dims = src.dims;
  CopyStep step;
  step.src = std::move(src);
  step.dst = std::move(dst);
  add(std::move(step));
  module_.steps.back().commit = commit;
}

void Emitter::add_fill(View dst, uint64_t value) {
  std::vector<int64_t>* const strides[] = {&dst.strides};
  if (emission_.merges) coalesce(dst.dims, strides, false);
  CopyStep step;
  step.src = dst;
  step.dst = std::move(dst);
  step.fill = true;
  step.fill_value = value;
  add(std::move(step));
}

}  // namespace npu::compiler
