// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/ewise_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "driver/compiler/lower/ewise_lookup.h"
#include "driver/compiler/lower/ewise_rules.h"
#include "driver/compiler/lower/float_functions.h"
#include "driver/compiler/lower/registers.h"
#include "driver/compiler/lower/tensor_range.h"
#include "driver/compiler/parameter_block.h"
#include "driver/graph/element.h"
#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/micro_operations.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler {
namespace {

using contract::Uop;
using contract::UopCode;
using graph::Op;
using graph::TensorId;

constexpr int32_t kBelow = 0, kAbove = 1;  // of the micro-operation fround

class Builder : private UopSink {
 public:
  Builder(const Facts& facts, const std::function<bool(TensorId)>& stored) : facts_(facts), stored_(stored) {}

  EwiseProgram build(std::span<const size_t> ops, Lookups lookups) {
    program_.dims = squeeze(facts_.result(facts_.op(ops.front())).shape);
    ops_ = ops;
    for (size_t index : ops) add(facts_.op(index));
    if (lookups == Lookups::kUsed) use_lookups(facts_, known_, program_);
    loads_before_use(program_.uops);
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
    if (is_below_maximum(op)) known_[values_[result]] = {INT32_MIN, 0};
    if (op.op == Op::kRescale && op.attributes.output_unsigned) raw_.insert(result);
    if (stored_(result)) {
      const uint32_t operand = add_operand({EwiseOperand::Role::kResult, result, {}, {}});
      program_.uops.push_back({UopCode::kStore, 0, values_[result], operand, 0, 0});
    }
  }

  // What a softmax takes the exponential function of: an element less the largest one of its row. It is not above 0,
  // unless the difference wraps.
  bool is_below_maximum(const graph::Operator& op) const {
    if (op.op != Op::kSub || is_float(op.outputs[0])) return false;
    const auto producer = facts_.producer(op.inputs[1]);
    if (!producer || facts_.op(*producer).op != Op::kReduceMax) return false;
    const ValueRange range = tensor_range(facts_, op.inputs[0]);
    return facts_.op(*producer).inputs[0] == op.inputs[0] && range.size() <= INT32_MAX;
  }

  // A constant of equal elements that an immediate can hold.
  std::optional<int64_t> splat(TensorId id) const {
    const Constant* constant = facts_.constant(facts_.alias_root(id));
    if (constant == nullptr || !constant->uniform()) return std::nullopt;
    const int64_t value = constant->in_register(0);
    return value == static_cast<int32_t>(value) ? std::optional(value) : std::nullopt;
  }

  // min(max(x, c), c) is c whatever x is: a constant without an operand of its own.
  uint32_t constant_value(int64_t value, uint32_t seed) {
    const auto known = constants_.find(value);
    if (known != constants_.end()) return known->second;
    const auto immediate = static_cast<int32_t>(value);
    return constants_[value] = emit({UopCode::kClamp, 0, seed, 0, immediate, immediate});
  }

  uint32_t constant(uint32_t pattern, uint32_t seed) override {
    return constant_value(static_cast<int32_t>(pattern), seed);
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
    // SELECT moves values, whatever they are.
    if ((is_float(op.inputs[0]) || is_float(op.outputs[0])) && op.op != Op::kSelect) return compute_floats(op, in);
    const auto in_type = static_cast<int32_t>(*element_of(facts_.tensor(op.inputs[0]).type));
    const auto out_type = static_cast<int32_t>(*element_of(facts_.result(op).type));
    const uint32_t b = in.size() > 1 ? in[1] : 0;
    switch (op.op) {
      case Op::kMul:
        return multiply(op, in[0], b);
      case Op::kClamp:
        return clamp(op, in[0]);
      case Op::kNegate:
        return negate(op, in[0], static_cast<contract::Element>(out_type));
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

  bool is_float(TensorId id) const { return contract::is_float(*element_of(facts_.tensor(id).type)); }

  // Results are rounded to their format at once: so what is in registers is what memory would hold.
  uint32_t compute_floats(const graph::Operator& op, const std::vector<uint32_t>& in) {
    const auto format = static_cast<int32_t>(*element_of(facts_.result(op).type));
    const bool ignore_nan = op.attributes.nan_mode == graph::NanMode::kIgnore;
    switch (op.op) {
      case Op::kAdd:
        return emit({UopCode::kFadd, 0, in[0], in[1], format, 0});
      case Op::kSub:
        return emit({UopCode::kFsub, 0, in[0], in[1], format, 0});
      case Op::kMul:
        return emit({UopCode::kFmul, 0, in[0], in[1], format, 0});
      case Op::kMaximum:
        return emit({UopCode::kFmax, 0, in[0], in[1], ignore_nan ? 1 : 0, 0});
      case Op::kMinimum:
        return emit({UopCode::kFmin, 0, in[0], in[1], ignore_nan ? 1 : 0, 0});
      case Op::kEqual:
        return emit({UopCode::kFeq, 0, in[0], in[1], 0, 0});
      case Op::kGreater:
        return emit({UopCode::kFgt, 0, in[0], in[1], 0, 0});
      case Op::kGreaterEqual:
        return emit({UopCode::kFge, 0, in[0], in[1], 0, 0});
      case Op::kAbs:
        return emit({UopCode::kFabs, 0, in[0], 0, 0, 0});
      case Op::kNegate:
        return emit({UopCode::kFneg, 0, in[0], 0, 0, 0});
      case Op::kFloor:
      case Op::kCeil:
        return emit({UopCode::kFround, 0, in[0], 0, op.op == Op::kCeil ? kAbove : kBelow, 0});
      case Op::kClamp: {
        const auto [low, high] = clamp_range(op, facts_.tensor(op.inputs[0]).type);
        return emit(
            {UopCode::kFclamp, 0, in[0], ignore_nan ? 1u : 0u, static_cast<int32_t>(low), static_cast<int32_t>(high)});
      }
      case Op::kCast:
        return cast_float(op, in[0]);
      default:
        return rounded(emit_float_function(op.op, in, *this, *element_of(facts_.tensor(op.inputs[0]).type)), format);
    }
  }

  uint32_t rounded(uint32_t value, int32_t format) {
    if (format == static_cast<int32_t>(contract::Element::kF32)) return value;
    return emit({UopCode::kFcast, 0, value, 0, format, 0});
  }

  uint32_t cast_float(const graph::Operator& op, uint32_t in) {
    const auto from = *element_of(facts_.tensor(op.inputs[0]).type), to = *element_of(facts_.result(op).type);
    const auto target = static_cast<int32_t>(to);
    if (!contract::is_float(from)) return emit({UopCode::kIntToFloat, 0, in, 0, target, 0});
    if (!contract::is_float(to)) return emit({UopCode::kFloatToInt, 0, in, 0, target, 0});
    return rounded(in, target);
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

  uint32_t multiply(const graph::Operator& op, uint32_t a, uint32_t b) {
    const std::optional<int64_t> shift = facts_.scalar(op, 2);
    if (shift) return emit({UopCode::kMul, 0, a, b, static_cast<int32_t>(*shift), 0});
    // Other types have no shift but 0.
    if (facts_.tensor(op.inputs[0]).type != graph::DType::kInt32) return emit({UopCode::kMul, 0, a, b, 0, 0});
    return shifted_product(a, b, scalar(op, 2));
  }

  // (a * b) >> shift, rounded half up, for a shift that comes at run time. The product is 2^32 * high + low, where high
  // is rounded, so that low has a sign. What is above 32 bits may go: the result has 32, by the operator's conditions.
  //
  // Up to 32 it is (high << 32 - shift) + (low >> shift, rounded), since 2^32 is a multiple of 2^shift. Above, with
  // s = shift - 32, it is the floor of (high + 2^(s-1) + low / 2^32) / 2^s, whose numerator may be rounded down first:
  // that is high + (low < 0 ? -1 : 0), shifted by s and rounded. Shift amounts beyond 0 to 63 belong to the half that
  // is not chosen.
  uint32_t shifted_product(uint32_t a, uint32_t b, uint32_t shift) {
    constexpr int32_t kBits = 32;
    const uint32_t low = emit({UopCode::kMul, 0, a, b, 0, 0}), high = emit({UopCode::kMul, 0, a, b, kBits, 0});
    const uint32_t bits = constant_value(kBits, shift), sign_bit = constant_value(kBits - 1, shift);
    const auto wide = static_cast<int32_t>(contract::Element::kI48);
    const uint32_t left = emit({UopCode::kSub, 0, bits, shift, 0, 0});
    const uint32_t upper = emit({UopCode::kShl, 0, high, left, wide, 0});
    const uint32_t lower = emit({UopCode::kShrArith, 0, low, shift, 1, 0});
    const uint32_t up_to_32 = emit({UopCode::kAdd, 0, upper, lower, 0, 0});
    const uint32_t borrow = emit({UopCode::kShrArith, 0, low, sign_bit, 0, 0});
    const uint32_t floor = emit({UopCode::kAdd, 0, high, borrow, 0, 0});
    const uint32_t right = emit({UopCode::kSub, 0, shift, bits, 0, 0});
    const uint32_t above_32 = emit({UopCode::kShrArith, 0, floor, right, 1, 0});
    const uint32_t is_above = emit({UopCode::kGt, 0, shift, bits, 0, 0});
    return emit({UopCode::kSelect, 0, above_32, up_to_32, static_cast<int32_t>(is_above), 0});
  }

  uint32_t negate(const graph::Operator& op, uint32_t in, contract::Element type) {
    const std::optional<int64_t> input_zp = facts_.scalar(op, 1), output_zp = facts_.scalar(op, 2);
    const auto as_immediates = [&](int64_t input, int64_t output) {
      return emit({UopCode::kNegate, 0, in, static_cast<uint32_t>(type), static_cast<int32_t>(input),
                   static_cast<int32_t>(output)});
    };
    if (input_zp && output_zp) return as_immediates(*input_zp, *output_zp);
    // Wider types have no zero points but 0.
    if (type != contract::Element::kI8) return as_immediates(0, 0);
    const auto operand = [&](const std::optional<int64_t>& known, size_t index) {
      return known ? constant_value(*known, in) : scalar(op, index);
    };
    const uint32_t value = emit({UopCode::kSub, 0, in, operand(input_zp, 1), 0, 0});
    const uint32_t negated = emit({UopCode::kSub, 0, operand(output_zp, 2), value, 0, 0});
    const auto [low, high] = element_range(type);
    return emit({UopCode::kClamp, 0, negated, 0, static_cast<int32_t>(low), static_cast<int32_t>(high)});
  }

  // An operand of one element that is known at run time only.
  uint32_t scalar(const graph::Operator& op, size_t operand) {
    return emit({UopCode::kLoad, 0, add_operand({EwiseOperand::Role::kScalar, op.inputs[operand], {}, {}}), 0, 0, 0});
  }

  uint32_t clamp(const graph::Operator& op, uint32_t in) {
    const graph::DType type = facts_.tensor(op.inputs[0]).type;
    const auto [low, high] = clamp_range(op, type);
    const auto [type_low, type_high] = element_range(*element_of(type));
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
      const auto [low, high] = clamp_range(*clamp, facts_.result(op).type);
      operand.params.known.header.clamp_min = static_cast<int32_t>(low);
      operand.params.known.header.clamp_max = static_cast<int32_t>(high);
    }
    const int64_t entries = std::ssize(operand.params.known.entries);
    operand.bytes = static_cast<uint64_t>(bytes_of_block(entries));
    const bool per_channel = entries > 1;
    program_.innermost_fixed = program_.innermost_fixed || per_channel;
    const uint32_t block = add_operand(std::move(operand));
    const contract::RescaleImmediate how = {rescale_kind(op), per_channel, static_cast<contract::Element>(out_type),
                                            op.attributes.output_unsigned};
    return emit({UopCode::kRescale, 0, in, block, how.pack(), 0});
  }

  // Appends a micro-operation unless an equal one has been computed; returns its value.
  uint32_t emit(Uop uop) override {
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

  bool same(const EwiseOperand& a, const EwiseOperand& b) const {
    if (a.role != b.role) return false;
    switch (a.role) {
      case EwiseOperand::Role::kStream:
        return facts_.alias_root(a.tensor) == facts_.alias_root(b.tensor) && along_space(a) == along_space(b);
      case EwiseOperand::Role::kParams:
        return same_rescale(a.params, b.params);
      case EwiseOperand::Role::kScalar:
      case EwiseOperand::Role::kTable:
        return a.tensor == b.tensor;
      case EwiseOperand::Role::kEntries:
        return a.entries == b.entries;
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
  std::map<uint32_t, ValueRange> known_;  // of values that are in a smaller range than their micro-operations tell
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

EwiseProgram make_ewise_program(const Facts& facts, std::span<const size_t> ops,
                                const std::function<bool(graph::TensorId)>& stored, Lookups lookups) {
  NPU_CHECK(!ops.empty());
  return Builder(facts, stored).build(ops, lookups);
}

}  // namespace npu::compiler
