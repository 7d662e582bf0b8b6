// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/resize_program.h"

#include <bit>
#include <map>
#include <tuple>

#include "driver/compiler/lower/fusion.h"
#include "driver/compiler/lower/registers.h"
#include "driver/compiler/lower/views.h"
#include "driver/graph/element.h"
#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "hw/contract/uop_fields.h"

namespace npu::compiler {
namespace {

using contract::Uop;
using contract::UopCode;
using graph::DType;
using graph::Op;
using Role = ResizeOperand::Role;

// A product of 32-bit values is made of those of their halves.
constexpr int32_t kHalfBits = 16, kHalfMask = 0xffff;

class ProgramMaker {
 public:
  ProgramMaker(const ResizeBlend& y, const ResizeBlend& x, ResizeSums sums) : y_(y), x_(x), sums_(sums) {}

  ResizeProgram make(const EwiseProgram* tail) {
    const uint32_t result = sums_ == ResizeSums::kFloat ? float_result() : integer_result();
    if (tail == nullptr) {
      program_.uops.push_back({UopCode::kStore, 0, result, operand({Role::kResult}), 0, 0});
    } else {
      append(*tail, result);
    }
    loads_before_use(program_.uops);
    program_.register_count = allocate_registers(program_.uops);
    return std::move(program_);
  }

 private:
  using Kind = ResizeSegment::Kind;

  uint32_t integer_result() {
    const bool wide = sums_ == ResizeSums::kWide, wide_x = wide && y_.changes_nothing();
    return blend(
        y_, Role::kWeightY, [&](bool below) { return row(below, wide_x); }, wide && !wide_x);
  }

  uint32_t float_result() {
    return float_blend(y_, Role::kWeightY, [&](bool below) {
      return float_blend(x_, Role::kWeightX, [&](bool right) { return load({Role::kPixel, below, right}); });
    });
  }

  // Parts of 1 of value(false) and value(true).
  template <typename Value>
  uint32_t float_blend(const ResizeBlend& how, Role weights, Value value) {
    constexpr auto kFormat = static_cast<int32_t>(contract::Element::kF32);
    const uint32_t a = value(false);
    if (how.kind == Kind::kCopy) return a;
    const uint32_t b = value(true);
    if (how.kind == Kind::kUneven) {
      const uint32_t w0 = load({weights});
      const uint32_t w1 = load({weights, weights == Role::kWeightY, weights == Role::kWeightX});
      const uint32_t first = emit(UopCode::kFmul, a, w0, kFormat);
      return emit(UopCode::kFma, b, w1, static_cast<int32_t>(first));
    }
    // What is added to a product alone, so that it keeps the sign of a zero.
    const int32_t negative_zero = pattern(-0.0F);
    const uint32_t first = push({UopCode::kFaffine, 0, a, 0, part(how.unit - how.weight, how.unit), negative_zero});
    return emit(UopCode::kFma, b, constant(part(how.weight, how.unit), b), static_cast<int32_t>(first));
  }

  static int32_t pattern(float value) { return std::bit_cast<int32_t>(value); }
  static int32_t part(int64_t weight, int64_t unit) { return pattern(resize_fraction(weight, unit)); }

  uint32_t row(bool below, bool wide) {
    return blend(
        x_, Role::kWeightX,
        [&](bool right) {
          return load({Role::kPixel, below, right});
        },
        wide);
  }

  // Blends value(false) with value(true), the one behind it.
  template <typename Value>
  uint32_t blend(const ResizeBlend& how, Role weights, Value value, bool wide) {
    const uint32_t a = value(false);
    if (how.kind == Kind::kCopy) return wide ? wide_sum({{a, constant(how.unit, a)}}) : times(a, how.unit);
    const uint32_t b = value(true);
    if (how.kind == Kind::kUneven) {
      const uint32_t w0 = load({weights});
      const uint32_t w1 = load({weights, weights == Role::kWeightY, weights == Role::kWeightX});
      if (wide) return wide_sum({{a, w0}, {b, w1}});
      const uint32_t first = emit(UopCode::kMul, a, w0);
      return emit(UopCode::kAdd, first, emit(UopCode::kMul, b, w1));
    }
    const int64_t rest = how.unit - how.weight;
    if (wide) return wide_sum({{a, constant(rest, a)}, {b, constant(how.weight, a)}});
    if (rest == how.weight) return times(emit(UopCode::kAdd, a, b), rest);
    const uint32_t first = times(a, rest);
    return emit(UopCode::kAdd, first, times(b, how.weight));
  }

  // Narrow products: a sum is as fast as a constant and a product, and takes no register for the constant.
  uint32_t times(uint32_t value, int64_t factor) {
    if (factor == 1) return value;
    if (factor == 2) return emit(UopCode::kAdd, value, value);
    return emit(UopCode::kMul, value, constant(factor, value));
  }

  struct Term {
    uint32_t value, weight;
  };
  // The sum of 32-bit values times 11-bit weights, in 48 bits. Lower and upper halves are summed apart, and the lower
  // ones' carry goes to the upper ones.
  uint32_t wide_sum(const std::vector<Term>& terms) {
    const uint32_t mask = constant(kHalfMask, terms[0].value);
    std::vector<uint32_t> lower, upper;
    for (const Term& t : terms) lower.push_back(emit(UopCode::kBitAnd, t.value, mask));
    for (size_t i = 0; i < terms.size(); ++i) lower[i] = emit(UopCode::kMul, lower[i], terms[i].weight);
    const uint32_t low = sum(lower);
    const uint32_t half = constant(kHalfBits, low);
    for (const Term& t : terms) upper.push_back(emit(UopCode::kShrArith, t.value, half));
    for (size_t i = 0; i < terms.size(); ++i) upper[i] = emit(UopCode::kMul, upper[i], terms[i].weight);
    const uint32_t carry = emit(UopCode::kShrArith, low, half);
    const uint32_t high = emit(UopCode::kAdd, sum(upper), carry);
    const uint32_t moved = emit(UopCode::kShl, high, half, static_cast<int32_t>(contract::Element::kI48));
    return emit(UopCode::kBitOr, moved, emit(UopCode::kBitAnd, low, mask));
  }

  uint32_t sum(const std::vector<uint32_t>& values) {
    return values.size() == 1 ? values[0] : emit(UopCode::kAdd, values[0], values[1]);
  }

  // min(max(x, c), c) is c whatever x is: a constant without an operand of its own.
  uint32_t constant(int64_t value, uint32_t seed) {
    const auto [known, fresh] = constants_.try_emplace(value, 0);
    const auto immediate = static_cast<int32_t>(value);
    if (fresh) known->second = push({UopCode::kClamp, 0, seed, 0, immediate, immediate});
    return known->second;
  }

  uint32_t load(ResizeOperand of) {
    const auto key = std::make_tuple(of.role, of.below, of.right);
    const auto [known, fresh] = loaded_.try_emplace(key, 0);
    if (fresh) known->second = push({UopCode::kLoad, 0, operand(of), 0, 0, 0});
    return known->second;
  }

  uint32_t emit(UopCode code, uint32_t a, uint32_t b, int32_t imm0 = 0) { return push({code, 0, a, b, imm0, 0}); }

  uint32_t push(Uop uop) {
    uop.dst = values_++;
    program_.uops.push_back(uop);
    return uop.dst;
  }

  uint32_t operand(ResizeOperand of) {
    program_.operands.push_back(of);
    return static_cast<uint32_t>(program_.operands.size() - 1);
  }

  // The tail's micro-operations behind this program's; `result` takes the place of its stream.
  void append(const EwiseProgram& tail, uint32_t result) {
    std::vector<Uop> uops = tail.uops;
    number_values(uops);
    std::vector<uint32_t> operands(tail.operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto role = tail.operands[i].role;
      if (role == EwiseOperand::Role::kStream) continue;
      operands[i] = operand({role == EwiseOperand::Role::kResult ? Role::kResult : Role::kTail, false, false, i});
    }
    std::map<uint32_t, uint32_t> value;  // by the tail's number
    for (Uop& uop : uops) {
      if (uop.op == UopCode::kLoad) {
        value[uop.dst] = result;
        continue;
      }
      contract::for_each_source(uop, [&](uint32_t& source) { source = value.at(source); });
      const contract::NamedOperand named = contract::operand_of(uop);
      if (named.role != contract::UopRole::kUnused) uop.b = operands[named.index];
      if (!contract::has_result(uop.op)) {
        program_.uops.push_back(uop);
        continue;
      }
      const uint32_t own = uop.dst;
      value[own] = push(uop);
    }
  }

  const ResizeBlend &y_, &x_;
  const ResizeSums sums_;
  ResizeProgram program_;
  uint32_t values_ = 0;
  std::map<int64_t, uint32_t> constants_;
  std::map<std::tuple<Role, bool, bool>, uint32_t> loaded_;
};

bool may_follow(const graph::Operator& op) {
  return op.op == Op::kClamp || op.op == Op::kCast || (op.op == Op::kRescale && !op.attributes.input_unsigned);
}

// What needs most room: weights of its own for each position.
bool tail_fits(const Facts& facts, const graph::Operator& resize, std::span<const size_t> followers,
               const contract::Capabilities& machine) {
  const EwiseProgram tail = resize_tail(facts, followers);
  const ResizeSums sums = resize_sums(facts, resize);
  const ResizeBlend uneven{ResizeSegment::Kind::kUneven, 2, 1}, same;
  return tail.fits_tables(machine) && make_resize_program(uneven, same, sums, &tail).fits(machine);
}

}  // namespace

bool ResizeProgram::fits(const contract::Capabilities& machine) const {
  return operands.size() <= contract::kMaxOperands && uops.size() <= contract::kMaxUops &&
         register_count <= machine.vpu_registers;
}

ResizeProgram make_resize_program(const ResizeBlend& y, const ResizeBlend& x, ResizeSums sums,
                                  const EwiseProgram* tail) {
  return ProgramMaker(y, x, sums).make(tail);
}

float resize_fraction(int64_t weight, int64_t unit) {
  return static_cast<float>(static_cast<double>(weight) / static_cast<double>(unit));
}

EwiseProgram resize_tail(const Facts& facts, std::span<const size_t> followers) {
  const graph::TensorId last = facts.op(followers.back()).outputs[0];
  return make_ewise_program(facts, followers, [last](graph::TensorId id) { return id == last; });
}

std::vector<size_t> resize_followers(const Facts& facts, size_t op, const contract::Capabilities& machine) {
  std::vector<size_t> followers;
  if (resize_sums(facts, facts.op(op)) == ResizeSums::kFloat) return followers;
  auto reader = only_reader(facts, facts.op(op).outputs[0]);
  for (; reader && may_follow(facts.op(*reader)); reader = only_reader(facts, facts.op(*reader).outputs[0])) {
    followers.push_back(*reader);
    if (tail_fits(facts, facts.op(op), followers, machine)) continue;
    followers.pop_back();
    break;
  }
  return followers;
}

ResizeSums resize_sums(const Facts& facts, const graph::Operator& op) {
  const DType type = facts.result(op).type;
  if (contract::is_float(*element_of(type))) return ResizeSums::kFloat;
  if (type != DType::kInt48) return ResizeSums::kNarrow;
  const Dims scale = *facts.shape_operand(op, 0);
  const bool wide = scale[0] * scale[2] > int64_t{1} << 16;  // times -2^15
  return wide ? ResizeSums::kWide : ResizeSums::kNarrow;
}

}  // namespace npu::compiler
