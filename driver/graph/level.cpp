// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/level.h"

#include <algorithm>
#include <array>
#include <map>

#include "driver/graph/level_rules.h"
#include "driver/graph/operator_view.h"
#include "driver/graph/operators.h"
#include "driver/graph/text.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

constexpr std::array<LevelLimits, 2> kLimits = {{
    {.name = "none",
     .rank = 32,
     .kernel = INT32_MAX,
     .stride = INT32_MAX,
     .scale = 2048,
     .log2_size = 63,
     .nesting = 256,
     .list = 256,
     .shape = 64},
    {.name = "8K",
     .rank = 6,
     .kernel = 8192,
     .stride = 8192,
     .scale = 256,
     .log2_size = 31,
     .nesting = 6,
     .list = 64,
     .shape = 16},
}};

using Values = Dims;

Values widened(const std::vector<int32_t>& values) { return {values.begin(), values.end()}; }

Values kernels(const OperatorView& op) { return widened(op.attributes().kernel); }
Values strides(const OperatorView& op) { return widened(op.attributes().stride); }
Values pads(const OperatorView& op) { return widened(op.attributes().pad); }
Values out_pads(const OperatorView& op) { return widened(op.attributes().out_pad); }

// The kernel dimensions of a convolution's weights times its dilation.
Values weight_kernels(const OperatorView& op) {
  const Dims weight = op.dims(1);
  const auto& dilation = op.attributes().dilation;
  const size_t first = op.op().op == Op::kDepthwiseConv2d ? 0 : 1;
  const size_t count = weight.size() == 5 ? 3 : 2;
  Values values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(weight[first + i] * (dilation.empty() ? 1 : dilation[i]));
  }
  return values;
}

Values transformed(const OperatorView& op) { return {op.dims(0)[1], op.dims(0)[2]}; }

Values scales(const OperatorView& op) {
  const auto scale = op.required_constant(1, 4);
  return {scale[0] / scale[1], scale[2] / scale[3]};
}

// Elements of the list that ends the operands.
Values list_length(std::span<const Operand> operands, size_t count) {
  return {static_cast<int64_t>(count - (operands.size() - 1))};
}
Values listed_inputs(const OperatorView& op) { return list_length(info(op.op().op).inputs, op.op().inputs.size()); }
Values listed_outputs(const OperatorView& op) { return list_length(info(op.op().op).outputs, op.op().outputs.size()); }

// One quantity of an operator that a level bounds.
struct Check {
  const char* quantity;
  int64_t LevelLimits::*most;
  bool (*applies)(const OperatorInfo&);
  Values (*values)(const OperatorView&);
};

template <AttributeSet kAny>
bool has(const OperatorInfo& entry) {
  return (entry.attributes & kAny) != 0;
}

constexpr Check kChecks[] = {
    {"kernel", &LevelLimits::kernel, has<kHasKernel>, kernels},
    {"stride", &LevelLimits::stride, has<kHasStride>, strides},
    {"pad", &LevelLimits::kernel, has<kHasPad>, pads},
    {"out_pad", &LevelLimits::kernel, has<kHasOutPad>, out_pads},
    {"kernel times dilation", &LevelLimits::kernel, has<kHasDilation | kHasOutPad>, weight_kernels},
    {"height or width", &LevelLimits::kernel,
     [](const OperatorInfo& entry) { return entry.op == Op::kFft2d || entry.op == Op::kRfft2d; }, transformed},
    {"scale", &LevelLimits::scale, has<kHasResizeMode>, scales},
    {"number of inputs", &LevelLimits::list, [](const OperatorInfo& entry) { return has_list(entry.inputs); },
     listed_inputs},
    {"number of outputs", &LevelLimits::list, [](const OperatorInfo& entry) { return has_list(entry.outputs); },
     listed_outputs},
};

int64_t largest_size(const LevelLimits& limits) {
  return static_cast<int64_t>((uint64_t{1} << static_cast<unsigned>(limits.log2_size)) - 1);
}

// One smaller than a byte counts as one.
int64_t bytes_of_element(DType type) { return std::max<int64_t>(1, byte_size(type, 1)); }

class LevelCheck {
 public:
  LevelCheck(const Graph& graph, Level level) : graph_(graph), regions_(graph), limits_(limits(level)) {}

  std::vector<LevelExcess> run() {
    for (const Region& region : graph_.regions) {
      const Block& block = region.blocks.front();
      for (const Tensor& tensor : block.tensors) {
        look_at(tensor);
      }
      for (size_t i = 0; i < block.operators.size(); ++i) {
        look_at(OperatorView(regions_, block, block.operators[i], i), describe(block.operators[i], i));
      }
    }
    compare("control flow", "nesting", nesting(graph_.regions.front()), limits_.nesting, ErrorCode::kBadStructure);
    return std::move(excesses_);
  }

 private:
  void look_at(const Tensor& tensor) {
    const std::string what = "tensor " + in_quotes(tensor.name);
    compare(what, "rank", static_cast<int64_t>(tensor.shape.size()), limits_.rank, ErrorCode::kBadShape);
    const auto elements = element_count(tensor.shape);
    NPU_CHECK(elements.has_value());
    // TOSA 1.1 bounds the operands of what computes shapes, which are constants by now.
    if (tensor.type == DType::kShape && regions_.is_later_version()) {
      compare("shape " + in_quotes(tensor.name), "number of sizes", *elements, limits_.shape);
    }
    compare(what, "size in bytes", *elements * bytes_of_element(tensor.type), largest_size(limits_));
  }

  void look_at(const OperatorView& op, const std::string& what) {
    const OperatorInfo& entry = info(op.op().op);
    for (const Check& check : kChecks) {
      if (check.applies(entry)) {
        for (const Dim& value : check.values(op)) {
          compare(what, check.quantity, *value.number(), limits_.*check.most);
        }
      }
    }
  }

  void compare(const std::string& what, const char* quantity, int64_t value, int64_t most,
               ErrorCode code = ErrorCode::kRequireFailed) {
    if (value > most) {
      excesses_.push_back({what + ": its " + quantity + " of " + std::to_string(value) + " is above level " +
                               std::string(limits_.name) + "'s " + std::to_string(most),
                           code});
    }
  }

  // How deep the control flow inside a region nests; a validated graph bounds it.
  int64_t nesting(const Region& region) {
    const auto [known, added] = depths_.emplace(&region, 0);
    if (!added) {
      return known->second;
    }
    int64_t deepest = 0;
    const auto enter = [&](const std::string& name) { deepest = std::max(deepest, 1 + nesting(*regions_.find(name))); };
    for (const Operator& op : region.blocks.front().operators) {
      const Attributes& a = op.attributes;
      if (op.op == Op::kCondIf) {
        enter(a.then_graph);
        enter(a.else_graph);
      } else if (op.op == Op::kWhileLoop) {
        enter(a.cond_graph);
        enter(a.body_graph);
      }
    }
    depths_[&region] = deepest;
    return deepest;
  }

  const Graph& graph_;
  const RegionIndex regions_;
  const LevelLimits& limits_;
  std::vector<LevelExcess> excesses_;
  std::map<const Region*, int64_t> depths_;
};

}  // namespace

void require_level(const OperatorView& op, Level level) {
  if (level == Level::kNone) return;
  for (const Check& check : kChecks) {
    if (!check.applies(info(op.op().op))) continue;
    for (const Dim& value : check.values(op)) {
      const int64_t most = limits(level).*check.most;
      if (op.at_least(most, value, check.quantity)) continue;
      op.fail(ErrorCode::kRequireFailed, std::string("its ") + check.quantity + " of " + op.text(value) +
                                             " is above level " + std::string(limits(level).name) + "'s " +
                                             std::to_string(most));
    }
  }
}

void require_level(const OperatorView& op, DType type, const Dims& sizes, Level level) {
  if (level == Level::kNone) return;
  const int64_t most = largest_size(limits(level));
  const Dim bytes = product_of(sizes) * bytes_of_element(type);
  if (op.at_least(most, bytes, "bytes")) return;
  op.fail(ErrorCode::kRequireFailed, "the size of its output, " + op.text(bytes) + " bytes, is above level " +
                                         std::string(limits(level).name) + "'s " + std::to_string(most));
}

const LevelLimits& limits(Level level) { return kLimits[static_cast<size_t>(level)]; }

std::optional<Level> level_from_name(std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const Level level : {Level::kNone, Level::k8K}) {
    const std::string_view own = limits(level).name;
    if (std::equal(own.begin(), own.end(), name.begin(), name.end(),
                   [&](char a, char b) { return lower(a) == lower(b); })) {
      return level;
    }
  }
  return std::nullopt;
}

std::vector<LevelBound> level_bounds(Op op) {
  std::vector<LevelBound> bounds;
  for (const Check& check : kChecks) {
    if (check.applies(info(op))) {
      bounds.push_back({check.quantity, check.most});
    }
  }
  return bounds;
}

std::vector<LevelExcess> above(const Graph& graph, Level level) { return LevelCheck(graph, level).run(); }

void check_level(const Graph& graph, Level level) {
  const auto excesses = above(graph, level);
  if (!excesses.empty()) {
    throw Error(excesses.front().code, excesses.front().text);
  }
}

}  // namespace npu::graph
