// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/families.h"

#include <array>

#include "driver/graph/element.h"
#include "driver/graph/float_format.h"
#include "hw/contract/elements.h"

namespace npu::compiler {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::Op;

struct Entry {
  Op op;
  const Family* family;
};

// Every operator that runs, in the order of its number.
constexpr std::array<Entry, graph::kTensorOpCount> kTable = {{
    {Op::kUnknown, &kUnsupportedFamily},
    {Op::kArgMax, &kReduceFamily},
    {Op::kAvgPool2d, &kPoolFamily},
    {Op::kConv2d, &kConvFamily},
    {Op::kConv3d, &kConv3dFamily},
    {Op::kDepthwiseConv2d, &kConvFamily},
    {Op::kFft2d, &kFourierFamily},
    {Op::kMatMul, &kMatmulFamily},
    {Op::kMaxPool2d, &kPoolFamily},
    {Op::kRfft2d, &kFourierFamily},
    {Op::kTransposeConv2d, &kTransposeConvFamily},
    {Op::kClamp, &kElementwiseFamily},
    {Op::kErf, &kElementwiseFamily},
    {Op::kSigmoid, &kElementwiseFamily},
    {Op::kTanh, &kElementwiseFamily},
    {Op::kAdd, &kElementwiseFamily},
    {Op::kArithmeticRightShift, &kElementwiseFamily},
    {Op::kBitwiseAnd, &kElementwiseFamily},
    {Op::kBitwiseOr, &kElementwiseFamily},
    {Op::kBitwiseXor, &kElementwiseFamily},
    {Op::kIntDiv, &kElementwiseFamily},
    {Op::kLogicalAnd, &kElementwiseFamily},
    {Op::kLogicalLeftShift, &kElementwiseFamily},
    {Op::kLogicalRightShift, &kElementwiseFamily},
    {Op::kLogicalOr, &kElementwiseFamily},
    {Op::kLogicalXor, &kElementwiseFamily},
    {Op::kMaximum, &kElementwiseFamily},
    {Op::kMinimum, &kElementwiseFamily},
    {Op::kMul, &kElementwiseFamily},
    {Op::kPow, &kElementwiseFamily},
    {Op::kSub, &kElementwiseFamily},
    {Op::kTable, &kElementwiseFamily},
    {Op::kAbs, &kElementwiseFamily},
    {Op::kBitwiseNot, &kElementwiseFamily},
    {Op::kCeil, &kElementwiseFamily},
    {Op::kClz, &kElementwiseFamily},
    {Op::kCos, &kElementwiseFamily},
    {Op::kExp, &kElementwiseFamily},
    {Op::kFloor, &kElementwiseFamily},
    {Op::kLog, &kElementwiseFamily},
    {Op::kLogicalNot, &kElementwiseFamily},
    {Op::kNegate, &kElementwiseFamily},
    {Op::kReciprocal, &kElementwiseFamily},
    {Op::kRsqrt, &kElementwiseFamily},
    {Op::kSin, &kElementwiseFamily},
    {Op::kSelect, &kElementwiseFamily},
    {Op::kEqual, &kElementwiseFamily},
    {Op::kGreater, &kElementwiseFamily},
    {Op::kGreaterEqual, &kElementwiseFamily},
    {Op::kReduceAll, &kReduceFamily},
    {Op::kReduceAny, &kReduceFamily},
    {Op::kReduceMax, &kReduceFamily},
    {Op::kReduceMin, &kReduceFamily},
    {Op::kReduceProduct, &kReduceFamily},
    {Op::kReduceSum, &kReduceFamily},
    {Op::kConcat, &kConcatFamily},
    {Op::kPad, &kPadFamily},
    {Op::kReshape, &kViewFamily},
    {Op::kReverse, &kViewFamily},
    {Op::kSlice, &kViewFamily},
    {Op::kTile, &kTileFamily},
    {Op::kTranspose, &kViewFamily},
    {Op::kGather, &kGatherFamily},
    {Op::kScatter, &kScatterFamily},
    {Op::kResize, &kResizeFamily},
    {Op::kCast, &kElementwiseFamily},
    {Op::kRescale, &kElementwiseFamily},
    {Op::kConst, &kConstantFamily},
    {Op::kIdentity, &kViewFamily},
    {Op::kCustom, &kUnsupportedFamily},
    {Op::kCondIf, &kCondIfFamily},
    {Op::kWhileLoop, &kWhileLoopFamily},
    {Op::kVariable, &kDeclareFamily},
    {Op::kVariableWrite, &kWriteFamily},
    {Op::kVariableRead, &kReadFamily},
    {Op::kConstShape, &kConstantFamily},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<size_t>(kTable[i].op) != i) return false;
  }
  return true;
}
static_assert(in_order(), "an operator is missing or out of place");

std::optional<Refusal> refuse_always(const Facts&, const graph::Operator& op) {
  return Refusal{ErrorCode::kOperatorUnsupported, "no engine of the device runs " + std::string(graph::name(op.op)),
                 "express it with operators of TOSA"};
}

std::optional<Refusal> accept_always(const Facts&, const graph::Operator&) { return std::nullopt; }

}  // namespace

const Family kUnsupportedFamily = {Kind::kUnsupported, std::nullopt, refuse_always, nullptr, nullptr};
const Family kConstantFamily = {Kind::kConstant, std::nullopt, accept_always, nullptr, nullptr};

std::string_view runs_on(const Family& family) {
  return family.kind == Kind::kControl ? kSequencer : runs_on(family.engine);
}

const Family& family_of(Op op) { return *kTable.at(static_cast<size_t>(op)).family; }

std::optional<Refusal> refuse_types(const Facts& facts, const graph::Operator& op) {
  const auto refuse = [&](graph::TensorId id) -> std::optional<Refusal> {
    const DType type = facts.tensor(id).type;
    if (type == DType::kShape) return std::nullopt;
    if (facts.tensor(id).variable && op.op != Op::kVariableRead && op.op != Op::kVariableWrite) {
      return Refusal{ErrorCode::kArgumentUnsupported, "it names the variable '" + facts.tensor(id).name + "' itself",
                     "read it with VARIABLE_READ"};
    }
    if (element_of(type)) return std::nullopt;
    return Refusal{ErrorCode::kTypeUnsupported,
                   std::string(graph::name(type)) + " is no type that the device computes with",
                   "quantise the network to int8 or int16 activations"};
  };
  for (graph::TensorId id : op.inputs) {
    if (auto refusal = refuse(id)) return refusal;
  }
  for (graph::TensorId id : op.outputs) {
    if (auto refusal = refuse(id)) return refusal;
  }
  return std::nullopt;
}

namespace {

bool is_float(const Facts& facts, graph::TensorId id) { return graph::float_format(facts.tensor(id).type).has_value(); }

// The way out where a machine lacks a capability of floating point.
std::string without_floats(std::string_view capability) {
  return "quantise the network to int8 or int16 activations, take a machine that has " + std::string(capability) +
         ", such as server, or run the network with `npu reference`";
}

// The capability that says in how many cycles the MXU takes a format.
std::string_view cycles_of(DType type) {
  switch (type) {
    case DType::kFp32:
      return "mxu_fp32_cycles";
    case DType::kFp16:
      return "mxu_fp16_cycles";
    case DType::kBf16:
      return "mxu_bf16_cycles";
    default:
      return "mxu_fp8_cycles";
  }
}

}  // namespace

std::optional<Refusal> refuse_vpu_type(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_types(facts, op)) return refusal;
  if (facts.machine().vpu_float != 0) return std::nullopt;
  for (const std::vector<graph::TensorId>* operands : {&op.inputs, &op.outputs}) {
    for (const graph::TensorId id : *operands) {
      if (!is_float(facts, id)) continue;
      return Refusal{ErrorCode::kTypeUnsupported,
                     "the VPU of this machine takes no " + std::string(graph::name(facts.tensor(id).type)) +
                         " (its vpu_float is 0)",
                     without_floats("vpu_float")};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_mxu_type(const Facts& facts, const graph::Operator& op) {
  const DType type = facts.tensor(op.inputs[0]).type;
  if (is_float(facts, op.inputs[0])) {
    if (contract::mxu_float_cycles(*element_of(type), facts.machine()) != 0) return std::nullopt;
    const auto key = std::string(cycles_of(type));
    const contract::Capabilities& machine = facts.machine();
    const bool promotes = machine.vpu_float != 0 && machine.mxu_fp32_cycles != 0;
    return Refusal{ErrorCode::kTypeUnsupported,
                   "the MXU of this machine takes no " + std::string(graph::name(type)) + " (its " + key + " is 0)",
                   (promotes ? "compute it in FP32 with --promote fp32, " : "") + without_floats(key)};
  }
  if (type != DType::kInt16 || facts.machine().mxu_int16 != 0) return std::nullopt;
  return Refusal{ErrorCode::kTypeUnsupported, "the MXU of this machine takes no INT16 (its mxu_int16 is 0)",
                 "quantise the activations to int8, or take a machine with mxu_int16: 1"};
}

std::optional<Refusal> refuse_run_time_shapes(const Facts& facts, const graph::Operator& op) {
  for (graph::TensorId id : op.inputs) {
    if (facts.tensor(id).type == DType::kShape && facts.constant(id) == nullptr) {
      return Refusal{ErrorCode::kArgumentUnsupported, "its shape operands must be constants",
                     "resolve the shapes before compiling"};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_above(std::string_view what, int64_t value, int64_t limit) {
  if (value <= limit) return std::nullopt;
  return Refusal{ErrorCode::kArgumentUnsupported,
                 "its " + std::string(what) + " of " + std::to_string(value) + " is above the device's limit of " +
                     std::to_string(limit),
                 "make it smaller, or run the network with `npu reference`"};
}

std::optional<Refusal> refuse_window(const graph::Operator& op, std::span<const int64_t> kernel) {
  const auto check = [](std::string_view what, const auto& values, int64_t limit) {
    std::optional<Refusal> refusal;
    for (const int64_t value : values) {
      if (!refusal) refusal = refuse_above(what, value, limit);
    }
    return refusal;
  };
  if (auto refusal = check("kernel", kernel, kMostKernel)) return refusal;
  if (auto refusal = check("stride", op.attributes.stride, kMostStride)) return refusal;
  if (auto refusal = check("dilation", op.attributes.dilation, kMostDilation)) return refusal;
  return check("padding", op.attributes.pad, kMostPadding);
}

}  // namespace npu::compiler
