// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/ewise_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "driver/compiler/lower/ewise_rules.h"
#include "driver/compiler/lower/registers.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/micro_operations.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler {
namespace {

using contract::Uop;
using contract::UopCode;
using graph::Op;
using graph::TensorId;

class Builder {
 public:
  Builder(const Facts& facts, const std::function<bool(TensorId)>& stored) : facts_(facts), stored_(stored) {}

  EwiseProgram build(std::span<const size_t> ops) {
    program_.dims = squeeze(facts_.result(facts_.op(ops.front())).shape);
    ops_ = ops;
    for (size_t index : ops) add(facts_.op(index));
    program_.register_count = allocate_registers(program_.uops);
    return std::move(program_);
  }

 private:
  void add(const graph::Operator& op) {
    const EwiseRule& rule = *ewise_rule(op.op);
    // Constants take their register from a sibling's, so the others come first.
    std::vector<uint32_t> in(rule.streams);
    std::optional<uint32_t> seed;
    for (size_t pass = 0; pass < 2; ++pass) {
      for (size_t k = 0; k < rule.streams; ++k) {
        const bool constant = splat(op.inputs[k]).has_value();
        if (constant == (pass == 0)) continue;
        in[k] = constant && seed ? constant_value(*splat(op.inputs[k]), *seed) : value(op, k);
        seed = in[k];
      }
    }
    const TensorId result = op.outputs[0];
    values_[result] = compute(op, rule, in);
    if (op.op == Op::kRescale && op.attributes.output_unsigned) raw_.insert(result);
    if (stored_(result)) {
      const uint32_t operand = add_operand({EwiseOperand::Role::kResult, result, {}, {}});
      program_.uops.push_back({UopCode::kStore, 0, values_[result], operand, 0, 0});
    }
  }

  // A constant of equal elements that an immediate can hold.
  std::optional<int64_t> splat(TensorId id) const {
    const Constant* constant = facts_.constant(facts_.alias_root(id));
    const std::optional<int64_t> value = constant ? constant->splat() : std::nullopt;
    return value && *value == static_cast<int32_t>(*value) ? value : std::nullopt;
  }

  // min(max(x, c), c) is c whatever x is: a constant without an operand of its own.
  uint32_t constant_value(int64_t value, uint32_t seed) {
    const auto known = constants_.find(value);
    if (known != constants_.end()) return known->second;
    const auto immediate = static_cast<int32_t>(value);
    return constants_[value] = emit({UopCode::kClamp, 0, seed, 0, immediate, immediate});
  }

  uint32_t value(const graph::Operator& op, size_t operand) {
    const TensorId root = facts_.alias_root(op.inputs[operand]);
    const bool zero_extend = op.op == Op::kRescale && op.attributes.input_unsigned;
    const auto type = *element_of(facts_.tensor(root).type);
    const auto found = values_.find(root);
    if (found == values_.end()) return load(op, operand, zero_extend);
    uint32_t reg = found->second;
    if (zero_extend) {
      const int32_t mask = type == contract::Element::kI8 ? 0xff : 0xffff;
      return emit({UopCode::kBitAnd, 0, reg, constant_value(mask, reg), 0, 0});
    }
    // An unsigned result lies above the signed range; the readers of the tensor see its bits as signed.
    if (raw_.count(root) != 0) reg = emit({UopCode::kCast, 0, reg, 0, static_cast<int32_t>(type), 0});
    return reg;
  }

  uint32_t load(const graph::Operator& op, size_t operand, bool zero_extend) {
    const uint32_t index = add_operand({EwiseOperand::Role::kStream, op.inputs[operand], facts_.result(op).shape, {}});
    return emit({UopCode::kLoad, 0, index, 0, zero_extend ? 1 : 0, 0});
  }

  uint32_t compute(const graph::Operator& op, const EwiseRule& rule, const std::vector<uint32_t>& in) {
    const auto in_type = static_cast<int32_t>(*element_of(facts_.tensor(op.inputs[0]).type));
    const auto out_type = static_cast<int32_t>(*element_of(facts_.result(op).type));
    const uint32_t b = in.size() > 1 ? in[1] : 0;
    switch (op.op) {
      case Op::kMul:
        return emit({rule.code, 0, in[0], b, static_cast<int32_t>(*facts_.scalar(op, 2)), 0});
      case Op::kClamp:
        return clamp(op, in[0], static_cast<contract::Element>(in_type));
      case Op::kNegate:
        return emit({rule.code, 0, in[0], static_cast<uint32_t>(out_type), static_cast<int32_t>(*facts_.scalar(op, 1)),
                     static_cast<int32_t>(*facts_.scalar(op, 2))});
      case Op::kLogicalLeftShift:
      case Op::kLogicalRightShift:
        return emit({rule.code, 0, in[0], b, out_type, 0});
      case Op::kArithmeticRightShift:
        return emit({rule.code, 0, in[0], b, op.attributes.round ? 1 : 0, 0});
      case Op::kSelect:
        return emit({rule.code, 0, in[1], in[2], static_cast<int32_t>(in[0]), 0});
      case Op::kRescale:
        return rescale(op, in[0], out_type);
      case Op::kTable: {
        const bool wide = in_type == static_cast<int32_t>(contract::Element::kI16);
        EwiseOperand entries{EwiseOperand::Role::kTable, op.inputs[1], {}, {}};
        entries.bytes = static_cast<uint64_t>(facts_.tensor(op.inputs[1]).shape[0]) *
                        contract::element_bytes(*element_of(facts_.tensor(op.inputs[1]).type));
        const uint32_t table = add_operand(std::move(entries));
        return emit({wide ? UopCode::kTable16 : UopCode::kTable8, 0, in[0], table, 0, 0});
      }
      case Op::kCast:
        return cast(op, in[0], out_type);
      default:
        return plain(rule, in);
    }
  }

  // A micro-operation that needs nothing but the streams.
  uint32_t plain(const EwiseRule& rule, const std::vector<uint32_t>& in) {
    const contract::UopInfo& info = contract::uop_info(rule.code);
    const bool two = in.size() > 1;
    NPU_CHECK(in.size() <= 2 && info.a.role == contract::UopRole::kSource &&
              info.b.role == (two ? contract::UopRole::kSource : contract::UopRole::kUnused) &&
              info.imm0.role == contract::UopRole::kUnused && info.imm1.role == contract::UopRole::kUnused);
    return emit({rule.code, 0, in[0], two ? in[1] : 0, 0, 0});
  }

  uint32_t clamp(const graph::Operator& op, uint32_t in, contract::Element type) {
    const auto [low, high] = clamp_range(op, type);
    const auto [type_low, type_high] = element_range(type);
    const auto producer = facts_.producer(op.inputs[0]);
    const bool done = producer && inside(*producer) && clamp_after(facts_.op(*producer)) == &op;
    if (done || (low <= type_low && high >= type_high)) return in;
    return emit({UopCode::kClamp, 0, in, 0, static_cast<int32_t>(low), static_cast<int32_t>(high)});
  }

  uint32_t cast(const graph::Operator& op, uint32_t in, int32_t to) {
    const auto from = *element_of(facts_.tensor(op.inputs[0]).type);
    const auto target = static_cast<contract::Element>(to);
    // A register holds the value itself, so widening changes nothing.
    if (target != contract::Element::kBool &&
        (from == contract::Element::kBool || contract::element_bytes(target) >= contract::element_bytes(from))) {
      return in;
    }
    return emit({UopCode::kCast, 0, in, 0, to, 0});
  }

  bool inside(size_t op) const { return std::binary_search(ops_.begin(), ops_.end(), op); }

  // The CLAMP of the group that alone reads a RESCALE's result: the parameter block holds its limits.
  const graph::Operator* clamp_after(const graph::Operator& op) const {
    if (op.op != Op::kRescale || op.attributes.output_unsigned) return nullptr;
    const TensorId result = op.outputs[0];
    if (facts_.is_output(result) || facts_.uses(result).size() != 1) return nullptr;
    const size_t reader = facts_.uses(result)[0].op;
    return inside(reader) && facts_.op(reader).op == Op::kClamp ? &facts_.op(reader) : nullptr;
  }

  uint32_t rescale(const graph::Operator& op, uint32_t in, int32_t out_type) {
    EwiseOperand operand{EwiseOperand::Role::kParams, 0, {}, rescale_params(facts_, op)};
    if (const graph::Operator* clamp = clamp_after(op)) {
      const auto [low, high] = clamp_range(*clamp, static_cast<contract::Element>(out_type));
      operand.params.header.clamp_min = static_cast<int32_t>(low);
      operand.params.header.clamp_max = static_cast<int32_t>(high);
    }
    operand.bytes =
        contract::ParameterHeader::kBytes + operand.params.entries.size() * contract::ParameterEntry::kBytes;
    const bool per_channel = operand.params.entries.size() > 1;
    program_.innermost_fixed = program_.innermost_fixed || per_channel;
    const uint32_t block = add_operand(std::move(operand));
    const contract::RescaleImmediate how = {rescale_kind(op), per_channel, static_cast<contract::Element>(out_type),
                                            op.attributes.output_unsigned};
    return emit({UopCode::kRescale, 0, in, block, how.pack(), 0});
  }

  // Appends a micro-operation unless an equal one has been computed; returns its value.
  uint32_t emit(Uop uop) {
    const auto key = std::make_tuple(uop.op, uop.a, uop.b, uop.imm0, uop.imm1);
    const auto known = computed_.find(key);
    if (known != computed_.end()) return known->second;
    uop.dst = next_value_++;
    computed_[key] = uop.dst;
    program_.uops.push_back(uop);
    return uop.dst;
  }

  uint32_t add_operand(EwiseOperand operand) {
    for (uint32_t i = 0; i < program_.operands.size(); ++i) {
      if (same(program_.operands[i], operand)) return i;
    }
    program_.operands.push_back(std::move(operand));
    return static_cast<uint32_t>(program_.operands.size() - 1);
  }

  // Dimensions of a stream along the iteration space, 1 where it repeats.
  Dims along_space(const EwiseOperand& stream) const {
    Dims dims;
    const graph::Shape& shape = facts_.tensor(stream.tensor).shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (stream.space[i] != 1) dims.push_back(shape[i]);
    }
    return dims;
  }

  static bool equal_params(const Params& a, const Params& b) {
    const auto fields = [](const contract::ParameterHeader& h) {
      return std::make_tuple(h.input_zp, h.output_zp, h.clamp_min, h.clamp_max);
    };
    if (a.entries.size() != b.entries.size() || fields(a.header) != fields(b.header)) return false;
    return std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(),
                      [](const auto& x, const auto& y) { return x.multiplier == y.multiplier && x.shift == y.shift; });
  }

  bool same(const EwiseOperand& a, const EwiseOperand& b) const {
    if (a.role != b.role) return false;
    switch (a.role) {
      case EwiseOperand::Role::kStream:
        return facts_.alias_root(a.tensor) == facts_.alias_root(b.tensor) && along_space(a) == along_space(b);
      case EwiseOperand::Role::kParams:
        return equal_params(a.params, b.params);
      case EwiseOperand::Role::kTable:
        return a.tensor == b.tensor;
      case EwiseOperand::Role::kResult:
        return false;
    }
    return false;
  }

  const Facts& facts_;
  const std::function<bool(TensorId)>& stored_;
  EwiseProgram program_;
  std::span<const size_t> ops_;
  uint32_t next_value_ = 0;
  std::map<TensorId, uint32_t> values_;  // results by tensor
  std::set<TensorId> raw_;               // unsigned results, not yet sign-extended
  std::map<int64_t, uint32_t> constants_;
  std::map<std::tuple<UopCode, uint32_t, uint32_t, int32_t, int32_t>, uint32_t> computed_;
};

}  // namespace

bool EwiseProgram::fits_command(const contract::Capabilities& machine) const {
  return operands.size() <= contract::kMaxOperands && uops.size() <= contract::kMaxUops &&
         register_count <= machine.vpu_registers;
}

bool EwiseProgram::fits_tables(const contract::Capabilities& machine) const {
  uint64_t rows = 0;
  for (const EwiseOperand& operand : operands) rows += timing::table_rows_of(operand.bytes, machine);
  return rows <= timing::table_rows(machine);
}

contract::Rescale rescale_kind(const graph::Operator& op) {
  if (!op.attributes.scale32) return contract::Rescale::kSingle16;
  return op.attributes.rounding_mode == graph::RoundingMode::kDoubleRound ? contract::Rescale::kDouble32
                                                                          : contract::Rescale::kSingle32;
}

Params rescale_params(const Facts& facts, const graph::Operator& op) {
  // A zero point of an unsigned tensor is stored in the bits of the signed type.
  const auto zero_point = [&](size_t operand, bool is_unsigned) {
    const int64_t value = *facts.scalar(op, operand);
    if (!is_unsigned) return static_cast<int32_t>(value);
    return facts.tensor(op.inputs[operand]).type == graph::DType::kInt8 ? static_cast<uint8_t>(value)
                                                                        : static_cast<uint16_t>(value);
  };
  Params params;
  params.header.input_zp = zero_point(3, op.attributes.input_unsigned);
  params.header.output_zp = zero_point(4, op.attributes.output_unsigned);
  params.header.clamp_min = INT32_MIN;
  params.header.clamp_max = INT32_MAX;
  const Constant &multiplier = *facts.constant(op.inputs[1]), &shift = *facts.constant(op.inputs[2]);
  const int64_t count = op.attributes.per_channel ? multiplier.elements() : 1;
  for (int64_t i = 0; i < count; ++i) {
    params.entries.push_back({0, static_cast<int32_t>(multiplier.at(i)), static_cast<int32_t>(shift.at(i))});
  }
  return params;
}

EwiseProgram make_ewise_program(const Facts& facts, std::span<const size_t> ops,
                                const std::function<bool(graph::TensorId)>& stored) {
  NPU_CHECK(!ops.empty());
  return Builder(facts, stored).build(ops);
}

}  // namespace npu::compiler
