#include "driver/graph/analyse.h"

#include <algorithm>
#include <map>

#include "driver/graph/operand_check.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/operators.h"
#include "driver/graph/text.h"

namespace npu::graph {
namespace {

constexpr Features kProfiles = kProInt | kProFp;
constexpr Features kIntegerExtensions = kExtInt16 | kExtInt4 | kExtDoubleRound | kExtInexactRound;
constexpr Features kFloatExtensions = kExtBf16 | kExtFp8E4M3 | kExtFp8E5M2 | kExtFft;

// Limits of level 8K.
constexpr int64_t kLevelRank = 6;
constexpr int64_t kLevelKernel = 8192;
constexpr int64_t kLevelStride = 8192;
constexpr int64_t kLevelScale = 256;
constexpr int64_t kLevelBytes = int64_t{1} << 31;
constexpr size_t kLevelList = 64;
constexpr int kLevelNesting = 6;

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
    limit("control flow", "nesting", nesting(graph_.regions.front()), kLevelNesting);
    choose_profiles();
    return finish();
  }

 private:
  void look_at_tensor(const Tensor& tensor) {
    const std::string what = "tensor " + in_quotes(tensor.name);
    limit(what, "rank", static_cast<int64_t>(tensor.shape.size()), kLevelRank);
    const auto elements = element_count(tensor.shape);
    NPU_CHECK(elements.has_value());
    limit(what, "size in bytes", std::max(*elements, byte_size(tensor.type, *elements)), kLevelBytes - 1);
    if (tensor.variable) {
      const OperatorInfo& entry = info(Op::kVariable);
      const auto row = std::find_if(entry.types.begin(), entry.types.end(),
                                    [&](const TypeRow& candidate) { return candidate.types[0] == tensor.type; });
      if (row != entry.types.end()) {
        need(*row);
        if ((row->all_of & kProposalVariable) != 0) {
          needs_.notes.push_back("variable " + in_quotes(variable_identity(tensor)) + " is " +
                                 std::string(name(tensor.type)) +
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
        needs_.notes.push_back(describe(op, position) + ": " + view.input_name(i) +
                               " is a run-time value, which EXT-DYNAMIC allows");
      }
    }
    if (op.op == Op::kRescale && op.attributes.rounding_mode == RoundingMode::kDoubleRound) {
      all_ |= kExtDoubleRound;
    }
    if (op.op == Op::kRescale && op.attributes.rounding_mode == RoundingMode::kInexactRound) {
      all_ |= kExtInexactRound;
    }
    look_at_limits(view, entry, describe(op, position));
  }

  void look_at_limits(const OperatorView& view, const OperatorInfo& entry, const std::string& what) {
    const Attributes& a = view.attributes();
    const auto each = [&](const char* attribute, const std::vector<int32_t>& values, int64_t most) {
      for (const int32_t value : values) {
        limit(what, attribute, value, most);
      }
    };
    each("kernel", a.kernel, kLevelKernel);
    each("stride", a.stride, kLevelStride);
    each("pad", a.pad, kLevelKernel);
    each("out_pad", a.out_pad, kLevelKernel);
    if (entry.attributes & (kHasDilation | kHasOutPad)) {
      // Kernel dimensions of the weights: all but the channels.
      const Shape& weight = view.shape(1);
      const size_t first = view.op().op == Op::kDepthwiseConv2d ? 0 : 1;
      const size_t count = weight.size() == 5 ? 3 : 2;
      for (size_t i = 0; i < count; ++i) {
        limit(what, "kernel times dilation", weight[first + i] * (a.dilation.empty() ? 1 : a.dilation[i]),
              kLevelKernel);
      }
    }
    if (view.op().op == Op::kFft2d || view.op().op == Op::kRfft2d) {
      limit(what, "height", view.shape(0)[1], kLevelKernel);
      limit(what, "width", view.shape(0)[2], kLevelKernel);
    }
    if (view.op().op == Op::kResize) {
      const auto scale = view.required_constant(1, 4);
      limit(what, "scale", scale[0] / scale[1], kLevelScale);
      limit(what, "scale", scale[2] / scale[3], kLevelScale);
    }
    const auto is_list = [](std::span<const Operand> operands) {
      return !operands.empty() && operands.back().kind == OperandKind::kList;
    };
    if (is_list(entry.inputs)) {
      limit(what, "number of inputs", static_cast<int64_t>(view.op().inputs.size() - (entry.inputs.size() - 1)),
            kLevelList);
    }
    if (is_list(entry.outputs)) {
      limit(what, "number of outputs", static_cast<int64_t>(view.op().outputs.size()), kLevelList);
    }
  }

  void limit(const std::string& what, const char* quantity, int64_t value, int64_t most) {
    if (value > most) {
      above_level_ = true;
      needs_.notes.push_back(what + ": its " + quantity + " of " + std::to_string(value) + " is above level 8K's " +
                             std::to_string(most));
    }
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

  int64_t nesting(const std::string& region) { return nesting(*regions_.find(region)); }

  int64_t nesting(const Region& region) {
    const auto [known, added] = depths_.emplace(&region, 0);
    if (!added) {
      return known->second;
    }
    int64_t deepest = 0;
    for (const Operator& op : region.blocks.front().operators) {
      const Attributes& a = op.attributes;
      if (op.op == Op::kCondIf) {
        deepest = std::max({deepest, 1 + nesting(a.then_graph), 1 + nesting(a.else_graph)});
      } else if (op.op == Op::kWhileLoop) {
        deepest = std::max({deepest, 1 + nesting(a.cond_graph), 1 + nesting(a.body_graph)});
      }
    }
    depths_[&region] = deepest;
    return deepest;
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
  std::map<const Region*, int64_t> depths_;
};

// A hostile file can ask for more products than fit.
int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace

Needs analyse(const Graph& graph) { return Analysis(graph).run(); }

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
      const Shape& weight = block.tensors[op.inputs[1]].shape;
      return times(elements(op.inputs[0]), times(weight[0], times(weight[1], weight[2])));
    }
    case Op::kMatMul:
      return times(elements(op.outputs[0]), block.tensors[op.inputs[0]].shape[2]);
    default:
      return 0;
  }
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
