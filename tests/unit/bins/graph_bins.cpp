// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/bins/graph_bins.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ostream>

#include "tests/unit/bins/convolution_facts.h"
#include "tests/unit/bins/operator_instance.h"
#include "tests/unit/bins/windows.h"

namespace npu::test {
namespace {

using graph::Op;
using graph::Shape;
using Instance = OperatorInstance;

int64_t elements(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

bool any_of(const std::vector<int64_t>& numbers, bool (*holds)(int64_t)) {
  return std::any_of(numbers.begin(), numbers.end(), holds);
}

// Whether an operand is 1 where the result is larger, in its outermost or innermost dimension.
bool repeats(const Instance& i, size_t operand, bool outermost) {
  const Shape &from = i.in(operand).shape, &to = i.out();
  if (to.empty()) return false;
  return outermost ? from.front() < to.front() : from.back() < to.back();
}

constexpr Fact<Instance> kTensorFacts[] = {
    {"rank 0", [](const Instance& i) { return i.rank() == 0; }},
    {"one element", [](const Instance& i) { return elements(i.out()) == 1; }},
    {"outermost > 1", [](const Instance& i) { return !i.out().empty() && i.out().front() > 1; }},
    {"innermost > 1", [](const Instance& i) { return !i.out().empty() && i.out().back() > 1; }},
};
constexpr std::string_view kTensorBins[] = {"outermost > 1 & innermost > 1", "outermost > 1 & !innermost > 1",
                                            "!outermost > 1 & innermost > 1", "one element & !rank 0"};

constexpr Fact<Instance> kBinaryFacts[] = {
    kTensorFacts[0],
    kTensorFacts[1],
    kTensorFacts[2],
    kTensorFacts[3],
    {"first repeats outside", [](const Instance& i) { return repeats(i, 0, true); }},
    {"first repeats inside", [](const Instance& i) { return repeats(i, 0, false); }},
    {"second repeats outside", [](const Instance& i) { return repeats(i, 1, true); }},
    {"second repeats inside", [](const Instance& i) { return repeats(i, 1, false); }},
    {"second constant", [](const Instance& i) { return i.constant(1); }},
    {"second of one element", [](const Instance& i) { return elements(i.in(1).shape) == 1; }},
    {"same twice", [](const Instance& i) { return i.op.inputs[0] == i.op.inputs[1]; }},
};
constexpr std::string_view kBinaryBins[] = {
    "outermost > 1 & !innermost > 1",
    "!outermost > 1 & innermost > 1",
    "one element & !rank 0",
    "first repeats outside & second repeats inside",
    "first repeats inside & second repeats outside",
    "second repeats outside & second repeats inside",
    "second repeats inside & second constant",
    "second of one element & second constant & !one element",
    "second of one element & !second constant & !one element",
};

constexpr Fact<Instance> kRescaleFacts[] = {
    kTensorFacts[0],
    kTensorFacts[1],
    kTensorFacts[2],
    kTensorFacts[3],
    {"per channel", [](const Instance& i) { return i.op.attributes.per_channel; }},
    {"unsigned input", [](const Instance& i) { return i.op.attributes.input_unsigned; }},
    {"unsigned output", [](const Instance& i) { return i.op.attributes.output_unsigned; }},
    {"double rounding",
     [](const Instance& i) { return i.op.attributes.rounding_mode == graph::RoundingMode::kDoubleRound; }},
    {"16-bit multiplier", [](const Instance& i) { return !i.op.attributes.scale32; }},
};
constexpr std::string_view kRescaleBins[] = {"per channel & !innermost > 1", "per channel & innermost > 1",
                                             "per channel & one element", "outermost > 1 & !innermost > 1"};

constexpr Fact<Instance> kMatmulFacts[] = {
    {"batch > 1", [](const Instance& i) { return i.shape()[0] > 1; }},
    {"rows > 1", [](const Instance& i) { return i.shape()[1] > 1; }},
    {"depth > 1", [](const Instance& i) { return i.shape()[2] > 1; }},
    {"columns > 1", [](const Instance& i) { return i.in(1).shape[2] > 1; }},
    {"B transposed", [](const Instance& i) { return i.maker(1) != nullptr && i.maker(1)->op == Op::kTranspose; }},
};

constexpr Fact<Instance> kAxisFacts[] = {
    {"axis size > 1", [](const Instance& i) { return i.axis_size() > 1; }},
    {"axis outermost", [](const Instance& i) { return i.op.attributes.axis == 0; }},
    {"axis innermost", [](const Instance& i) { return i.op.attributes.axis + 1 == static_cast<int>(i.rank()); }},
    {"other sizes > 1", [](const Instance& i) { return elements(i.shape()) > i.axis_size(); }},
};

constexpr Fact<Instance> kConcatFacts[] = {
    {"axis outermost", [](const Instance& i) { return i.op.attributes.axis == 0; }},
    {"axis innermost", [](const Instance& i) { return i.op.attributes.axis + 1 == static_cast<int>(i.rank()); }},
    {"one part", [](const Instance& i) { return i.op.inputs.size() == 1; }},
    {"first part of size 1", [](const Instance& i) { return i.axis_size() == 1; }},
    {"a part twice", [](const Instance& i) { return i.op.inputs.size() > 1 && i.op.inputs[0] == i.op.inputs[1]; }},
};

constexpr Fact<Instance> kPadFacts[] = {
    {"rank > 1", [](const Instance& i) { return i.rank() > 1; }},
    {"one element", [](const Instance& i) { return elements(i.shape()) == 1; }},
    {"pads nothing", [](const Instance& i) { return i.shape() == i.out(); }},
    {"outermost", [](const Instance& i) { return i.shape().front() < i.out().front(); }},
    {"innermost", [](const Instance& i) { return i.shape().back() < i.out().back(); }},
    {"a size of 1", [](const Instance& i) { return any_of(i.shape(), [](int64_t n) { return n == 1; }); }},
};
constexpr std::string_view kPadBins[] = {"rank > 1 & one element & outermost & innermost",
                                         "pads nothing & !one element"};

constexpr Fact<Instance> kTileFacts[] = {
    {"rank > 1", [](const Instance& i) { return i.rank() > 1; }},
    {"one element", [](const Instance& i) { return elements(i.shape()) == 1; }},
    {"tiles nothing", [](const Instance& i) { return i.shape() == i.out(); }},
    {"outermost", [](const Instance& i) { return i.shape().front() < i.out().front(); }},
    {"innermost", [](const Instance& i) { return i.shape().back() < i.out().back(); }},
    {"a size of 1", [](const Instance& i) { return any_of(i.shape(), [](int64_t n) { return n == 1; }); }},
};
constexpr std::string_view kTileBins[] = {"rank > 1 & outermost & innermost",
                                          "rank > 1 & one element & outermost & innermost"};

constexpr Fact<Instance> kSliceFacts[] = {
    {"rank > 1", [](const Instance& i) { return i.rank() > 1; }},
    {"whole", [](const Instance& i) { return i.shape() == i.out(); }},
    {"to one element", [](const Instance& i) { return elements(i.out()) == 1; }},
    {"from 0", [](const Instance& i) { return !any_of(i.numbers(0), [](int64_t n) { return n > 0; }); }},
    {"outermost cut", [](const Instance& i) { return i.shape().front() > i.out().front(); }},
    {"innermost cut", [](const Instance& i) { return i.shape().back() > i.out().back(); }},
};
constexpr std::string_view kSliceBins[] = {"rank > 1 & outermost cut & innermost cut & !from 0",
                                           "rank > 1 & to one element & !whole & !from 0"};

constexpr Fact<Instance> kTransposeFacts[] = {
    {"a size of 1", [](const Instance& i) { return any_of(i.shape(), [](int64_t n) { return n == 1; }); }},
    {"outermost stays", [](const Instance& i) { return i.op.attributes.perms.front() == 0; }},
    {"innermost stays",
     [](const Instance& i) { return i.op.attributes.perms.back() + 1 == static_cast<int>(i.rank()); }},
    {"shape changes", [](const Instance& i) { return i.shape() != i.out(); }},
};
constexpr std::string_view kTransposeBins[] = {"outermost stays & innermost stays",
                                               "outermost stays & !innermost stays", "a size of 1 & shape changes"};

constexpr Fact<Instance> kReshapeFacts[] = {
    {"rank 0", [](const Instance& i) { return i.rank() == 0; }},
    {"to rank 0", [](const Instance& i) { return i.out().empty(); }},
    {"one element", [](const Instance& i) { return elements(i.out()) == 1; }},
    {"rank grows", [](const Instance& i) { return i.out().size() > i.rank(); }},
    {"rank shrinks", [](const Instance& i) { return i.out().size() < i.rank(); }},
};

constexpr Fact<Instance> kResizeFacts[] = {
    {"batch > 1", [](const Instance& i) { return i.shape()[0] > 1; }},
    {"channels > 1", [](const Instance& i) { return i.shape()[3] > 1; }},
    {"bilinear", [](const Instance& i) { return i.op.attributes.resize_mode == graph::ResizeMode::kBilinear; }},
    {"higher", [](const Instance& i) { return i.out()[1] > i.shape()[1]; }},
    {"wider", [](const Instance& i) { return i.out()[2] > i.shape()[2]; }},
    {"one pixel", [](const Instance& i) { return i.shape()[1] * i.shape()[2] == 1; }},
    {"to one pixel", [](const Instance& i) { return i.out()[1] * i.out()[2] == 1; }},
    {"before the first pixel", [](const Instance& i) { return any_of(i.numbers(1), [](int64_t n) { return n < 0; }); }},
    {"behind the last pixel", [](const Instance& i) { return any_of(i.numbers(2), [](int64_t n) { return n > 0; }); }},
};
constexpr std::string_view kResizeBins[] = {"higher & wider & bilinear",  "higher & !wider & bilinear",
                                            "!higher & wider & bilinear", "!higher & !wider & bilinear",
                                            "higher & wider & !bilinear", "!higher & !wider & !bilinear"};

constexpr Fact<Instance> kVariableFacts[] = {
    {"one element", [](const Instance& i) { return elements(i.in(0).shape) == 1; }},
};

Window window_of(const Instance& i) {
  const graph::Attributes& how = i.op.attributes;
  Window w;
  w.batch = i.shape()[0], w.height = i.shape()[1], w.width = i.shape()[2], w.channels = i.shape()[3];
  w.out_height = i.out()[1], w.out_width = i.out()[2], w.out_channels = i.out()[3];
  if (how.kernel.empty()) {
    const size_t first = i.op.op == Op::kConv2d ? 1 : 0;
    w.kernel_h = i.in(1).shape[first], w.kernel_w = i.in(1).shape[first + 1];
  } else {
    w.kernel_h = how.kernel[0], w.kernel_w = how.kernel[1];
  }
  w.stride_y = how.stride[0], w.stride_x = how.stride[1];
  if (!how.dilation.empty()) w.dilation_y = how.dilation[0], w.dilation_x = how.dilation[1];
  w.pad_top = how.pad[0], w.pad_bottom = how.pad[1], w.pad_left = how.pad[2], w.pad_right = how.pad[3];
  return w;
}

constexpr Op kBinaries[] = {Op::kAdd,
                            Op::kSub,
                            Op::kMul,
                            Op::kIntDiv,
                            Op::kMaximum,
                            Op::kMinimum,
                            Op::kBitwiseAnd,
                            Op::kBitwiseOr,
                            Op::kBitwiseXor,
                            Op::kLogicalAnd,
                            Op::kLogicalOr,
                            Op::kLogicalXor,
                            Op::kEqual,
                            Op::kGreater,
                            Op::kGreaterEqual,
                            Op::kSelect,
                            Op::kArithmeticRightShift,
                            Op::kLogicalLeftShift,
                            Op::kLogicalRightShift};
constexpr Op kUnaries[] = {Op::kAbs,   Op::kBitwiseNot, Op::kClz,  Op::kLogicalNot, Op::kNegate,
                           Op::kClamp, Op::kTable,      Op::kCast, Op::kIdentity};
constexpr Op kReductions[] = {Op::kReduceSum, Op::kReduceMax, Op::kReduceMin,
                              Op::kReduceAll, Op::kReduceAny, Op::kArgMax};
constexpr Op kRescales[] = {Op::kRescale}, kMatmuls[] = {Op::kMatMul}, kReverses[] = {Op::kReverse},
             kConcats[] = {Op::kConcat}, kPads[] = {Op::kPad}, kTiles[] = {Op::kTile}, kSlices[] = {Op::kSlice},
             kTransposes[] = {Op::kTranspose}, kReshapes[] = {Op::kReshape}, kResizes[] = {Op::kResize},
             kReads[] = {Op::kVariableRead}, kWrites[] = {Op::kVariableWrite},
             kTransposedOps[] = {Op::kTransposeConv2d}, kConv3ds[] = {Op::kConv3d};

// A family of bins: its operators, their facts, the bins that must be hit, and whether facts are paired, too.
struct Family {
  std::string_view name;
  std::span<const Op> ops;
  std::span<const Fact<Instance>> facts;
  std::span<const std::string_view> listed = {};
  bool paired = false;
};
const Family kFamilies[] = {
    {"element-wise of one", kUnaries, kTensorFacts, kTensorBins},
    {"element-wise of two or three", kBinaries, kBinaryFacts, kBinaryBins},
    {"RESCALE", kRescales, kRescaleFacts, kRescaleBins},
    {"MATMUL", kMatmuls, kMatmulFacts, {}, true},
    {"TRANSPOSE_CONV2D", kTransposedOps, kTransposedFacts, kTransposedBins},
    {"CONV3D", kConv3ds, kConv3dFacts, kConv3dBins},
    {"reductions", kReductions, kAxisFacts, {}, true},
    {"REVERSE", kReverses, kAxisFacts, {}, true},
    {"CONCAT", kConcats, kConcatFacts, {}},
    {"PAD", kPads, kPadFacts, kPadBins},
    {"TILE", kTiles, kTileFacts, kTileBins},
    {"SLICE", kSlices, kSliceFacts, kSliceBins},
    {"TRANSPOSE", kTransposes, kTransposeFacts, kTransposeBins},
    {"RESHAPE", kReshapes, kReshapeFacts},
    {"RESIZE", kResizes, kResizeFacts, kResizeBins},
    {"VARIABLE_READ", kReads, kVariableFacts},
    {"VARIABLE_WRITE", kWrites, kVariableFacts},
};
// Windows have a table of their own; a family for each operator, in front of the others.
constexpr Op kWindows[] = {Op::kConv2d, Op::kDepthwiseConv2d, Op::kMaxPool2d, Op::kAvgPool2d};
constexpr WindowKind kWindowKinds[] = {WindowKind::kConvolution, WindowKind::kDepthwise, WindowKind::kPooling,
                                       WindowKind::kPooling};

std::optional<size_t> family_index(Op op) {
  const auto window = std::find(std::begin(kWindows), std::end(kWindows), op);
  if (window != std::end(kWindows)) return window - std::begin(kWindows);
  for (size_t i = 0; i < std::size(kFamilies); ++i) {
    const auto& ops = kFamilies[i].ops;
    if (std::find(ops.begin(), ops.end(), op) != ops.end()) return std::size(kWindows) + i;
  }
  return std::nullopt;
}

// By operator: an output or a variable depends on it, and it on an input or a variable.
std::vector<bool> run_time_operators(const graph::Block& block) {
  std::vector<bool> varies(block.tensors.size()), needed(block.tensors.size()), result(block.operators.size());
  for (const graph::TensorId id : block.inputs) varies[id] = true;
  for (const graph::TensorId id : block.outputs) needed[id] = true;
  for (size_t i = 0; i < block.operators.size(); ++i) {
    const graph::Operator& op = block.operators[i];
    result[i] = op.op == Op::kVariableRead ||
                std::any_of(op.inputs.begin(), op.inputs.end(), [&](graph::TensorId id) { return varies[id]; });
    for (const graph::TensorId id : op.outputs) varies[id] = varies[id] || result[i];
  }
  for (size_t i = block.operators.size(); i-- > 0;) {
    const graph::Operator& op = block.operators[i];
    const bool used = op.op == Op::kVariableWrite ||
                      std::any_of(op.outputs.begin(), op.outputs.end(), [&](graph::TensorId id) { return needed[id]; });
    result[i] = result[i] && used;
    for (const graph::TensorId id : op.inputs) needed[id] = needed[id] || used;
  }
  return result;
}

}  // namespace

GraphBins::GraphBins() {
  for (size_t i = 0; i < std::size(kWindows); ++i) {
    families_.push_back(window_bins(std::string(name(kWindows[i])), kWindowKinds[i]));
  }
  for (const Family& family : kFamilies) {
    const std::vector<std::string_view> names = names_of(family.facts);
    const std::span<const std::string_view> paired =
        family.paired ? std::span(names) : std::span<const std::string_view>();
    families_.emplace_back(std::string(family.name), names, Listed{family.listed, paired, {}});
  }
}

void GraphBins::add(const graph::Graph& graph) {
  const graph::Block& block = graph.main();
  const std::vector<bool> counts = run_time_operators(block);
  for (size_t i = 0; i < block.operators.size(); ++i) {
    const Instance instance{block, block.operators[i]};
    const auto index = family_index(instance.op.op);
    if (!counts[i] || !index) continue;
    ++operators_[instance.op.op];
    if (*index < std::size(kWindows)) {
      families_[*index].add(window_facts(), window_of(instance));
    } else {
      families_[*index].add(kFamilies[*index - std::size(kWindows)].facts, instance);
    }
  }
}

uint64_t GraphBins::count(Op op) const {
  const auto found = operators_.find(op);
  return found == operators_.end() ? 0 : found->second;
}

const Bins& GraphBins::family(Op op) const { return families_.at(family_index(op).value()); }

std::vector<std::string> GraphBins::missed() const {
  std::vector<std::string> missed;
  for (uint32_t i = 1; i < graph::kTensorOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (family_index(op) && count(op) == 0) missed.emplace_back(name(op));
  }
  for (const Bins& family : families_) {
    const std::vector<std::string> of_family = family.missed();
    missed.insert(missed.end(), of_family.begin(), of_family.end());
  }
  return missed;
}

void GraphBins::print(std::ostream& out) const {
  for (const Bins& family : families_) family.print(out);
}

}  // namespace npu::test
