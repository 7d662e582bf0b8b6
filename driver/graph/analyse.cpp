// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/analyse.h"

#include <algorithm>

#include "driver/graph/float_format.h"
#include "driver/graph/level.h"
#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/text.h"

namespace npu::graph {
namespace {

constexpr Features kProfiles = kProInt | kProFp;
constexpr Features kIntegerExtensions = kExtInt16 | kExtInt4 | kExtDoubleRound | kExtInexactRound;
constexpr Features kFloatExtensions = kExtBf16 | kExtFp8E4M3 | kExtFp8E5M2 | kExtFft;

class Analysis {
 public:
  explicit Analysis(const Graph& graph) : graph_(graph), regions_(graph) {}

  Needs run() {
    for (const Region& region : graph_.regions) {
      const Block& block = region.blocks.front();
      for (const Tensor& tensor : block.tensors) {
        look_at_tensor(tensor);
      }
      for (size_t i = 0; i < block.operators.size(); ++i) {
        look_at_operator(block, i);
      }
    }
    for (const LevelExcess& excess : above(graph_, Level::k8K)) {
      above_level_ = true;
      note(excess.text);
    }
    choose_profiles();
    return finish();
  }

 private:
  void look_at_tensor(const Tensor& tensor) {
    if (tensor.variable) {
      const OperatorInfo& entry = info(Op::kVariable);
      const auto row = std::find_if(entry.types.begin(), entry.types.end(),
                                    [&](const TypeRow& candidate) { return candidate.types[0] == tensor.type; });
      if (row != entry.types.end()) {
        need(*row);
        if ((row->all_of & kProposalVariable) != 0) {
          note("variable " + in_quotes(variable_identity(tensor)) + " is " + std::string(name(tensor.type)) +
               ": TOSA 1.0 allows INT8, FP16 and FP32; the other types of variables are an extension "
               "of this project");
        }
      }
    }
  }

  void look_at_operator(const Block& block, size_t position) {
    const Operator& op = block.operators[position];
    const OperatorInfo& entry = info(op.op);
    const OperatorView view(regions_, block, op, position);
    if (const TypeRow* row = match_types(view)) {
      need(*row);
    } else {
      need({{}, entry.any_of, 0});
    }
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (operand_of(entry.inputs, i).constant && !is_constant(view.input(i))) {
        all_ |= kExtDynamic;
        note(describe(op, position) + ": " + view.input_name(i) + " is a run-time value, which EXT-DYNAMIC allows");
      }
    }
    if (op.op == Op::kRescale && op.attributes.rounding_mode == RoundingMode::kDoubleRound) {
      all_ |= kExtDoubleRound;
    }
    if (op.op == Op::kRescale && op.attributes.rounding_mode == RoundingMode::kInexactRound) {
      all_ |= kExtInexactRound;
    }
  }

  // Each once: blocks repeat what they say of a variable that they share.
  void note(std::string text) {
    if (noted_.insert(text).second) needs_.notes.push_back(std::move(text));
  }

  void need(const TypeRow& row) {
    all_ |= row.all_of;
    // One bit: no choice.
    if ((row.any_of & (row.any_of - 1)) == 0) {
      all_ |= row.any_of;
    } else {
      choices_.insert(row.any_of);
    }
  }

  void choose_profiles() {
    if ((all_ & kIntegerExtensions) != 0) {
      all_ |= kProInt;
    }
    if ((all_ & kFloatExtensions) != 0) {
      all_ |= kProFp;
    }
    for (const Features choice : choices_) {
      if ((all_ & choice) == 0) {
        all_ |= choice & kProInt;
      }
    }
    if ((all_ & kProfiles) == 0) {
      all_ |= kProInt;
    }
  }

  Needs finish() {
    for (uint32_t i = 0; i < kFeatureCount; ++i) {
      const Features bit = 1u << i;
      if ((all_ & bit) != 0) {
        ((bit & kProfiles) != 0 ? needs_.profiles : needs_.extensions).emplace(feature_name(bit));
      }
    }
    needs_.level = above_level_ ? "none" : "8K";
    return std::move(needs_);
  }

  const Graph& graph_;
  const RegionIndex regions_;
  Needs needs_;
  Features all_ = 0;
  std::set<Features> choices_;
  bool above_level_ = false;
  std::set<std::string> noted_;
};

// A hostile file can ask for more products than fit.
int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// Of all results along a dimension of TRANSPOSE_CONV2D, the taps that meet an element of the operand or what it is
// padded with, but no inserted zero: result o meets tap k where o - pad - k is a multiple of the stride.
int64_t transposed_taps(int64_t results, int64_t kernel, int64_t stride, int64_t pad) {
  // Of each position modulo the stride there are so many, and one more of the first few.
  const int64_t each_result = results / stride, more_results = results % stride;
  const int64_t each_tap = kernel / stride, more_taps = kernel % stride;
  const int64_t begin = (pad % stride + stride) % stride, end = begin + more_taps;  // of results that more taps meet
  const int64_t both = std::max<int64_t>(0, std::min(more_results, end) - begin) +
                       std::max<int64_t>(0, std::min(more_results, end - stride));
  return times(results, each_tap) + times(each_result, more_taps) + both;
}

}  // namespace

Needs analyse(const Graph& graph) { return Analysis(graph).run(); }

const TypeRow* type_row(const Graph& graph, const Block& block, const Operator& op) {
  const RegionIndex regions(graph);
  return match_types(OperatorView(regions, block, op, 0));
}

int64_t macs(const Block& block, const Operator& op) {
  const auto elements = [&block](TensorId id) { return element_count(block.tensors[id].shape).value_or(0); };
  switch (op.op) {
    case Op::kConv2d:
    case Op::kConv3d:
      // Weights hold OC times the products of one result.
      return times(elements(op.outputs[0]), elements(op.inputs[1]) / block.tensors[op.inputs[1]].shape[0]);
    case Op::kDepthwiseConv2d: {
      const Shape& weight = block.tensors[op.inputs[1]].shape;
      return times(elements(op.outputs[0]), times(weight[0], weight[1]));
    }
    case Op::kTransposeConv2d: {
      const Shape &weight = block.tensors[op.inputs[1]].shape, &result = block.tensors[op.outputs[0]].shape;
      const Attributes& a = op.attributes;
      // Who counts before it checks gets no answer.
      if (weight.size() != 4 || result.size() != 4 || a.out_pad.size() != 4 || a.stride.size() != 2) return 0;
      if (a.stride[0] < 1 || a.stride[1] < 1) return 0;
      const int64_t y = transposed_taps(result[1], weight[1], a.stride[0], a.out_pad[0]);
      const int64_t x = transposed_taps(result[2], weight[2], a.stride[1], a.out_pad[2]);
      return times(times(result[0], times(result[3], weight[3])), times(y, x));
    }
    case Op::kMatMul:
      return times(elements(op.outputs[0]), block.tensors[op.inputs[0]].shape[2]);
    default:
      return 0;
  }
}

bool has_floats(const Graph& graph) {
  return std::ranges::any_of(graph.main().tensors,
                             [](const Tensor& tensor) { return float_format(tensor.type).has_value(); });
}

int64_t macs(const Graph& graph) {
  int64_t sum = 0;
  for (const Region& region : graph.regions) {
    for (const Operator& op : region.blocks.front().operators) {
      sum += std::min(macs(region.blocks.front(), op), INT64_MAX - sum);
    }
  }
  return sum;
}

}  // namespace npu::graph
