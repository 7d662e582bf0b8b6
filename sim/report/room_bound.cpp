// SPDX-License-Identifier: Apache-2.0
#include "sim/report/room_bound.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "driver/graph/analyse.h"
#include "driver/graph/element.h"
#include "hw/timing/mxu_cycles.h"
#include "sim/report/work.h"

namespace npu::report {
namespace {

using contract::Capabilities;
using graph::Op;

// Work beyond that is left out: sums of it stay within 64 bits.
constexpr uint64_t kMostWork = uint64_t{1} << 40;

bool is_control_or_state(Op op) {
  return op == Op::kCondIf || op == Op::kWhileLoop || op == Op::kVariable || op == Op::kVariableRead ||
         op == Op::kVariableWrite;
}

class Finder {
 public:
  Finder(const graph::Block& block, const presets::Preset& machine)
      : block_(block),
        caps_(machine.caps),
        dram_(machine),
        last_use_(block.tensors.size(), kNever),
        runs_(block.operators.size()),
        source_(block.tensors.size()) {
    find_what_runs();
    for (size_t i = 0; i < block.operators.size(); ++i) {
      if (!runs_[i]) continue;
      for (const graph::TensorId id : block.operators[i].inputs) last_use_[id] = i;
    }
    for (const graph::TensorId id : block.outputs) last_use_[id] = kNever;
    note_weights();
  }

  std::optional<RoomBound> find() {
    std::optional<RoomBound> best;
    ArrayWork before;
    std::set<graph::TensorId> open = given();  // what is there and still to be read
    for (size_t i = 0; i < block_.operators.size(); ++i) {
      if (!runs_[i]) continue;
      const graph::Operator& op = block_.operators[i];
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
  static constexpr size_t kNever = std::numeric_limits<size_t>::max();

  // Those whose results are wanted, and not known before anything runs. A constant that only changes its form keeps its
  // source.
  void find_what_runs() {
    std::vector<bool> wanted(block_.tensors.size()), fixed(block_.tensors.size());
    for (const graph::TensorId id : block_.outputs) wanted[id] = true;
    for (size_t i = block_.operators.size(); i-- > 0;) {
      const graph::Operator& op = block_.operators[i];
      runs_[i] = is_control_or_state(op.op) ||
                 std::any_of(op.outputs.begin(), op.outputs.end(), [&](graph::TensorId id) { return wanted[id]; });
      if (!runs_[i]) continue;
      for (const graph::TensorId id : op.inputs) wanted[id] = true;
    }
    for (graph::TensorId id = 0; id < block_.tensors.size(); ++id) {
      const graph::Tensor& tensor = block_.tensors[id];
      fixed[id] = tensor.has_data && !tensor.variable;
      if (fixed[id]) source_[id] = &tensor;
    }
    for (size_t i = 0; i < block_.operators.size(); ++i) {
      const graph::Operator& op = block_.operators[i];
      if (is_control_or_state(op.op)) continue;
      if (!std::all_of(op.inputs.begin(), op.inputs.end(), [&](graph::TensorId id) { return fixed[id]; })) continue;
      runs_[i] = false;
      for (const graph::TensorId id : op.outputs) fixed[id] = true;
      const bool moves = op.op == Op::kIdentity || op.op == Op::kReshape || op.op == Op::kTranspose;
      if (moves) source_[op.outputs[0]] = source_[op.inputs[0]];
    }
  }

  // Inputs, and what variables hold.
  [[nodiscard]] std::set<graph::TensorId> given() const {
    std::set<graph::TensorId> open(block_.inputs.begin(), block_.inputs.end());
    for (const graph::Operator& op : block_.operators) {
      if (op.op == Op::kVariableRead) open.insert(op.inputs.begin(), op.inputs.end());
    }
    return open;
  }

  // Where the fewest products depend on how the operator is computed, none count.
  [[nodiscard]] ArrayWork work_of(const graph::Operator& op) const {
    const auto macs = static_cast<uint64_t>(std::max<int64_t>(graph::macs(block_, op), 0));
    if (macs == 0 || macs > kMostWork || op.op == Op::kConv3d) return {};
    const graph::Tensor &input = block_.tensors[op.inputs[0]], &weights = block_.tensors[op.inputs[1]];
    const uint64_t cycles = timing::mxu_rate(*graph::element_of(input.type), *graph::element_of(weights.type), caps_);
    const uint64_t work = std::min(macs * cycles, kMostWork);
    if (op.op != Op::kDepthwiseConv2d) return {work, 0};
    // One of few channels is less work as a convolution whose other weights are 0.
    const auto channels = static_cast<uint64_t>(input.shape.back());
    const bool dense = channels * caps_.mxu_dw_taps < caps_.mxu_depth;
    return dense ? ArrayWork{work * channels, 0} : ArrayWork{0, work};
  }

  // Whether the last element of what it reads needs all that is computed with what it makes. Those that pick elements
  // do not.
  [[nodiscard]] bool carries(const graph::Operator& op) const {
    switch (op.op) {
      case Op::kMatMul:
        return source_[op.inputs[1]] != nullptr && block_.tensors[op.inputs[1]].shape[0] == 1;
      case Op::kSlice:  // of pixels, which have all channels
        return block_.tensors[op.outputs[0]].shape.back() == block_.tensors[op.inputs[0]].shape.back();
      case Op::kConv3d:
      case Op::kTransposeConv2d:
      case Op::kFft2d:
      case Op::kRfft2d:
      case Op::kGather:
      case Op::kScatter:
      case Op::kCustom:
        return false;
      default:
        return !is_control_or_state(op.op);
    }
  }

  // All of them are used for each element of the result. Those of a depthwise convolution are not, nor are taps that
  // always meet padding.
  [[nodiscard]] const graph::Tensor* weights_of(const graph::Operator& op) const {
    if (op.op != Op::kConv2d && op.op != Op::kMatMul) return nullptr;
    const graph::Tensor &input = block_.tensors[op.inputs[0]], &weights = block_.tensors[op.inputs[1]];
    if (op.op == Op::kConv2d && (input.shape[1] < weights.shape[1] || input.shape[2] < weights.shape[2]))
      return nullptr;
    return source_[op.inputs[1]];
  }

  // Behind each operator: those that are first read by one behind it, as far as all carry. Equal ones are one.
  void note_weights() {
    weights_behind_.assign(block_.operators.size(), 0);
    std::set<const void*> met;
    std::set<size_t> met_contents;  // hashes: those that are equal by chance count as one, too
    std::vector<uint64_t> first(block_.operators.size(), 0);
    for (size_t i = 0; i < block_.operators.size(); ++i) {
      const graph::Tensor* weights = runs_[i] ? weights_of(block_.operators[i]) : nullptr;
      if (weights == nullptr || !met.insert(weights).second) continue;
      const std::string_view bytes(reinterpret_cast<const char*>(weights->data.data()), weights->data.size());
      if (met_contents.insert(std::hash<std::string_view>()(bytes)).second) first[i] = bytes.size();
    }
    uint64_t sum = 0;
    for (size_t i = block_.operators.size(); i-- > 0;) {
      weights_behind_[i] = sum;
      if (!runs_[i]) continue;
      sum = carries(block_.operators[i]) ? sum + first[i] : 0;
    }
  }

  // Also two tiles of weights of up to four bytes in the MXU, and all that is on its way through DMA.
  [[nodiscard]] uint64_t chip_bytes() const {
    return uint64_t{caps_.spm_bytes} + caps_.psram_bytes + uint64_t{8} * caps_.mxu_cols * caps_.mxu_depth +
           uint64_t{caps_.dma_channels} * caps_.dma_outstanding * caps_.dma_burst_bytes;
  }

  const graph::Block& block_;
  const Capabilities& caps_;
  const DramRate dram_;
  std::vector<size_t> last_use_;              // the operator; never: an output, or nothing reads it
  std::vector<bool> runs_;                    // operators
  std::vector<const graph::Tensor*> source_;  // of what is a constant in some order; null of another tensor
  std::vector<uint64_t> weights_behind_;      // operators
};

}  // namespace

std::optional<RoomBound> room_bound(const graph::Graph& graph, const presets::Preset& machine) {
  if (graph::has_unknown_sizes(graph)) return std::nullopt;
  return Finder(graph.main(), machine).find();
}

}  // namespace npu::report
