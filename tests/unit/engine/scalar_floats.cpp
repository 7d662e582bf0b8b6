// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/scalar_floats.h"

#include <algorithm>
#include <bit>

#include "hw/contract/error.h"
#include "tests/unit/engine/scalar_math.h"

namespace npu::engine::testing::scalar {

using contract::Element;
using contract::Uop;
using contract::UopCode;

namespace {

__extension__ typedef unsigned __int128 Magnitude;

struct Format {
  int exponent_bits, mantissa_bits;
  bool has_infinity;
  uint32_t nan;

  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] uint32_t sign() const { return 1U << (exponent_bits + mantissa_bits); }
  [[nodiscard]] uint32_t largest_exponent() const { return (1U << exponent_bits) - 1; }
  [[nodiscard]] uint32_t infinity() const { return largest_exponent() << mantissa_bits; }
  // Without infinities the largest exponent has numbers too, all but the last pattern.
  [[nodiscard]] uint32_t largest() const { return has_infinity ? infinity() - 1 : sign() - 2; }
};

Format format_of(Element type) {
  switch (type) {
    case Element::kF16:
      return {5, 10, true, 0x7e00};
    case Element::kBf16:
      return {8, 7, true, 0x7fc0};
    case Element::kF32:
      return {8, 23, true, kNan};
    case Element::kF8e4m3:
      return {4, 3, false, 0x7f};
    case Element::kF8e5m2:
      return {5, 2, true, 0x7f - 1};
    default:
      panic(__FILE__, __LINE__, "a format that is an integer");
  }
}

// magnitude * 2^exponent, or what is not a number.
struct Value {
  enum class Kind : uint8_t { kNumber, kInfinity, kNan };
  Kind kind = Kind::kNumber;
  bool negative = false;
  Magnitude magnitude = 0;
  int64_t exponent = 0;

  [[nodiscard]] bool is_zero() const { return kind == Kind::kNumber && magnitude == 0; }
  // 2^top <= |value| < 2^(top + 1) of a number that is not zero.
  [[nodiscard]] int64_t top() const {
    const auto high = static_cast<uint64_t>(magnitude >> 64), low = static_cast<uint64_t>(magnitude);
    return exponent + (high != 0 ? 64 + std::bit_width(high) : std::bit_width(low)) - 1;
  }
};

constexpr Value kNoNumber = {Value::Kind::kNan};

Value unpack(Element type, uint32_t pattern) {
  const Format format = format_of(type);
  Value value;
  value.negative = (pattern & format.sign()) != 0;
  const uint32_t exponent = pattern >> format.mantissa_bits & format.largest_exponent();
  const uint32_t mantissa = pattern & ((1U << format.mantissa_bits) - 1);
  const uint32_t magnitude = pattern & (format.sign() - 1);
  if (magnitude > format.largest()) {
    const bool infinite = format.has_infinity && magnitude == format.infinity();
    value.kind = infinite ? Value::Kind::kInfinity : Value::Kind::kNan;
    return value;
  }
  value.magnitude = exponent == 0 ? mantissa : mantissa | 1U << format.mantissa_bits;
  value.exponent = std::max<int64_t>(exponent, 1) - format.bias() - format.mantissa_bits;
  return value;
}

// magnitude / 2^shift, to nearest, ties to even.
Magnitude shift_rounded(Magnitude magnitude, int64_t shift) {
  if (shift > 127) return 0;  // less than a half: magnitudes have fewer bits
  const Magnitude unit = Magnitude{1} << shift, rest = magnitude % unit, whole = magnitude / unit;
  const bool up = rest > unit - rest || (rest == unit - rest && whole % 2 == 1);
  return whole + (up ? 1 : 0);
}

uint32_t pack(Element type, const Value& value) {
  const Format format = format_of(type);
  if (value.kind == Value::Kind::kNan) return format.nan;
  const uint32_t sign = value.negative ? format.sign() : 0;
  const uint32_t beyond = format.has_infinity ? sign | format.infinity() : format.nan;
  if (value.kind == Value::Kind::kInfinity) return beyond;
  if (value.magnitude == 0) return sign;
  const int64_t top = std::max<int64_t>(value.top(), 1 - format.bias());
  if (top > format.bias() + 1) return beyond;
  const int64_t shift = top - format.mantissa_bits - value.exponent;
  const Magnitude units = shift > 0 ? shift_rounded(value.magnitude, shift) : value.magnitude << -shift;
  // The leading one of a normal number adds 1 to the exponent, and so does what rounding carries.
  const Magnitude pattern = (static_cast<Magnitude>(top + format.bias() - 1) << format.mantissa_bits) + units;
  return pattern > format.largest() ? beyond : sign | static_cast<uint32_t>(pattern);
}

// Of numbers that are not zero, of at most 48 bits. Bits that the larger one leaves no room for become one in the last
// place, far below any place that results are rounded to.
Value sum_of_numbers(Value x, Value y) {
  constexpr int64_t kTop = 120;
  if (x.top() < y.top()) std::swap(x, y);
  const int64_t up = kTop - (x.top() - x.exponent), down = x.exponent - up - y.exponent;
  Magnitude small = 0;
  if (down <= 0) {
    small = y.magnitude << -down;
  } else {
    const Magnitude unit = down < 127 ? Magnitude{1} << down : 0;  // 0: larger than all of y
    const bool lost = unit == 0 || y.magnitude % unit != 0;
    small = (unit == 0 ? 0 : y.magnitude / unit) | (lost ? 1 : 0);
  }
  const Magnitude large = x.magnitude << up;
  Value result = {Value::Kind::kNumber, x.negative, 0, x.exponent - up};
  if (x.negative == y.negative) {
    result.magnitude = large + small;
  } else if (large >= small) {
    result.magnitude = large - small;
  } else {
    result.magnitude = small - large;
    result.negative = y.negative;
  }
  if (result.magnitude == 0) result.negative = false;
  return result;
}

Value sum_of(const Value& x, const Value& y) {
  if (x.kind == Value::Kind::kNan || y.kind == Value::Kind::kNan) return kNoNumber;
  if (x.kind == Value::Kind::kInfinity && y.kind == Value::Kind::kInfinity) {
    return x.negative == y.negative ? x : kNoNumber;
  }
  if (x.kind == Value::Kind::kInfinity) return x;
  if (y.kind == Value::Kind::kInfinity) return y;
  if (x.is_zero() && y.is_zero()) return {Value::Kind::kNumber, x.negative && y.negative};
  if (x.is_zero()) return y;
  if (y.is_zero()) return x;
  return sum_of_numbers(x, y);
}

Value product_of(const Value& x, const Value& y) {
  if (x.kind == Value::Kind::kNan || y.kind == Value::Kind::kNan) return kNoNumber;
  const bool negative = x.negative != y.negative;
  if (x.kind == Value::Kind::kInfinity || y.kind == Value::Kind::kInfinity) {
    if (x.is_zero() || y.is_zero()) return kNoNumber;
    return {Value::Kind::kInfinity, negative};
  }
  return {Value::Kind::kNumber, negative, x.magnitude * y.magnitude, x.exponent + y.exponent};
}

Value number(uint32_t value) { return unpack(Element::kF32, value); }
uint32_t to_fp32(const Value& value) { return pack(Element::kF32, value); }

// The whole number of a magnitude times 2^exponent that is below it, above it, or nearest to it.
Magnitude whole_below(const Value& v) {
  return v.exponent >= 0 ? v.magnitude << v.exponent : v.exponent < -127 ? 0 : v.magnitude >> -v.exponent;
}
bool is_whole(const Value& v) {
  return v.exponent >= 0 || (v.exponent >= -127 && whole_below(v) << -v.exponent == v.magnitude) || v.magnitude == 0;
}
Magnitude whole_above(const Value& v) { return whole_below(v) + (is_whole(v) ? 0 : 1); }
Magnitude whole_nearest(const Value& v) {
  return v.exponent >= 0 ? whole_below(v) : shift_rounded(v.magnitude, -v.exponent);
}

uint32_t whole_number(uint32_t a, int32_t mode) {
  Value value = number(a);
  if (value.kind == Value::Kind::kNan) return kNan;
  if (value.kind == Value::Kind::kInfinity || value.exponent >= 0) return a;
  const bool away = mode == (value.negative ? 0 : 1);
  value.magnitude = mode == 2 ? whole_nearest(value) : away ? whole_above(value) : whole_below(value);
  value.exponent = 0;
  return to_fp32(value);
}

int64_t to_integer(uint32_t a, Element type) {
  const Value value = number(a);
  constexpr int64_t kMoreThanAll = int64_t{1} << 40;
  if (value.kind == Value::Kind::kNan) return 0;
  const bool large = value.kind == Value::Kind::kInfinity || (!value.is_zero() && value.top() >= 40);
  const int64_t whole = large ? kMoreThanAll : static_cast<int64_t>(whole_nearest(value));
  return clip_to(value.negative ? -whole : whole, type, false);
}

uint32_t from_integer(int64_t a, Element format) {
  const Value value = {Value::Kind::kNumber, a < 0, static_cast<Magnitude>(a < 0 ? -a : a), 0};
  return widen(format, pack(format, value));
}

int64_t exponent(uint32_t a) {
  const Value value = number(a);
  if (value.kind != Value::Kind::kNumber) return 128;
  return value.magnitude == 0 ? -256 : value.top();
}

uint32_t scaled(uint32_t a, int64_t by) {
  Value value = number(a);
  value.exponent += by;
  return to_fp32(value);
}

// FP32, then as the format has it.
uint32_t rounded(uint32_t value, int32_t format) {
  const auto type = static_cast<Element>(format);
  return type == Element::kF32 ? value : widen(type, narrow(type, value));
}

uint32_t negated(uint32_t value) { return value ^ kMinus; }
bool equal(uint32_t a, uint32_t b) { return !is_nan(a) && !is_nan(b) && !less(a, b) && !less(b, a); }

}  // namespace

bool is_nan(uint32_t value) { return number(value).kind == Value::Kind::kNan; }

uint32_t widen(Element format, uint32_t pattern) {
  return format == Element::kF32 ? pattern : to_fp32(unpack(format, pattern));
}
uint32_t narrow(Element format, uint32_t value) {
  return format == Element::kF32 ? value : pack(format, number(value));
}

uint32_t quotient(uint64_t numerator, uint64_t denominator) {
  // The digit behind the point is set where there is a rest, so that it rounds as all of them would.
  constexpr int kDigits = 63;
  const Magnitude shifted = static_cast<Magnitude>(numerator) << kDigits;
  const Magnitude digits = shifted / denominator * 2 + (shifted % denominator != 0 ? 1 : 0);
  return to_fp32({Value::Kind::kNumber, false, digits, -kDigits - 1});
}

uint32_t sum(uint32_t a, uint32_t b) { return to_fp32(sum_of(number(a), number(b))); }
uint32_t product(uint32_t a, uint32_t b) { return to_fp32(product_of(number(a), number(b))); }
uint32_t product_and_sum(uint32_t a, uint32_t b, uint32_t c) {
  return to_fp32(sum_of(product_of(number(a), number(b)), number(c)));
}

bool less(uint32_t a, uint32_t b) {
  if (is_nan(a) || is_nan(b)) return false;
  // Magnitudes have the order of their patterns.
  const auto order = [](uint32_t value) {
    const auto magnitude = static_cast<int64_t>(value & ~kMinus);
    return (value & kMinus) != 0 ? -magnitude : magnitude;
  };
  return order(a) < order(b);
}

uint32_t larger(uint32_t a, uint32_t b, bool ignore_nan) {
  if (is_nan(a) || is_nan(b)) return !ignore_nan || (is_nan(a) && is_nan(b)) ? kNan : is_nan(a) ? b : a;
  return less(a, b) ? b : a;
}
uint32_t smaller(uint32_t a, uint32_t b, bool ignore_nan) {
  if (is_nan(a) || is_nan(b)) return !ignore_nan || (is_nan(a) && is_nan(b)) ? kNan : is_nan(a) ? b : a;
  return less(b, a) ? b : a;
}
uint32_t clamp(uint32_t a, uint32_t low, uint32_t high, bool ignore_nan) {
  if (is_nan(a)) return ignore_nan ? low : kNan;
  return smaller(larger(a, low, false), high, false);
}

int64_t float_uop(const Uop& uop, std::array<int64_t, 3> values) {
  const auto a = static_cast<uint32_t>(values[0]), b = static_cast<uint32_t>(values[1]);
  const auto third = static_cast<uint32_t>(values[2]);
  const auto imm0 = static_cast<uint32_t>(uop.imm0), imm1 = static_cast<uint32_t>(uop.imm1);
  const auto value = [](uint32_t pattern) { return static_cast<int64_t>(static_cast<int32_t>(pattern)); };
  switch (uop.op) {
    case UopCode::kFadd:
      return value(rounded(sum(a, b), uop.imm0));
    case UopCode::kFsub:
      return value(rounded(sum(a, is_nan(b) ? b : negated(b)), uop.imm0));
    case UopCode::kFmul:
      return value(rounded(product(a, b), uop.imm0));
    case UopCode::kFma:
      return value(product_and_sum(a, b, third));
    case UopCode::kFmaImm:
      return value(product_and_sum(a, b, imm0));
    case UopCode::kFaffine:
      return value(product_and_sum(a, imm0, imm1));
    case UopCode::kFmax:
      return value(larger(a, b, uop.imm0 == 1));
    case UopCode::kFmin:
      return value(smaller(a, b, uop.imm0 == 1));
    case UopCode::kFclamp:
      return value(clamp(a, imm0, imm1, uop.b == 1));
    case UopCode::kFabs:
      return value(a & ~kMinus);
    case UopCode::kFneg:
      return value(negated(a));
    case UopCode::kFeq:
      return equal(a, b) ? 1 : 0;
    case UopCode::kFgt:
      return less(b, a) ? 1 : 0;
    case UopCode::kFge:
      return less(b, a) || equal(a, b) ? 1 : 0;
    case UopCode::kFround:
      return value(whole_number(a, uop.imm0));
    case UopCode::kFcast:
      return value(rounded(a, uop.imm0));
    case UopCode::kIntToFloat:
      return value(from_integer(wrap(values[0], 32), static_cast<Element>(uop.imm0)));
    case UopCode::kFloatToInt:
      return to_integer(a, static_cast<Element>(uop.imm0));
    case UopCode::kFscale:
      return value(scaled(a, wrap(values[1], 32)));
    case UopCode::kFexponent:
      return exponent(a);
    default:
      panic(__FILE__, __LINE__, "a micro-operation of integers");
  }
}

std::vector<uint32_t> special_patterns(Element type) {
  const Format format = format_of(type);
  const auto bias = static_cast<uint32_t>(format.bias());
  const uint32_t unit = 1U << format.mantissa_bits, one = bias << format.mantissa_bits;
  std::vector<uint32_t> patterns = {0,
                                    1,
                                    2,
                                    unit / 2,
                                    unit - 1,
                                    unit,
                                    unit + 1,
                                    2 * unit,
                                    one - unit,
                                    one - 1,
                                    one,
                                    one + 1,
                                    one + unit / 2,
                                    one + unit,
                                    format.largest() - 1,
                                    format.largest(),
                                    format.sign() - 1};
  if (format.has_infinity) {
    // Of quiet and signalling NaNs, with payloads.
    for (const uint32_t payload : {0U, 1U, unit / 2 - 1, unit / 2, unit / 2 + 1})
      patterns.push_back(format.infinity() + payload);
  }
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  const size_t count = patterns.size();
  for (size_t i = 0; i < count; ++i) patterns.push_back(patterns[i] | format.sign());
  return patterns;
}

}  // namespace npu::engine::testing::scalar
