// SPDX-License-Identifier: Apache-2.0
// A lane's floating point against the host's: numbers are those of the format where they are written down (bits to
// doubles and back by search), arithmetic is that of float, double and long double, rounded once.
#include "rtl/verilated/float.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/block/stream.h"

namespace npu::rtl::test {
namespace {

using contract::Element;
using contract::UopCode;

constexpr uint32_t kNan = 0x7fc00000, kInfinity = 0x7f800000, kSign = 0x80000000;

float number(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t pattern(float value) { return std::isnan(value) ? kNan : std::bit_cast<uint32_t>(value); }
bool nan(uint32_t bits) { return std::isnan(number(bits)); }

// A format by its definition: which number each pattern is.
class Format {
 public:
  Format(Element type, int exponent_bits, int mantissa_bits, bool has_infinity)
      : type_(type), exponent_bits_(exponent_bits), mantissa_bits_(mantissa_bits), has_infinity_(has_infinity) {
    for (uint32_t bits = 0; bits < sign(); ++bits) {
      const double value = decode(bits);
      if (std::isfinite(value)) patterns_[value] = bits;
    }
  }

  [[nodiscard]] Element type() const { return type_; }
  [[nodiscard]] uint32_t sign() const { return 1U << (exponent_bits_ + mantissa_bits_); }

  [[nodiscard]] double decode(uint32_t bits) const {
    const int bias = (1 << (exponent_bits_ - 1)) - 1, top = (1 << exponent_bits_) - 1;
    const int exponent = static_cast<int>(bits >> mantissa_bits_) & top;
    const uint32_t mantissa = bits & ((1U << mantissa_bits_) - 1);
    const double negative = (bits & sign()) != 0 ? -1 : 1;
    if (has_infinity_ && exponent == top) {
      return mantissa == 0 ? negative * std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
    }
    if (!has_infinity_ && (bits & (sign() - 1)) == sign() - 1) return std::numeric_limits<double>::quiet_NaN();
    const double fraction = std::ldexp(mantissa, -mantissa_bits_);
    return negative * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
  }

  // The pattern of the nearest number; of two equally near ones the one with an even pattern.
  [[nodiscard]] uint32_t encode(double value) const {
    const uint32_t infinity = ((1U << exponent_bits_) - 1) << mantissa_bits_;
    const uint32_t none = has_infinity_ ? infinity | 1U << (mantissa_bits_ - 1) : sign() - 1;
    if (std::isnan(value)) return none;
    const uint32_t negative = std::signbit(value) ? sign() : 0;
    const double magnitude = std::fabs(value);
    const double largest = patterns_.rbegin()->first, before = std::next(patterns_.rbegin())->first;
    // The largest number stands for all below the middle to what would follow it, which has the even pattern if it ends
    // in a one.
    const double middle = largest + (largest - before) / 2;
    const bool odd = (patterns_.rbegin()->second & 1) != 0;
    if (magnitude > middle || (magnitude == middle && odd)) return has_infinity_ ? negative | infinity : none;
    if (magnitude >= largest) return negative | patterns_.rbegin()->second;
    const auto above = patterns_.upper_bound(magnitude), below = std::prev(above);
    const double up = above->first - magnitude, down = magnitude - below->first;
    const bool takes_upper = up < down || (up == down && (above->second & 1) == 0);
    return negative | (takes_upper ? above : below)->second;
  }

 private:
  Element type_;
  int exponent_bits_, mantissa_bits_;
  bool has_infinity_;
  std::map<double, uint32_t> patterns_;  // of numbers without a sign
};

const Format& format_of(Element type) {
  static const Format f16(Element::kF16, 5, 10, true), bf16(Element::kBf16, 8, 7, true),
      f8e4m3(Element::kF8e4m3, 4, 3, false), f8e5m2(Element::kF8e5m2, 5, 2, true);
  return type == Element::kF16 ? f16 : type == Element::kBf16 ? bf16 : type == Element::kF8e4m3 ? f8e4m3 : f8e5m2;
}
constexpr std::array kSmall = {Element::kF16, Element::kBf16, Element::kF8e4m3, Element::kF8e5m2};
constexpr std::array kResults = {Element::kF16, Element::kBf16, Element::kF32};

// An exact or FP32 value rounded to a format, and FP32 again.
uint32_t rounded(double value, uint32_t type) {
  const auto element = static_cast<Element>(type);
  if (element == Element::kF32) return pattern(static_cast<float>(value));
  const Format& format = format_of(element);
  return pattern(static_cast<float>(format.decode(format.encode(value))));
}

uint32_t better(bool larger, bool ignore, uint32_t a, uint32_t b) {
  if (nan(a) && nan(b)) return kNan;
  if (nan(a)) return ignore ? b : kNan;
  if (nan(b)) return ignore ? a : kNan;
  if (larger) return number(b) > number(a) ? b : a;
  return number(b) < number(a) ? b : a;
}

uint32_t clamped(const Float::Inputs& in) {
  if (nan(in.a)) return in.flag ? in.imm0 : kNan;
  if (number(in.a) < number(in.imm0)) return number(in.imm0) > number(in.imm1) ? in.imm1 : in.imm0;
  return number(in.a) > number(in.imm1) ? in.imm1 : in.a;
}

uint32_t whole_number(uint32_t a, uint32_t mode) {
  const double value = number(a);
  const double whole = mode == 0 ? std::floor(value) : mode == 1 ? std::ceil(value) : std::nearbyint(value);
  return pattern(static_cast<float>(whole));
}

uint32_t integer(uint32_t a, uint32_t type) {
  if (nan(a)) return 0;
  const int bits = 8 * static_cast<int>(element_bytes(static_cast<Element>(type)));
  const double most = std::ldexp(1.0, bits - 1) - 1, least = -most - 1;
  return static_cast<uint32_t>(
      static_cast<int32_t>(std::clamp(std::nearbyint(static_cast<double>(number(a))), least, most)));
}

uint32_t scaled(uint32_t a, uint32_t b) {
  const auto exponent = std::clamp(static_cast<int32_t>(b), -5000, 5000);
  return pattern(static_cast<float>(std::ldexp(static_cast<long double>(number(a)), exponent)));
}

uint32_t exponent_of(uint32_t a) {
  const float value = std::fabs(number(a));
  if (value == 0) return static_cast<uint32_t>(-256);
  return std::isfinite(value) ? static_cast<uint32_t>(std::ilogb(static_cast<double>(value))) : 128;
}

uint32_t fused(uint32_t a, uint32_t b, uint32_t c) { return pattern(std::fmaf(number(a), number(b), number(c))); }

uint32_t expected(const Float::Inputs& in) {
  const float a = number(in.a), b = number(in.b);
  switch (in.op) {
    case UopCode::kFadd:
      return rounded(a + b, in.imm0);
    case UopCode::kFsub:
      return rounded(a - b, in.imm0);
    case UopCode::kFmul:
      return rounded(a * b, in.imm0);
    case UopCode::kFma:
      return fused(in.a, in.b, in.c);
    case UopCode::kFmaImm:
      return fused(in.a, in.b, in.imm0);
    case UopCode::kFaffine:
      return fused(in.a, in.imm0, in.imm1);
    case UopCode::kFmax:
      return better(true, in.imm0 != 0, in.a, in.b);
    case UopCode::kFmin:
      return better(false, in.imm0 != 0, in.a, in.b);
    case UopCode::kFclamp:
      return clamped(in);
    case UopCode::kFabs:
      return in.a & ~kSign;
    case UopCode::kFneg:
      return in.a ^ kSign;
    case UopCode::kFeq:
      return a == b ? 1 : 0;
    case UopCode::kFgt:
      return a > b ? 1 : 0;
    case UopCode::kFge:
      return a >= b ? 1 : 0;
    case UopCode::kFround:
      return whole_number(in.a, in.imm0);
    case UopCode::kFcast:
      return rounded(a, in.imm0);
    case UopCode::kIntToFloat:
      return rounded(static_cast<int32_t>(in.a), in.imm0);
    case UopCode::kFloatToInt:
      return integer(in.a, in.imm0);
    case UopCode::kFscale:
      return scaled(in.a, in.b);
    case UopCode::kFexponent:
      return exponent_of(in.a);
    default:
      ADD_FAILURE() << name(in.op) << " is no micro-operation of floating point";
      return 0;
  }
}

int32_t order_of(uint32_t a, bool ignore) {
  if (nan(a)) return ignore ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
  const auto magnitude = static_cast<int32_t>(a & ~kSign);
  return (a & kSign) != 0 ? -magnitude : magnitude;
}

// Every micro-operation with the immediates that choose something; other immediates are FP32 patterns.
std::vector<Float::Inputs> operations() {
  std::vector<Float::Inputs> all;
  const auto add = [&](UopCode op, uint32_t imm0 = 0, bool flag = false) {
    Float::Inputs in;
    in.op = op;
    in.imm0 = imm0;
    in.flag = flag;
    all.push_back(in);
  };
  for (const Element type : kResults) {
    for (const UopCode op : {UopCode::kFadd, UopCode::kFsub, UopCode::kFmul, UopCode::kIntToFloat}) {
      add(op, static_cast<uint32_t>(type));
    }
  }
  for (const Element type : kSmall) add(UopCode::kFcast, static_cast<uint32_t>(type));
  for (const Element type : {Element::kI8, Element::kI16, Element::kI32}) {
    add(UopCode::kFloatToInt, static_cast<uint32_t>(type));
  }
  for (const uint32_t choice : {0, 1}) {
    add(UopCode::kFmax, choice);
    add(UopCode::kFmin, choice);
    add(UopCode::kFclamp, 0, choice != 0);
  }
  for (const uint32_t mode : {0, 1, 2}) add(UopCode::kFround, mode);
  for (const UopCode op : {UopCode::kFma, UopCode::kFmaImm, UopCode::kFaffine, UopCode::kFabs, UopCode::kFneg,
                           UopCode::kFeq, UopCode::kFgt, UopCode::kFge, UopCode::kFscale, UopCode::kFexponent}) {
    add(op);
  }
  return all;
}

// Zeros, ends of the formats and what is around them, NaNs of all kinds, integers at the ends of their types.
std::vector<uint32_t> specials() {
  std::vector<uint32_t> all = {0,          1,          2,          0x007fffff, 0x00800000, 0x00800001, 0x3f000000,
                               0x3effffff, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000,
                               0x4b000000, 0x4b000001, 0x4affffff, 0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000,
                               0x42ff0000, 0x43000000, 0x42fe8000, 0x46fffe00, 0x47000000, 0x7f7fffff, 0x7f000000,
                               kInfinity,  0x7f800001, 0x7fbfffff, kNan,       0x7fffffff};
  for (const Element type : kSmall) {
    // The first and last numbers of a format, and the middles between them and their neighbours.
    const Format& format = format_of(type);
    for (const uint32_t bits : {1U, format.encode(1.0) - 1, format.sign() - 1}) {
      for (uint32_t down = 0; down < 12; ++down) {
        if (bits < down + 1) break;
        const double high = format.decode(bits - down), low = format.decode(bits - down - 1);
        if (!std::isfinite(high)) continue;
        for (const double value : {high, high / 2, high + (high - low) / 2}) {
          for (const int step : {-1, 0, 1}) {
            all.push_back(pattern(static_cast<float>(value)) + static_cast<uint32_t>(step));
          }
        }
        break;
      }
    }
  }
  const size_t positive = all.size();
  for (size_t i = 0; i < positive; ++i) all.push_back(all[i] ^ kSign);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

class FloatUnit : public testing::Test {
 protected:
  void check(Buckets& buckets, const Float::Inputs& in) {
    const Float::Outputs out = block_->run(in);
    const auto text = [&] {
      return fmt::format("{:08x} {:08x} {:08x}, immediates {:08x} {:08x}, flag {}", in.a, in.b, in.c, in.imm0, in.imm1,
                         in.flag);
    };
    buckets.compare(
        out.result, expected(in), [&] { return fmt::format("{} {:x}", name(in.op), in.imm0 & 0xff); }, text);
    buckets.compare(
        out.sum, pattern(number(in.a) + number(in.b)), [] { return "sum"; }, text);
    buckets.compare(
        out.order, order_of(in.a, in.flag), [] { return "order"; }, text);
    buckets.compare(
        out.larger, better(true, in.flag, in.a, in.b), [] { return "larger"; }, text);
  }

  // With the values wherever the micro-operation takes them; a choice stays.
  void check(Buckets& buckets, Float::Inputs in, uint32_t a, uint32_t b, uint32_t c) {
    in.a = a, in.b = b, in.c = c;
    if (in.op == UopCode::kFmaImm) in.imm0 = c;
    if (in.op == UopCode::kFaffine) in.imm0 = b, in.imm1 = c;
    if (in.op == UopCode::kFclamp) {
      if (nan(b) || nan(c)) return;  // limits are numbers
      in.imm0 = b, in.imm1 = c;
    }
    check(buckets, in);
  }

  // Of two patterns of the format.
  void check_product(Buckets& buckets, Element type, uint32_t a, uint32_t b) {
    const auto wide = [&](uint32_t bits) {
      return type == Element::kF32 ? bits : pattern(static_cast<float>(format_of(type).decode(bits)));
    };
    Float::Inputs in;
    in.type = type;
    in.a = wide(a), in.b = wide(b);
    buckets.compare(
        block_->run(in).product, pattern(number(in.a) * number(in.b)), [&] { return fmt::format("{}", name(type)); },
        [&] { return fmt::format("{:08x} {:08x}", a, b); });
  }

  std::unique_ptr<Float> block_ = make_float();
};

TEST_F(FloatUnit, EveryPatternOfASmallFormat) {
  Buckets buckets("patterns of small formats", 0);
  for (const Element type : kSmall) {
    const Format& format = format_of(type);
    Float::Inputs in;
    in.type = type;
    for (uint32_t bits = 0; bits < 2 * format.sign(); ++bits) {
      const auto text = [&] { return fmt::format("{:04x}", bits); };
      in.a = bits;
      const uint32_t wide = pattern(static_cast<float>(format.decode(bits)));
      buckets.compare(
          block_->run(in).widened, wide, [&] { return fmt::format("{} to f32", name(type)); }, text);
      // And back: the same, or the format's NaN. Then the middle to the next one, and its neighbours.
      const auto back = [&](uint32_t from) {
        in.a = from;
        buckets.compare(
            block_->run(in).narrowed, format.encode(static_cast<double>(number(from))),
            [&] { return fmt::format("f32 to {}", name(type)); },
            [&] { return fmt::format("{:08x}, of {:04x}", from, bits); });
      };
      back(wide);
      const uint32_t next = bits + 1;
      if ((next & (format.sign() - 1)) == 0 || !std::isfinite(format.decode(next))) continue;
      const auto middle = pattern(static_cast<float>((format.decode(bits) + format.decode(next)) / 2));
      for (const uint32_t from : {middle - 1, middle, middle + 1}) back(from);
    }
  }
  // The others, and an f32 as it is.
  for (const uint32_t a : specials()) {
    Float::Inputs in;
    in.a = a;
    for (const Element type : kSmall) {
      in.type = type;
      buckets.compare(
          block_->run(in).narrowed, format_of(type).encode(static_cast<double>(number(a))),
          [&] { return fmt::format("f32 to {}", name(type)); }, [&] { return fmt::format("{:08x}", a); });
    }
    in.type = Element::kF32;
    const Float::Outputs out = block_->run(in);
    buckets.compare(
        out.narrowed, a, [] { return "an f32 as it is"; }, [&] { return fmt::format("{:08x}", a); });
    buckets.compare(
        out.widened, a, [] { return "an f32 as it is"; }, [&] { return fmt::format("{:08x}", a); });
  }
}

TEST_F(FloatUnit, SpecialsWithSpecials) {
  Buckets buckets("specials", 0);
  const std::vector<uint32_t> values = specials();
  const Float::Inputs choice;
  for (const Float::Inputs& operation : operations()) {
    for (const uint32_t a : values) {
      for (const uint32_t b : values) check(buckets, operation, a, b, values[(a ^ b) % values.size()]);
    }
  }
  Float::Inputs fma = choice;
  fma.op = UopCode::kFma;
  for (const uint32_t a : values) {
    for (const uint32_t b : values) {
      for (const uint32_t c : values) {
        check(buckets, fma, a, b, c);
      }
    }
  }
  std::printf("%zu specials\n", values.size());
}

// Exponents of integers, and powers far beyond what FP32 has.
TEST_F(FloatUnit, EveryPowerOfTwo) {
  Buckets buckets("powers of two", 0);
  Float::Inputs scale;
  scale.op = UopCode::kFscale;
  for (const uint32_t a : specials()) {
    for (int32_t power = -700; power <= 700; ++power) check(buckets, scale, a, static_cast<uint32_t>(power), 0);
    for (const int64_t power :
         {INT32_MIN, INT32_MIN + 1, -4096, -2048, 2047, 2048, 4095, 4096, INT32_MAX - 1, INT32_MAX}) {
      check(buckets, scale, a, static_cast<uint32_t>(static_cast<int32_t>(power)), 0);
    }
  }
}

// Random numbers of one kind after the other: any bits; near each other, so that sums cancel or end in a middle; few
// bits, so that products do; at the ends of the exponents.
class Values {
 public:
  explicit Values(uint64_t seed) : random_(seed) {}
  std::array<uint32_t, 3> next() {
    const uint64_t kind = random_() % 8;
    std::array<uint32_t, 3> v{bits(), bits(), bits()};
    const auto around = [&](uint32_t& value, uint32_t exponent, uint32_t apart) {
      const int64_t moved = int64_t{exponent} + static_cast<int64_t>(random_() % (2 * apart + 1)) - apart;
      value = (value & ~kInfinity) | static_cast<uint32_t>(std::clamp<int64_t>(moved, 0, 255)) << 23;
    };
    const auto exponent = static_cast<uint32_t>(random_() % 256);
    switch (kind) {
      case 0:
        break;
      case 1:  // sums
        for (uint32_t& value : v) around(value, exponent, 26);
        break;
      case 2:  // few bits
        for (uint32_t& value : v) around(value, 127, 30), value &= ~uint32_t{0} << random_() % 23;
        break;
      case 3:  // subnormal results
        around(v[0], exponent, 3), around(v[1], exponent > 126 ? 0 : 126 - exponent, 26), around(v[2], 2, 4);
        break;
      case 4:  // overflow
        around(v[0], exponent | 128, 3), around(v[1], 380 - (exponent | 128), 6), around(v[2], 253, 3);
        break;
      case 5:  // what a product leaves when it is taken off
        around(v[0], 127, 40), around(v[1], 127, 40);
        v[2] = pattern(-(number(v[0]) * number(v[1]))) + static_cast<uint32_t>(random_() % 3) - 1;
        break;
      case 6:  // where the format of the result has its ends and middles
        around(v[0], random_() % 2 == 0 ? 127 - 15 : 127 + 15, 12), v[0] &= ~uint32_t{0} << random_() % 23;
        around(v[1], v[0] >> 23 & 0xff, 12), v[1] &= ~uint32_t{0} << random_() % 23;
        break;
      default:  // integers, and numbers as large as they are
        around(v[0], 127 + static_cast<uint32_t>(random_() % 34), 1);
        if (random_() % 2 == 0) v[0] = static_cast<uint32_t>(static_cast<int32_t>(bits()) >> random_() % 32);
        v[1] = static_cast<uint32_t>(static_cast<int32_t>(random_() % 600) - 300);
        break;
    }
    return v;
  }

 private:
  uint32_t bits() { return static_cast<uint32_t>(random_()); }
  std::mt19937_64 random_;
};

TEST_F(FloatUnit, RandomValues) {
  const uint64_t first = seed(4711);
  Buckets buckets("random values", first);
  Values values(first);
  const std::vector<Float::Inputs> all = operations();
  for (int i = 0; i < 60'000; ++i) {
    const auto [a, b, c] = values.next();
    for (const Float::Inputs& operation : all) check(buckets, operation, a, b, c);
  }
}

TEST_F(FloatUnit, RandomSumsOfProducts) {
  const uint64_t first = seed(4712);
  Buckets buckets("sums of products", first);
  Values values(first);
  Float::Inputs fma;
  fma.op = UopCode::kFma;
  for (int i = 0; i < 2'000'000; ++i) {
    const auto [a, b, c] = values.next();
    check(buckets, fma, a, b, c);
  }
}

// Products of two numbers of a format, as they go into the sums of the MXU.
TEST_F(FloatUnit, ProductsOfEveryPairOfFp8) {
  Buckets buckets("products of FP8", 0);
  for (const Element type : {Element::kF8e4m3, Element::kF8e5m2}) {
    for (uint32_t a = 0; a < 256; ++a) {
      for (uint32_t b = 0; b < 256; ++b) check_product(buckets, type, a, b);
    }
  }
}

TEST_F(FloatUnit, ProductsOfSpecialsAndPowersOfTwo) {
  Buckets buckets("products of specials", 0);
  for (const uint32_t a : specials()) {
    for (const uint32_t b : specials()) check_product(buckets, Element::kF32, a, b);
  }
  for (const Element type : {Element::kF16, Element::kBf16}) {
    const Format& format = format_of(type);
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    std::vector<uint32_t> others = {format.encode(kInfinite), format.encode(-kInfinite)};
    for (uint32_t power = 0; power < 2 * format.sign(); power += 1U << 10) {
      others.push_back(power);
      others.push_back(power + 1);
    }
    for (uint32_t a = 0; a < 2 * format.sign(); ++a) {
      for (const uint32_t b : others) check_product(buckets, type, a, b);
    }
  }
}

TEST_F(FloatUnit, RandomProducts) {
  const uint64_t first = seed(4714);
  Buckets buckets("products", first);
  Values values(first);
  std::mt19937_64 random(~first);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto [a, b, c] = values.next();
    check_product(buckets, Element::kF32, a, b);
    check_product(buckets, i % 2 == 0 ? Element::kF16 : Element::kBf16, random() & 0xffff, random() & 0xffff);
  }
}

TEST_F(FloatUnit, RandomConversions) {
  const uint64_t first = seed(4713);
  Buckets buckets("conversions", first);
  std::mt19937_64 random(first);
  for (int i = 0; i < 300'000; ++i) {
    Float::Inputs in;
    in.a = static_cast<uint32_t>(random());
    if (i % 4 != 0) in.a = (in.a & ~kInfinity) | static_cast<uint32_t>(90 + random() % 60) << 23;
    for (const Element type : kSmall) {
      in.type = type;
      buckets.compare(
          block_->run(in).narrowed, format_of(type).encode(static_cast<double>(number(in.a))),
          [&] { return fmt::format("f32 to {}", name(type)); }, [&] { return fmt::format("{:08x}", in.a); });
    }
  }
}

}  // namespace
}  // namespace npu::rtl::test
