// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/operand_check.h"

#include <algorithm>

#include "driver/graph/float_format.h"
#include "driver/graph/rules.h"
#include "driver/graph/text.h"

namespace npu::graph {
namespace {

void check_count(const OperatorView& view, const char* what, std::span<const Operand> operands, size_t count) {
  const bool any_number = has_list(operands);
  // The lists of CONCAT and CONCAT_SHAPE must not be empty; others may be.
  const bool may_be_empty =
      any_number && operands.back().kind == OperandKind::kList && operands.back().slot == Slot::kNone;
  const size_t least = operands.size() - (may_be_empty ? 1 : 0);
  if (count < least || (!any_number && count > least)) {
    view.bad_argument("it has " + std::to_string(count) + " " + what + ", but needs " + std::to_string(least) +
                      (any_number ? " or more" : ""));
  }
}

void check_operand(const OperatorView& view, const Operand& operand, const Tensor& tensor, const std::string& name) {
  const bool is_shape = tensor.type == DType::kShape;
  if (is_shape != (operand.kind == OperandKind::kShape || operand.kind == OperandKind::kShapeList)) {
    view.bad_argument(name + (is_shape ? " is a shape, but must be a tensor" : " is a tensor, but must be a shape"));
  }
  if (operand.slot == Slot::kNone && operand.fixed != DType::kUnknown && tensor.type != operand.fixed) {
    view.bad_type(name + " is " + std::string(graph::name(tensor.type)) + ", but must be " +
                  std::string(graph::name(operand.fixed)));
  }
  if (operand.slot == Slot::kNone && operand.kind == OperandKind::kList) {
    return;  // any rank
  }
  const size_t rank = tensor.shape.size();
  if (rank < operand.min_rank || rank > operand.max_rank) {
    view.bad_shape(name + " has rank " + std::to_string(rank) + ", but must have " +
                   (operand.min_rank == operand.max_rank
                        ? std::to_string(operand.min_rank)
                        : std::to_string(operand.min_rank) + " to " + std::to_string(operand.max_rank)));
  }
}

void check_length(const OperatorView& view, const char* what, const std::vector<int32_t>& values, size_t length) {
  if (values.size() != length) {
    view.bad_argument(std::string(what) + " has " + std::to_string(values.size()) + " values, but needs " +
                      std::to_string(length));
  }
}

// Lengths and ranges that follow from the attribute alone or from the rank of the first input.
void check_attributes(const OperatorView& view, AttributeSet set) {
  const Attributes& a = view.attributes();
  const size_t rank = view.op().inputs.empty() ? 0 : view.shape(0).size();
  const size_t spatial = view.op().op == Op::kConv3d ? 3 : 2;
  if ((set & kHasAxis) != 0 && (a.axis < 0 || static_cast<size_t>(a.axis) >= rank)) {
    view.bad_argument("axis " + std::to_string(a.axis) + " is not one of the " + std::to_string(rank) +
                      " dimensions of " + view.input_name(0));
  }
  if ((set & kHasKernel) != 0) {
    check_length(view, "kernel", a.kernel, spatial);
  }
  if ((set & kHasStride) != 0) {
    check_length(view, "stride", a.stride, spatial);
  }
  if ((set & kHasPad) != 0) {
    check_length(view, "pad", a.pad, 2 * spatial);
  }
  if ((set & kHasDilation) != 0) {
    check_length(view, "dilation", a.dilation, spatial);
  }
  if ((set & kHasOutPad) != 0) {
    check_length(view, "out_pad", a.out_pad, 2 * spatial);
  }
  if ((set & kHasPerms) != 0) {
    check_length(view, "perms", a.perms, rank);
  }
  // Integer types ignore nan_mode.
  if ((set & kHasNanMode) != 0 && float_format(view.input(0).type) && a.nan_mode == NanMode::kUnknown) {
    view.bad_argument("nan_mode is not set");
  }
  if ((set & kHasResizeMode) != 0 && a.resize_mode == ResizeMode::kUnknown) {
    view.bad_argument("mode is not set");
  }
  if ((set & kHasRescale) != 0 && a.rounding_mode == RoundingMode::kUnknown) {
    view.bad_argument("rounding_mode is not set");
  }
}

void check_outputs(const OperatorView& view, std::span<const Operand> operands) {
  for (size_t i = 0; i < view.op().outputs.size(); ++i) {
    check_operand(view, operand_of(operands, i), view.output(i), view.output_name(i));
  }
}

void check_operands(const OperatorView& view, const OperatorInfo& entry) {
  check_count(view, "inputs", entry.inputs, view.op().inputs.size());
  check_count(view, "outputs", entry.outputs, view.op().outputs.size());
  for (size_t i = 0; i < view.op().inputs.size(); ++i) {
    check_operand(view, operand_of(entry.inputs, i), view.input(i), view.input_name(i));
  }
  static_cast<void>(match_types(view));
  check_attributes(view, entry.attributes);
}

struct SlotTypes {
  std::array<DType, 4> types{};      // kUnknown where the operator has none
  std::array<std::string, 4> where;  // the operand that gave it
};

// The types that the operator has, by slot. Operands of one slot must agree.
SlotTypes collect_types(const OperatorView& view, const OperatorInfo& entry) {
  SlotTypes result;
  auto& types = result.types;
  auto& first = result.where;
  const auto bind = [&](const Operand& operand, const Tensor& tensor, const std::string& name) {
    if (operand.slot == Slot::kNone) {
      return;
    }
    const auto slot = static_cast<size_t>(operand.slot);
    if (types[slot] == DType::kUnknown) {
      types[slot] = tensor.type;
      first[slot] = name;
    } else if (types[slot] != tensor.type) {
      view.bad_type(name + " is " + std::string(graph::name(tensor.type)) + ", but " + first[slot] + " is " +
                    std::string(graph::name(types[slot])) + ": they must have the same type");
    }
  };
  for (size_t i = 0; i < view.op().inputs.size(); ++i) {
    bind(operand_of(entry.inputs, i), view.input(i), view.input_name(i));
  }
  for (size_t i = 0; i < view.op().outputs.size(); ++i) {
    bind(operand_of(entry.outputs, i), view.output(i), view.output_name(i));
  }
  if ((entry.attributes & kHasAccType) != 0) {
    types[static_cast<size_t>(Slot::kAcc)] = view.attributes().acc_type;
    first[static_cast<size_t>(Slot::kAcc)] = "acc_type";
  }
  return result;
}

}  // namespace

const Operand& operand_of(std::span<const Operand> operands, size_t i) {
  NPU_CHECK(!operands.empty());
  return operands[std::min(i, operands.size() - 1)];
}

const TypeRow* match_types(const OperatorView& view) {
  const OperatorInfo& entry = info(view.op().op);
  if (entry.types.empty()) {
    return nullptr;
  }
  const SlotTypes collected = collect_types(view, entry);
  const auto& types = collected.types;
  const auto row = std::find_if(entry.types.begin(), entry.types.end(),
                                [&types](const TypeRow& candidate) { return candidate.types == types; });
  if (row == entry.types.end()) {
    std::string text;
    for (size_t i = 0; i < types.size(); ++i) {
      if (entry.types.front().types[i] != DType::kUnknown) {
        text += (text.empty() ? "" : ", ") + collected.where[i] + " = " + std::string(name(types[i]));
      }
    }
    view.bad_type("its data types are none that the specification lists: " + text);
  }
  return &*row;
}

bool is_of_sizes(contract::ErrorCode code, Op op, bool open_shape) {
  // A SLICE has arguments that sizes have to have room for; shapes that follow from sizes are arguments too.
  const bool of_arguments = code == contract::ErrorCode::kBadArgument || code == contract::ErrorCode::kRequireFailed;
  return code == contract::ErrorCode::kBadShape ||
         (of_arguments && (open_shape || is_shape_operator(op) || op == Op::kSlice));
}

std::vector<Dims> check_open_operator(const OperatorView& view) {
  const OperatorInfo& entry = info(view.op().op);
  check_operands(view, entry);
  return entry.rule(view);
}

std::vector<Shape> check_operator(const OperatorView& view) {
  std::vector<Shape> shapes;
  try {
    for (const Dims& dims : check_open_operator(view)) shapes.push_back(shape_of(dims));
  } catch (const NotExpressible&) {
    view.bad_shape("its sizes are too large: they do not fit into 64 bits");
  }
  return shapes;
}

void check_without_sizes(const OperatorView& view) {
  const OperatorInfo& entry = info(view.op().op);
  check_operands(view, entry);
  check_outputs(view, entry.outputs);
  check_control_without_sizes(view);
}

void check_results(const OperatorView& view, const std::vector<Shape>& shapes) {
  const OperatorInfo& entry = info(view.op().op);
  NPU_CHECK(shapes.size() == view.op().outputs.size());
  check_outputs(view, entry.outputs);
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (view.output(i).shape != shapes[i]) {
      view.bad_shape(view.output_name(i) + " has shape " + to_string(view.output(i).shape) + ", but must have " +
                     to_string(shapes[i]));
    }
  }
}

}  // namespace npu::graph
