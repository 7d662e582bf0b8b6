// SPDX-License-Identifier: Apache-2.0
#include "sim/report/room_bound.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "driver/graph/analyse.h"
#include "hw/contract/elements.h"
#include "sim/report/work.h"

namespace npu::report {
namespace {

using contract::Capabilities;
using contract::Element;
using graph::DType;
using graph::Op;

constexpr size_t kNever = std::numeric_limits<size_t>::max();

// Cycles that one product of the array takes; 1 where it does not say.
uint64_t product_cycles(DType activations, DType weights, const Capabilities& caps) {
  const auto floating = [&](Element type) { return std::max<uint64_t>(contract::mxu_float_cycles(type, caps), 1); };
  switch (activations) {
    case DType::kInt16:
      return weights == DType::kInt16 ? 4 : 2;
    case DType::kFp32:
      return floating(Element::kF32);
    case DType::kFp16:
      return floating(Element::kF16);
    case DType::kBf16:
      return floating(Element::kBf16);
    case DType::kFp8E4M3:
      return floating(Element::kF8e4m3);
    case DType::kFp8E5M2:
      return floating(Element::kF8e5m2);
    default:
      return 1;
  }
}

class Finder {
 public:
  Finder(const graph::Block& block, const presets::Preset& machine)
      : block_(block),
        caps_(machine.caps),
        dram_(machine),
        last_use_(block.tensors.size(), kNever),
        maker_(block.tensors.size()) {
    fixed_.reserve(block.tensors.size());
    for (const graph::Tensor& tensor : block.tensors) fixed_.push_back(tensor.has_data && !tensor.variable);
    for (size_t i = 0; i < block.operators.size(); ++i) {
      for (const graph::TensorId id : block.operators[i].inputs) last_use_[id] = i;
      for (const graph::TensorId id : block.operators[i].outputs) maker_[id] = &block.operators[i];
    }
    for (const graph::TensorId id : block.outputs) last_use_[id] = kNever;
  }

  std::optional<RoomBound> find() {
    note_weights();
    std::optional<RoomBound> best;
    ArrayWork before;
    // What was made or given, and is still to be read.
    std::set<graph::TensorId> open(block_.inputs.begin(), block_.inputs.end());
    for (const graph::Operator& op : block_.operators) {
      if (op.op == Op::kVariableRead) open.insert(op.inputs.begin(), op.inputs.end());
    }
    for (size_t i = 0; i < block_.operators.size(); ++i) {
      const graph::Operator& op = block_.operators[i];
      if (is_fixed(op)) {
        for (const graph::TensorId id : op.outputs) fixed_[id] = true;
        continue;
      }
      before += work_of(op);
      for (const graph::TensorId id : op.inputs) {
        if (last_use_[id] == i) open.erase(id);
      }
      open.insert(op.outputs.begin(), op.outputs.end());
      if (open.size() != 1 || op.outputs.size() != 1 || !open.contains(op.outputs[0])) continue;
      const uint64_t weights = weights_behind_[i];
      if (weights <= chip_bytes()) continue;
      const uint64_t cycles = before.cycles(caps_) + dram_.cycles(weights - chip_bytes());
      if (best && best->cycles >= cycles) continue;
      best = RoomBound{cycles, block_.tensors[op.outputs[0]].name, weights, chip_bytes()};
    }
    return best;
  }

 private:
  // What it makes is known before anything runs.
  [[nodiscard]] bool is_fixed(const graph::Operator& op) const {
    if (op.op == Op::kVariable || op.op == Op::kVariableRead || op.op == Op::kVariableWrite) return false;
    return std::all_of(op.inputs.begin(), op.inputs.end(), [&](graph::TensorId id) { return fixed_[id]; });
  }

  [[nodiscard]] ArrayWork work_of(const graph::Operator& op) const {
    const auto macs = static_cast<uint64_t>(std::max<int64_t>(graph::macs(block_, op), 0));
    if (macs == 0) return {};
    const graph::Tensor &input = block_.tensors[op.inputs[0]], &weights = block_.tensors[op.inputs[1]];
    const uint64_t work = macs * product_cycles(input.type, weights.type, caps_);
    // One of a single channel is a convolution, too.
    const bool depthwise = op.op == Op::kDepthwiseConv2d && input.shape.back() > 1;
    return depthwise ? ArrayWork{0, work} : ArrayWork{work, 0};
  }

  // The constant that a tensor has in some order; null for another.
  [[nodiscard]] const graph::Tensor* constant_of(graph::TensorId id) const {
    const auto moves = [](Op op) { return op == Op::kIdentity || op == Op::kReshape || op == Op::kTranspose; };
    while (!block_.tensors[id].has_data) {
      const graph::Operator* maker = maker_[id];
      if (maker == nullptr || !moves(maker->op)) return nullptr;
      id = maker->inputs[0];
    }
    return block_.tensors[id].variable ? nullptr : &block_.tensors[id];
  }

  // Behind each operator: those that are first read by one behind it. Equal ones are one.
  void note_weights() {
    weights_behind_.assign(block_.operators.size(), 0);
    std::set<std::string_view> met;
    std::vector<uint64_t> first(block_.operators.size(), 0);
    for (size_t i = 0; i < block_.operators.size(); ++i) {
      const graph::Operator& op = block_.operators[i];
      if (graph::macs(block_, op) == 0) continue;
      const graph::Tensor* weights = constant_of(op.inputs[1]);
      if (weights == nullptr) continue;
      const std::string_view bytes(reinterpret_cast<const char*>(weights->data.data()), weights->data.size());
      if (met.insert(bytes).second) first[i] = bytes.size();
    }
    uint64_t sum = 0;
    for (size_t i = block_.operators.size(); i-- > 0;) {
      weights_behind_[i] = sum;
      sum += first[i];
    }
  }

  // Of the MXU two tiles of weights, of two bytes each.
  [[nodiscard]] uint64_t chip_bytes() const {
    return uint64_t{caps_.spm_bytes} + caps_.psram_bytes + uint64_t{4} * caps_.mxu_cols * caps_.mxu_depth;
  }

  const graph::Block& block_;
  const Capabilities& caps_;
  const DramRate dram_;
  std::vector<size_t> last_use_;  // the operator; never: an output, or nothing reads it
  std::vector<const graph::Operator*> maker_;
  std::vector<bool> fixed_;  // tensors that are known before anything runs
  std::vector<uint64_t> weights_behind_;
};

}  // namespace

std::optional<RoomBound> room_bound(const graph::Graph& graph, const presets::Preset& machine) {
  if (graph::has_unknown_sizes(graph)) return std::nullopt;
  return Finder(graph.main(), machine).find();
}

}  // namespace npu::report
