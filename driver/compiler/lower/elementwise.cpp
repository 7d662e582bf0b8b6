// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: one VPU micro-program for a group of them.
#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/ewise_program.h"
#include "driver/compiler/lower/ewise_rules.h"
#include "driver/compiler/lower/ewise_step.h"
#include "driver/compiler/lower/families.h"
#include "driver/compiler/lower/fusion.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using contract::ErrorCode;
using graph::Op;

std::optional<Refusal> check_rescale(const Facts& facts, const graph::Operator& op) {
  const Constant* shift = facts.constant(op.inputs[2]);
  for (int64_t i = 0; shift != nullptr && i < shift->elements(); ++i) {
    if (shift->at(i) < 2 || shift->at(i) > 62) {
      return Refusal{ErrorCode::kArgumentUnsupported,
                     "its shift of " + std::to_string(shift->at(i)) + " is outside of 2 to 62",
                     "export the network with a valid scale"};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> check_mul(const Facts& facts, const graph::Operator& op) {
  if (facts.constant(op.inputs[2]) == nullptr) return std::nullopt;
  const int64_t shift = *facts.scalar(op, 2);
  const bool wide = facts.tensor(op.inputs[0]).type == graph::DType::kInt32;
  if (shift == 0 || (wide && shift > 0 && shift <= 63)) return std::nullopt;
  return Refusal{ErrorCode::kArgumentUnsupported,
                 "its shift of " + std::to_string(shift) + " is not 0" + (wide ? " to 63" : ", as its type demands"),
                 "export the network with a valid shift"};
}

std::optional<Refusal> check_elementwise(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_vpu_type(facts, op)) return refusal;
  switch (op.op) {
    case Op::kRescale:
      return check_rescale(facts, op);
    case Op::kMul:
      return check_mul(facts, op);
    default:  // the others have no values but those whose types are checked
      return std::nullopt;
  }
}

bool accepts_elementwise(const graph::Operator& op, size_t operand, const View& view) {
  if (op.op == Op::kTable && operand == 1) return is_dense(view);
  for (int64_t stride : view.strides) {
    if (stride < 0) return false;
  }
  return true;
}

// A view along the iteration space: repeated where the space is larger, without the space's dimensions of 1.
View along(const View& view, const graph::Shape& space) {
  View result = broadcast(view, space);
  size_t out = 0;
  for (size_t i = 0; i < space.size(); ++i) {
    if (space[i] == 1) continue;
    result.dims[out] = result.dims[i];
    result.strides[out] = result.strides[i];
    ++out;
  }
  result.dims.resize(out);
  result.strides.resize(out);
  return result;
}

class StepMaker {
 public:
  StepMaker(Emitter& emitter, const Group& group) : emitter_(emitter), ops_(group.ops) {}

  EwiseStep make(const EwiseProgram& program) {
    EwiseStep step;
    step.dims = program.dims;
    step.uops = program.uops;
    step.register_count = program.register_count;
    step.innermost_fixed = program.innermost_fixed;
    for (const EwiseOperand& operand : program.operands) step.operands.push_back(resolve(operand, program.dims));
    if (emitter_.emission().merges || step.dims.empty()) merge_dimensions(step);
    return step;
  }

 private:
  EwiseStep::Operand resolve(const EwiseOperand& operand, const Dims& dims) {
    const Facts& facts = emitter_.facts();
    switch (operand.role) {
      case EwiseOperand::Role::kStream:
        return {along(stream(operand.tensor), operand.space), false, false};
      case EwiseOperand::Role::kScalar: {
        View element = emitter_.read(operand.tensor);
        element.dims = dims;
        element.strides.assign(dims.size(), 0);
        return {element, false, false};
      }
      case EwiseOperand::Role::kParams:
      case EwiseOperand::Role::kTable:
      case EwiseOperand::Role::kEntries:
        return {block_of(emitter_, operand), true, false};
      case EwiseOperand::Role::kResult:
        return {along(emitter_.place(operand.tensor), facts.tensor(operand.tensor).shape), false, true};
    }
    return {};
  }

  View stream(graph::TensorId id) {
    // Any operator of the group that reads the tensor will do: all accept the same views.
    for (size_t index : ops_) {
      const graph::Operator& op = emitter_.facts().op(index);
      for (size_t k = 0; k < ewise_rule(op.op)->streams; ++k) {
        if (op.inputs[k] == id) return emitter_.read_operand(op, k);
      }
    }
    panic(__FILE__, __LINE__, "stream of no operator");
  }

  Emitter& emitter_;
  const std::vector<size_t>& ops_;
};

void emit_elementwise(Emitter& emitter, const Group& group) {
  const Facts& facts = emitter.facts();
  const auto inside = [&](size_t op) { return std::binary_search(group.ops.begin(), group.ops.end(), op); };
  const EwiseProgram program =
      make_ewise_program(facts, group.ops, [&](graph::TensorId id) { return read_outside(facts, id, inside); });
  NPU_CHECK(program.fits_command(emitter.capabilities()));
  emitter.add(StepMaker(emitter, group).make(program));
}

}  // namespace

const Family kElementwiseFamily = {Kind::kElementwise, contract::Engine::kVpu, check_elementwise, accepts_elementwise,
                                   emit_elementwise};

}  // namespace npu::compiler
