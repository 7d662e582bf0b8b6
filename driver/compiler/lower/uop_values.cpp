// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/uop_values.h"

#include <algorithm>
#include <bit>

#include "hw/contract/error.h"
#include "hw/contract/gen/micro_operations.h"

namespace npu::compiler {
namespace {

using contract::Element;
using contract::Rescale;
using contract::RescaleImmediate;
using contract::Uop;
using contract::UopCode;

constexpr ValueRange kInt32 = {INT32_MIN, INT32_MAX};
constexpr int64_t kWide = int64_t{1} << 47;

int64_t bits_of(int64_t type) { return 8 * int64_t{contract::element_bytes(static_cast<Element>(type))}; }

// The low bits, sign-extended.
int64_t keep(uint64_t value, int64_t bits) {
  const auto gone = static_cast<uint32_t>(64 - bits);
  return static_cast<int64_t>(value << gone) >> gone;
}
int64_t keep32(uint64_t value) { return keep(value, 32); }

int64_t kept(int64_t value, int64_t type) {
  if (static_cast<Element>(type) == Element::kBool) return value != 0 ? 1 : 0;
  return keep(static_cast<uint64_t>(value), static_cast<Element>(type) == Element::kI48 ? 48 : bits_of(type));
}

uint64_t mask_of(int64_t type) {
  const int64_t bits = static_cast<Element>(type) == Element::kI48 ? 48 : bits_of(type);
  return (uint64_t{1} << bits) - 1;
}

ValueRange signed_range(Element type) {
  if (type == Element::kBool) return {0, 1};
  if (type == Element::kI48) return {-kWide, kWide - 1};
  const int64_t half = int64_t{1} << (bits_of(static_cast<int64_t>(type)) - 1);
  return {-half, half - 1};
}

ValueRange result_range(const RescaleImmediate& how) {
  const ValueRange range = signed_range(how.type);
  return how.output_unsigned ? ValueRange{0, range.high - range.low} : range;
}

int64_t limited(int64_t value, const ValueRange& range) { return std::clamp(value, range.low, range.high); }

// What a RESCALE multiplies, and its product scaled.
int64_t scale(int64_t value, const Params& params, Rescale kind) {
  const contract::ParameterEntry& entry = params.entries[0];
  return rescale_value(value, entry.multiplier, entry.shift, kind != Rescale::kSingle16, kind == Rescale::kDouble32);
}

int64_t rescaled(int64_t value, const Params& params, Rescale kind, const ValueRange& type) {
  const contract::ParameterHeader& header = params.header;
  const auto moved = static_cast<uint64_t>(value) - static_cast<uint64_t>(int64_t{header.input_zp});
  const int64_t scaled = scale(keep(moved, kind == Rescale::kSingle16 ? 48 : 32), params, kind);
  const int64_t result = keep32(static_cast<uint64_t>(scaled) + static_cast<uint64_t>(int64_t{header.output_zp}));
  const int64_t clipped = limited(result, type);
  return std::min<int64_t>(std::max<int64_t>(clipped, header.clamp_min), header.clamp_max);
}

// TABLE of INT16: 512 intervals of 128 values.
int64_t interpolated(const Constant& table, int64_t value) {
  const int64_t clipped = std::clamp<int64_t>(value, INT16_MIN, INT16_MAX) - INT16_MIN;
  const int64_t base = table.at(clipped >> 7), next = table.at((clipped >> 7) + 1);
  return base * 128 + (next - base) * (clipped & 127);
}

int64_t quotient(int64_t a, int64_t b) { return b == 0 ? 0 : keep32(static_cast<uint64_t>(a / b)); }

int64_t shifted_right(int64_t value, int64_t shift, bool round) {
  const int64_t last = shift == 0 || !round ? 0 : (value >> (shift - 1)) & 1;
  return (value >> shift) + last;
}

}  // namespace

bool is_known(const Uop& uop, const KnownBlock& block) {
  if (contract::uop_info(uop.op).floats) return false;
  switch (uop.op) {
    case UopCode::kLoad:
    case UopCode::kStore:
    case UopCode::kTable32:  // which the compiler makes of what is known
      return false;
    case UopCode::kRescale:
      return block.params != nullptr && !RescaleImmediate::unpack(uop.imm0).per_channel;
    case UopCode::kTable8:
    case UopCode::kTable16:
      return block.table != nullptr;
    default:
      return true;
  }
}

int64_t uop_value(const Uop& uop, const UopSources& sources, const KnownBlock& block) {
  const auto [a, b, c] = sources;
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const int64_t shift = b & 63;
  switch (uop.op) {
    case UopCode::kAdd:
      return keep32(ua + ub);
    case UopCode::kSub:
      return keep32(ua - ub);
    case UopCode::kMul: {
      const uint64_t round = uop.imm0 == 0 ? 0 : uint64_t{1} << (uop.imm0 - 1);
      const auto product = static_cast<int64_t>(ua * static_cast<uint64_t>(keep32(ub)) + round);
      return keep32(static_cast<uint64_t>(product >> uop.imm0));
    }
    case UopCode::kMax:
      return std::max(a, b);
    case UopCode::kMin:
      return std::min(a, b);
    case UopCode::kClamp:
      return std::min<int64_t>(std::max<int64_t>(a, uop.imm0), uop.imm1);
    case UopCode::kAbs:
      return keep32(a < 0 ? 0 - ua : ua);
    case UopCode::kNegate:
      return limited(static_cast<int64_t>(static_cast<uint64_t>(int64_t{uop.imm1}) -
                                          (ua - static_cast<uint64_t>(int64_t{uop.imm0}))),
                     signed_range(static_cast<Element>(uop.b)));
    case UopCode::kClz:
      return std::countl_zero(static_cast<uint32_t>(ua));
    case UopCode::kBitAnd:
      return a & b;
    case UopCode::kBitOr:
      return a | b;
    case UopCode::kBitXor:
      return a ^ b;
    case UopCode::kBitNot:
      return ~a;
    case UopCode::kShl:
      return kept(static_cast<int64_t>(ua << shift), uop.imm0);
    case UopCode::kShrLogical:
      return kept(static_cast<int64_t>((ua & mask_of(uop.imm0)) >> shift), uop.imm0);
    case UopCode::kShrArith:
      return shifted_right(a, shift, uop.imm0 != 0);
    case UopCode::kEq:
      return a == b ? 1 : 0;
    case UopCode::kGt:
      return a > b ? 1 : 0;
    case UopCode::kGe:
      return a >= b ? 1 : 0;
    case UopCode::kSelect:
      return c != 0 ? a : b;
    case UopCode::kLogicalNot:
      return a == 0 ? 1 : 0;
    case UopCode::kRescale: {
      const RescaleImmediate how = RescaleImmediate::unpack(uop.imm0);
      return rescaled(a, *block.params, how.kind, result_range(how));
    }
    case UopCode::kTable8:
      return block.table->at(keep(ua, 8) - INT8_MIN);
    case UopCode::kTable16:
      return interpolated(*block.table, a);
    case UopCode::kCast:
      return kept(a, uop.imm0);
    case UopCode::kIntdiv:
      return quotient(keep32(ua), keep32(ub));
    case UopCode::kLoad:
    case UopCode::kStore:
    case UopCode::kTable32:
    default:  // of floating point
      break;
  }
  panic(__FILE__, __LINE__, "a micro-operation whose value is not known");
}

ValueRange rescale_range(const Params& params, Rescale kind, const ValueRange& type, const ValueRange& from) {
  const contract::ParameterHeader& header = params.header;
  const contract::ParameterEntry& entry = params.entries[0];
  const auto limit = [&](int64_t value) {
    return std::min<int64_t>(std::max<int64_t>(limited(value, type), header.clamp_min), header.clamp_max);
  };
  const ValueRange whole = {limit(type.low), limit(type.high)};
  // Rising as long as nothing wraps: not the value, the product or the scaled value.
  const ValueRange moved = {from.low - header.input_zp, from.high - header.input_zp};
  if (entry.multiplier < 0 || !kInt32.contains(moved)) return whole;
  for (const int64_t end : {moved.low, moved.high}) {
    const int64_t product = end * entry.multiplier;
    const int64_t least = product >> entry.shift;
    if (least <= INT32_MIN / 2 || least >= INT32_MAX / 2) return whole;
  }
  const auto at = [&](int64_t value) { return rescaled(value, params, kind, type); };
  return {at(from.low), at(from.high)};
}

ValueRange uop_range(const Uop& uop, const std::array<ValueRange, 3>& sources, const KnownBlock& block) {
  const auto& [a, b, c] = sources;
  const auto in_32_bits = [](const ValueRange& range) { return kInt32.contains(range) ? range : kInt32; };
  switch (uop.op) {
    case UopCode::kAdd:
      return in_32_bits({a.low + b.low, a.high + b.high});
    case UopCode::kSub:
      return in_32_bits({a.low - b.high, a.high - b.low});
    case UopCode::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case UopCode::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case UopCode::kClamp: {
      const auto limit = [&](int64_t value) { return uop_value(uop, {value, 0, 0}, {}); };
      return {limit(a.low), limit(a.high)};
    }
    case UopCode::kClz:
      return {0, 32};
    case UopCode::kEq:
    case UopCode::kGt:
    case UopCode::kGe:
    case UopCode::kLogicalNot:
    case UopCode::kFeq:
    case UopCode::kFgt:
    case UopCode::kFge:
      return {0, 1};
    case UopCode::kFloatToInt:
      return signed_range(static_cast<Element>(uop.imm0));
    case UopCode::kSelect:
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    case UopCode::kNegate:
      return signed_range(static_cast<Element>(uop.b));
    case UopCode::kCast: {
      const ValueRange type = signed_range(static_cast<Element>(uop.imm0));
      return type.contains(a) && static_cast<Element>(uop.imm0) != Element::kBool ? a : type;
    }
    case UopCode::kTable8:
      return signed_range(Element::kI8);
    case UopCode::kRescale: {
      const RescaleImmediate how = RescaleImmediate::unpack(uop.imm0);
      const ValueRange type = result_range(how);
      return is_known(uop, block) ? rescale_range(*block.params, how.kind, type, a) : type;
    }
    case UopCode::kLoad:
    case UopCode::kStore:
    case UopCode::kMul:
    case UopCode::kAbs:
    case UopCode::kBitAnd:
    case UopCode::kBitOr:
    case UopCode::kBitXor:
    case UopCode::kBitNot:
    case UopCode::kShl:
    case UopCode::kShrLogical:
    case UopCode::kShrArith:
    case UopCode::kTable16:
    case UopCode::kIntdiv:
    case UopCode::kTable32:
    default:  // of floating point
      break;
  }
  return kAnyValue;
}

}  // namespace npu::compiler
