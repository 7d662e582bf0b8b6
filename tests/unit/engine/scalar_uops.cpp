// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/scalar_uops.h"

#include <algorithm>

#include "hw/contract/elements.h"
#include "hw/contract/gen/micro_operations.h"
#include "tests/unit/engine/scalar_floats.h"

namespace npu::engine::testing {

using contract::Element;
using contract::Operand;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;

namespace {

int bits_of(int64_t type) {
  switch (static_cast<Element>(type)) {
    case Element::kI8:
      return 8;
    case Element::kI16:
      return 16;
    case Element::kI48:
      return 48;
    default:
      return 32;
  }
}

// 2^shift with the six bits that hardware has.
Wide power(int64_t shift) { return Wide{1} << (shift & 63); }

int64_t logical_shift(int64_t value, int64_t shift, int bits) {
  Wide rest = Wide{value} % (Wide{1} << bits);
  if (rest < 0) rest += Wide{1} << bits;
  return wrap(rest / power(shift), bits);
}

int64_t scalar_rescale(const Uop& uop, int64_t value, const uint8_t* blob, int64_t channel) {
  const Rescale kind = static_cast<Rescale>(uop.imm0 & 0xff);
  const int64_t index = (uop.imm0 >> 8 & 1) != 0 ? channel : 0;
  const ParameterHeader header = ParameterHeader::load(blob);
  const ParameterEntry entry = ParameterEntry::load(blob + ParameterHeader::kBytes + index * 16);
  const int64_t moved = wrap(Wide{value} - header.input_zp, kind == Rescale::kSingle16 ? 48 : 32);
  return rescale(moved, kind, entry, header, static_cast<Element>(uop.imm0 >> 16 & 0xff), (uop.imm0 >> 24 & 1) != 0);
}

int64_t scalar_table16(const uint8_t* table, int64_t value) {
  const int64_t clipped = std::clamp<int64_t>(value, -32768, 32767) + 32768;
  const int64_t base = load(table + clipped / 128 * 2, Element::kI16);
  const int64_t next = load(table + clipped / 128 * 2 + 2, Element::kI16);
  return base * 128 + (next - base) * (clipped % 128);
}

}  // namespace

int64_t as_stored(int64_t value, Element type) {
  if (type == Element::kI48) return value;
  if (type == Element::kBool) return value & 0xff;
  return wrap(value, bits_of(static_cast<int64_t>(type)));
}

int64_t scalar_uop(const Uop& uop, std::array<int64_t, 3> values, const uint8_t* blob, int64_t channel) {
  const auto [a, b, third] = values;
  switch (uop.op) {
    case UopCode::kLoad:
    case UopCode::kStore:
      return a;
    case UopCode::kAdd:
      return wrap(Wide{a} + b, 32);
    case UopCode::kSub:
      return wrap(Wide{a} - b, 32);
    case UopCode::kMul:
      return uop.imm0 == 0
                 ? wrap(Wide{a} * b, 32)
                 : wrap(floor_shift(wrap(Wide{a} * wrap(b, 32) + (Wide{1} << (uop.imm0 - 1)), 64), uop.imm0), 32);
    case UopCode::kMax:
      return std::max(a, b);
    case UopCode::kMin:
      return std::min(a, b);
    case UopCode::kClamp:
      return std::min<int64_t>(std::max<int64_t>(a, uop.imm0), uop.imm1);
    case UopCode::kAbs:
      return wrap(a < 0 ? -Wide{a} : Wide{a}, 32);
    case UopCode::kNegate:
      return clip_to(wrap(Wide{uop.imm1} - (Wide{a} - uop.imm0), 64), static_cast<Element>(uop.b), false);
    case UopCode::kClz: {
      int64_t zeros = 0;
      for (int bit = 31; bit >= 0 && (static_cast<uint64_t>(a) >> bit & 1) == 0; --bit) ++zeros;
      return zeros;
    }
    case UopCode::kBitAnd:
      return a & b;
    case UopCode::kBitOr:
      return a | b;
    case UopCode::kBitXor:
      return a ^ b;
    case UopCode::kBitNot:
      return -1 - a;
    case UopCode::kShl:
      return wrap(Wide{a} % (Wide{1} << 48) * power(b) % (Wide{1} << 64), bits_of(uop.imm0));
    case UopCode::kShrLogical:
      return logical_shift(a, b, bits_of(uop.imm0));
    case UopCode::kShrArith: {
      const int shift = static_cast<int>(b & 63);
      const int64_t half = uop.imm0 != 0 && shift > 0 ? static_cast<int64_t>(power(shift - 1)) : 0;
      return static_cast<int64_t>(floor_shift(Wide{a} + half, shift));
    }
    case UopCode::kEq:
      return a == b ? 1 : 0;
    case UopCode::kGt:
      return a > b ? 1 : 0;
    case UopCode::kGe:
      return a >= b ? 1 : 0;
    case UopCode::kSelect:
      return third != 0 ? a : b;
    case UopCode::kLogicalNot:
      return a == 0 ? 1 : 0;
    case UopCode::kRescale:
      return scalar_rescale(uop, a, blob, channel);
    case UopCode::kTable8:
      return load(blob + (wrap(a, 8) + 128), Element::kI8);
    case UopCode::kTable16:
      return scalar_table16(blob, a);
    case UopCode::kTable32:
      return load(blob + 4 * std::clamp<int64_t>(a - uop.imm0, 0, 255), Element::kI32);
    case UopCode::kCast:
      if (static_cast<Element>(uop.imm0) == Element::kBool) return a != 0 ? 1 : 0;
      return wrap(a, bits_of(uop.imm0));
    case UopCode::kIntdiv:
      return wrap(b, 32) == 0 ? 0 : wrap(Wide{wrap(a, 32)} / wrap(b, 32), 32);
    default:
      return scalar::float_uop(uop, values);
  }
  return 0;
}

namespace {

int64_t loaded(const uint8_t* element, Element type, bool zero_extend) {
  if (contract::is_float(type)) return static_cast<int32_t>(scalar::widen(type, load_pattern(element, type)));
  const int64_t value = load(element, type);
  if (type == Element::kBool) return value != 0 ? 1 : 0;
  return zero_extend && element_bytes(type) < 8 ? value & ((int64_t{1} << (8 * element_bytes(type))) - 1) : value;
}

void run_scalar(EwiseCase& test) {
  const contract::VpuEwiseCommand& command = test.command;
  std::vector<uint8_t>& bytes = test.expected;
  const auto at = [&](const Operand& operand, const std::array<int64_t, 4>& index) {
    int64_t offset = operand.base.offset;
    for (size_t d = 0; d < 4; ++d) offset += index[d] * operand.stride[d];
    return bytes.data() + offset;
  };
  std::array<int64_t, 4> index{};
  for (index[0] = 0; index[0] < command.dims[0]; ++index[0]) {
    for (index[1] = 0; index[1] < command.dims[1]; ++index[1]) {
      for (index[2] = 0; index[2] < command.dims[2]; ++index[2]) {
        for (index[3] = 0; index[3] < command.dims[3]; ++index[3]) {
          std::array<int64_t, 256> regs{};
          for (const Uop& uop : command.uops) {
            if (uop.op == UopCode::kLoad) {
              const Operand& operand = command.operands[uop.a];
              regs[uop.dst] = loaded(at(operand, index), operand.type, uop.imm0 == 1);
            } else if (uop.op == UopCode::kStore) {
              const Operand& operand = command.operands[uop.b];
              const int64_t value = regs[uop.a];
              const bool floats = contract::is_float(operand.type);
              store(at(operand, index), operand.type,
                    floats ? scalar::narrow(operand.type, static_cast<uint32_t>(value)) : value);
            } else {
              const uint8_t* blob =
                  uop.b < command.operands.size() ? bytes.data() + command.operands[uop.b].base.offset : nullptr;
              const bool has_third = contract::uop_info(uop.op).imm0.role == contract::UopRole::kSource;
              const int64_t third = has_third ? regs[static_cast<size_t>(uop.imm0)] : 0;
              regs[uop.dst] = scalar_uop(uop, {regs[uop.a], regs[uop.b], third}, blob, index[3]);
            }
          }
        }
      }
    }
  }
}

}  // namespace

EwiseCase make_ewise_case(Random& random) { return make_ewise_case(cosim::random_ewise(random), random); }

EwiseCase make_ewise_case(const cosim::EwisePlan& plan, Random& random) {
  EwiseCase test;
  cosim::MadeTile<contract::VpuEwiseCommand> made = cosim::make_ewise_tile(plan, random);
  test.command = made.command;
  test.words = encode(made.command);
  test.memory = TestMemory(std::move(made.bytes));
  test.elements = plan.elements();
  test.expected = test.memory.scratchpad();
  run_scalar(test);
  return test;
}

}  // namespace npu::engine::testing
