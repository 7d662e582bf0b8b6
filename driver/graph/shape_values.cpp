// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/shape_values.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "driver/graph/operator_view.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

struct FunctionOfOperator {
  Op op;
  SizeOperation function;
};
constexpr FunctionOfOperator kFunctions[] = {
    {Op::kAddShape, SizeOperation::kAdd},           {Op::kSubShape, SizeOperation::kSub},
    {Op::kMulShape, SizeOperation::kMul},           {Op::kExp2Shape, SizeOperation::kExp2},
    {Op::kMaxShape, SizeOperation::kMax},           {Op::kMinShape, SizeOperation::kMin},
    {Op::kLog2CeilShape, SizeOperation::kLog2Ceil}, {Op::kModShape, SizeOperation::kMod},
    {Op::kDivCeilShape, SizeOperation::kDivCeil},   {Op::kLog2FloorShape, SizeOperation::kLog2Floor},
    {Op::kDivFloorShape, SizeOperation::kDivFloor},
};

Dims operand_value(const OperatorView& op, size_t i) { return op.value(i, op.shape(i)[0]); }

std::string with_shape(const OperatorView& op, size_t i) {
  return op.input_name(i) + " is " + op.text(operand_value(op, i));
}

[[noreturn]] void undefined(const OperatorView& op, size_t index, const char* what) {
  const bool binary = op.op().inputs.size() == 2;
  op.fail(ErrorCode::kRequireFailed, with_shape(op, 0) + (binary ? " and " + with_shape(op, 1) : "") + "; at index " +
                                         std::to_string(index) + ", " + what);
}

// Of sizes of which one stays open at least.
Dim open_size(const OperatorView& op, size_t index, SizeOperation function, const Dim& a, const Dim& b) {
  switch (function) {
    case SizeOperation::kAdd:
      return a + b;
    case SizeOperation::kSub:
      return a - b;
    case SizeOperation::kMul:
      return a * b;
    default:
      break;
  }
  const Dim value = Dim::call(function, a, b);
  if (!op.defined(value)) undefined(op, index, "the result is not defined");
  const bool rounds_down = function == SizeOperation::kDivFloor && b.is_number() && *b.number() >= 1;
  return rounds_down ? a.floor_quotient(*b.number()) : value;
}

Dims size_by_size(const OperatorView& op, SizeOperation function) {
  const Dims a = operand_value(op, 0), b = is_unary(function) ? a : operand_value(op, 1);
  Dims values;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_number() || !b[i].is_number()) {
      values.push_back(open_size(op, i, function, a[i], is_unary(function) ? Dim(0) : b[i]));
      continue;
    }
    const SizeResult result = apply(function, *a[i].number(), *b[i].number());
    if (result.undefined != nullptr) undefined(op, i, result.undefined);
    values.emplace_back(result.value);
  }
  return values;
}

Dims concatenated_shapes(const OperatorView& op) {
  Dims values;
  for (size_t i = 0; i < op.op().inputs.size(); ++i) {
    const Dims part = operand_value(op, i);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

Dims sliced_shape(const OperatorView& op) {
  const Dims whole = operand_value(op, 0);
  const auto first = whole.begin() + op.required_constant(1, 1)[0];
  return {first, first + op.required_constant(2, 1)[0]};
}

}  // namespace

void require_equal_shapes(const OperatorView& op) {
  const bool may_broadcast = op.attributes().allow_broadcast;
  const Dims a = operand_value(op, 0), b = operand_value(op, 1);
  bool equal = true;
  for (size_t i = 0; equal && i < a.size(); ++i) {
    if (may_broadcast && (a[i] == Dim(1) || b[i] == Dim(1) || a[i] == b[i])) continue;
    // Either is 1, or they are equal: no condition says that.
    if (may_broadcast && !(a[i].is_number() && b[i].is_number())) {
      throw NotExpressible("whether a size is 1, which broadcasts, depends on sizes that the file leaves open");
    }
    equal = op.equal(a[i], b[i]);
  }
  if (equal) return;
  op.bad_argument(with_shape(op, 0) + " and " + with_shape(op, 1) + "; they must be equal" +
                  (may_broadcast ? ", but for sizes of 1, which broadcast" : ""));
}

Dims shape_value(const OperatorView& op) {
  switch (op.op().op) {
    case Op::kDim:
      return {op.dims(0)[static_cast<size_t>(op.attributes().axis)]};
    case Op::kConcatShape:
      return concatenated_shapes(op);
    case Op::kSliceShape:
      return sliced_shape(op);
    case Op::kAssertEqualShape:
      return {};
    default:
      break;
  }
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const FunctionOfOperator& entry) { return entry.op == op.op().op; });
  NPU_CHECK(found != std::end(kFunctions));
  return size_by_size(op, found->function);
}

}  // namespace npu::graph
