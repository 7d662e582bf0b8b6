// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

__extension__ using Wide = __int128;
using Numbers = std::vector<int64_t>;
using graph::RoundingMode;

constexpr int64_t kLowest32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kHighest32 = std::numeric_limits<int32_t>::max();
constexpr unsigned kConversionSeed = 20260101;

struct Rescale {
  DType in = DType::kInt32;
  DType out = DType::kInt32;
  Numbers multiplier = {1 << 30};
  Numbers shift = {30};
  int64_t input_zp = 0;
  int64_t output_zp = 0;
  bool scale32 = true;
  RoundingMode mode = RoundingMode::kSingleRound;
  bool per_channel = false;
  bool input_unsigned = false;
  bool output_unsigned = false;

  [[nodiscard]] OperatorCase on(const Shape& shape, const Numbers& values) const {
    Attributes a;
    a.scale32 = scale32;
    a.rounding_mode = mode;
    a.per_channel = per_channel;
    a.input_unsigned = input_unsigned;
    a.output_unsigned = output_unsigned;
    const auto channels = static_cast<int64_t>(multiplier.size());
    return {Op::kRescale,
            {value_of(in, shape, values), value_of(scale32 ? DType::kInt32 : DType::kInt16, {channels}, multiplier),
             i8({channels}, shift), value_of(in, {1}, {input_zp}), value_of(out, {1}, {output_zp})},
            out,
            shape,
            a};
  }
  [[nodiscard]] Numbers of(const Numbers& values) const {
    return on({static_cast<int64_t>(values.size())}, values).numbers();
  }
  [[nodiscard]] ErrorCode error(const Numbers& values, std::string* message = nullptr) const {
    return error_of(on({static_cast<int64_t>(values.size())}, values), message);
  }
};

// floor(value * multiplier / 2^shift + 1/2), from its definition.
int64_t rounded_once(int64_t value, int64_t multiplier, int64_t shift) {
  const Wide twice = 2 * Wide{value} * multiplier + (Wide{1} << shift);
  return static_cast<int64_t>(twice >> (shift + 1));
}

// The two stages of the frameworks that DOUBLE_ROUND stands for: the high half of the doubled product, rounded to
// nearest away from zero, then a power of two, rounded half away from zero.
int64_t rounded_twice(int64_t value, int64_t multiplier, int64_t shift) {
  const int64_t product = value * multiplier;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  const int64_t high = (product + nudge) / (int64_t{1} << 31);
  const int64_t exponent = shift - 31;
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> exponent) + ((high & mask) > threshold ? 1 : 0);
}

// Values that a shift admits: the extremes, zero, and the neighbours of every half.
Numbers interesting_values(std::mt19937& random, int64_t shift, int64_t multiplier) {
  const int64_t limit = std::min<int64_t>(int64_t{1} << (shift - 1), int64_t{1} << 31);
  Numbers values{-limit, -limit + 1, limit - 1, 0, 1, -1};
  std::uniform_int_distribution<int64_t> any(-limit, limit - 1);
  for (int i = 0; i < 50; ++i) {
    values.push_back(any(random));
    // value * multiplier closest to an odd multiple of 2^(shift-1): a tie or just beside it.
    const Wide half = ((Wide{any(random)} * multiplier >> shift) * 2 + 1) << (shift - 1);
    const auto tie = static_cast<int64_t>(half / std::max<int64_t>(multiplier, 1));
    for (const int64_t value : {tie - 1, tie, tie + 1}) {
      if (value >= -limit && value < limit) {
        values.push_back(value);
      }
    }
  }
  return values;
}

TEST(Rescale, EveryShiftRoundsOnce) {
  std::mt19937 random(kConversionSeed);
  std::cout << "seed " << kConversionSeed << "\n";
  int64_t compared = 0;
  for (int64_t shift = 2; shift <= 62; ++shift) {
    for (const int64_t multiplier : {int64_t{1} << 30, kHighest32, int64_t{1}, int64_t{0}, int64_t{1234567891}}) {
      const Numbers values = interesting_values(random, shift, multiplier);
      const Numbers got = Rescale{.multiplier = {multiplier}, .shift = {shift}}.of(values);
      for (size_t i = 0; i < values.size(); ++i, ++compared) {
        ASSERT_EQ(got[i], rounded_once(values[i], multiplier, shift))
            << values[i] << " * " << multiplier << " >> " << shift;
      }
    }
  }
  std::cout << compared << " values compared\n";
}

TEST(Rescale, EveryShiftRoundsTwice) {
  std::mt19937 random(kConversionSeed);
  std::cout << "seed " << kConversionSeed << "\n";
  for (int64_t shift = 2; shift <= 62; ++shift) {
    for (const int64_t multiplier : {int64_t{1} << 30, kHighest32, int64_t{1}, int64_t{0}, int64_t{1234567891}}) {
      const Numbers values = interesting_values(random, shift, multiplier);
      const Numbers got =
          Rescale{.multiplier = {multiplier}, .shift = {shift}, .mode = RoundingMode::kDoubleRound}.of(values);
      for (size_t i = 0; i < values.size(); ++i) {
        const int64_t want =
            shift > 31 ? rounded_twice(values[i], multiplier, shift) : rounded_once(values[i], multiplier, shift);
        ASSERT_EQ(got[i], want) << values[i] << " * " << multiplier << " >> " << shift;
      }
    }
  }
}

TEST(Rescale, TiesByHand) {
  // A quarter of 1, 2, 3 and their negatives: 0.25, 0.5, 0.75.
  Rescale quarter{.multiplier = {1 << 30}, .shift = {32}};
  EXPECT_EQ(quarter.of({1, 2, 3, -1, -2, -3}), (Numbers{0, 1, 1, 0, 0, -1}));
  quarter.mode = RoundingMode::kDoubleRound;
  EXPECT_EQ(quarter.of({1, 2, 3, -1, -2, -3}), (Numbers{1, 1, 1, 0, -1, -1}));
  quarter.mode = RoundingMode::kInexactRound;  // done as SINGLE_ROUND
  EXPECT_EQ(quarter.of({1, 2, 3, -1, -2, -3}), (Numbers{0, 1, 1, 0, 0, -1}));
  // At a shift of 31 both modes are one rounding.
  Rescale half{.multiplier = {1 << 30}, .shift = {31}};
  EXPECT_EQ(half.of({1, -1, 3, -3}), (Numbers{1, 0, 2, -1}));
  half.mode = RoundingMode::kDoubleRound;
  EXPECT_EQ(half.of({1, -1, 3, -3}), (Numbers{1, 0, 2, -1}));
}

TEST(Rescale, ValueMustFitIntoTheShift) {
  const Rescale shift8{.multiplier = {1}, .shift = {8}};
  EXPECT_EQ(shift8.error({-128}), ErrorCode::kOk);
  EXPECT_EQ(shift8.error({127}), ErrorCode::kOk);
  std::string message;
  EXPECT_EQ(shift8.error({128}, &message), ErrorCode::kRequireFailed);
  EXPECT_EQ(message, "RESCALE 'result' at here: the value 128 does not fit into 8 bits, the shift");
  EXPECT_EQ(shift8.error({-129}), ErrorCode::kRequireFailed);
  EXPECT_EQ((Rescale{.multiplier = {1}, .shift = {32}}.error({kLowest32, kHighest32})), ErrorCode::kOk);
}

TEST(Rescale, MultiplierAndShiftAreChecked) {
  EXPECT_EQ((Rescale{.multiplier = {-1}}.error({1})), ErrorCode::kRequireFailed);
  EXPECT_EQ((Rescale{.shift = {1}}.error({0})), ErrorCode::kRequireFailed);
  EXPECT_EQ((Rescale{.shift = {63}}.error({0})), ErrorCode::kRequireFailed);
}

TEST(Rescale, SixteenBitMultiplierOnInt48) {
  std::mt19937 random(kConversionSeed);
  std::cout << "seed " << kConversionSeed << "\n";
  const int64_t low = -(int64_t{1} << 47);
  for (int64_t shift = 2; shift <= 62; ++shift) {
    for (const int64_t multiplier : {1 << 14, 32767, 1, 0}) {
      const Rescale rescale{.in = DType::kInt48, .multiplier = {multiplier}, .shift = {shift}, .scale32 = false};
      for (const int64_t value : random_numbers(random, {40}, low, -low - 1)) {
        const int64_t want = rounded_once(value, multiplier, shift);
        if (want < kLowest32 || want > kHighest32) {
          ASSERT_EQ(rescale.error({value}), ErrorCode::kRequireFailed)
              << value << " * " << multiplier << " >> " << shift;
        } else {
          ASSERT_EQ(rescale.of({value}), Numbers{want}) << value << " * " << multiplier << " >> " << shift;
        }
      }
    }
  }
}

TEST(Rescale, PerChannelIsTheLastAxis) {
  const Rescale rescale{.out = DType::kInt8, .multiplier = {1 << 30, 1 << 30}, .shift = {30, 31}, .per_channel = true};
  EXPECT_EQ(rescale.on({2, 2}, {10, 10, -20, -20}).numbers(), (Numbers{10, 5, -20, -10}));
  EXPECT_EQ(error_of(rescale.on({2, 3}, {1, 2, 3, 4, 5, 6})), ErrorCode::kBadShape);
}

TEST(Rescale, ZeroPointsAndSaturation) {
  const Rescale to8{.in = DType::kInt8, .out = DType::kInt8, .input_zp = -128, .output_zp = 5};
  EXPECT_EQ(to8.of({-128, -127, 0, 127}), (Numbers{5, 6, 127, 127}));
  const Rescale low{.in = DType::kInt8, .out = DType::kInt8, .input_zp = 127, .output_zp = -128};
  EXPECT_EQ(low.of({127, 126, -128}), (Numbers{-128, -128, -128}));
  const Rescale to16{.out = DType::kInt16};
  EXPECT_EQ(to16.of({32767, 32768, -32768, -32769}), (Numbers{32767, 32767, -32768, -32768}));
  // The sum with the zero point must stay in 32 bits before it saturates.
  const Rescale overflow{.out = DType::kInt8, .output_zp = 1};
  EXPECT_EQ(overflow.error({(1 << 29) - 1}), ErrorCode::kOk);
  const Rescale all_bits{.out = DType::kInt8, .multiplier = {kHighest32}, .shift = {31}, .output_zp = 127};
  EXPECT_EQ(all_bits.of({(1 << 30) - 1}), (Numbers{127}));
}

TEST(Rescale, Unsigned) {
  const Rescale to_u8{
      .in = DType::kInt8, .out = DType::kInt8, .output_zp = -128, .output_unsigned = true};  // bits of 128
  EXPECT_EQ(to_u8.of({-128, -1, 0, 127}), (Numbers{0, 127, -128, -1}));
  const Rescale clipped{.in = DType::kInt16, .out = DType::kInt8, .output_unsigned = true};
  EXPECT_EQ(clipped.of({-5, 0, 255, 256}), (Numbers{0, 0, -1, -1}));
  const Rescale from_u8{.in = DType::kInt8, .out = DType::kInt8, .input_zp = -128, .input_unsigned = true};
  EXPECT_EQ(from_u8.of({0, 127, -128, -1}), (Numbers{-128, -1, 0, 127}));
  const Rescale from_u16{.in = DType::kInt16, .out = DType::kInt16, .input_zp = -32768, .input_unsigned = true};
  EXPECT_EQ(from_u16.of({0, -1, -32768}), (Numbers{-32768, 32767, 0}));
  const Rescale to_u16{.in = DType::kInt16, .out = DType::kInt16, .output_zp = -32768, .output_unsigned = true};
  EXPECT_EQ(to_u16.of({-32768, 32767, 0}), (Numbers{0, -1, -32768}));
}

TEST(Rescale, ForbiddenCombinations) {
  EXPECT_EQ((Rescale{.in = DType::kInt48}.error({1})), ErrorCode::kBadArgument);
  EXPECT_EQ((Rescale{.multiplier = {1}, .scale32 = false, .mode = RoundingMode::kDoubleRound}.error({1})),
            ErrorCode::kBadArgument);
  EXPECT_EQ((Rescale{.in = DType::kInt32, .out = DType::kInt8, .output_unsigned = true}.error({1})),
            ErrorCode::kBadArgument);
  EXPECT_EQ((Rescale{.in = DType::kInt8, .out = DType::kInt32, .input_unsigned = true}.error({1})),
            ErrorCode::kBadArgument);
  EXPECT_EQ((Rescale{.input_zp = 1}.error({1})), ErrorCode::kBadArgument);
  EXPECT_EQ((Rescale{
                .in = DType::kInt16,
                .input_zp = 5,
                .input_unsigned = true,
            }
                 .error({1})),
            ErrorCode::kBadArgument);
}

// The whole operator from its definition, for a sweep over types, signs, modes, shifts and multipliers.
struct Sweep {
  Rescale how;
  int64_t multiplier = 0, shift = 0;

  [[nodiscard]] static int bits(DType type) {
    return type == DType::kInt48 ? 48 : static_cast<int>(8 * graph::machine_width(type));
  }
  [[nodiscard]] static int64_t as_unsigned(int64_t value, DType type) {
    return value & ((int64_t{1} << bits(type)) - 1);
  }
  // The value that is scaled.
  [[nodiscard]] int64_t centred(int64_t element) const {
    return how.input_unsigned ? as_unsigned(element, how.in) - as_unsigned(how.input_zp, how.in)
                              : element - how.input_zp;
  }
  [[nodiscard]] int64_t output_zp() const {
    return how.output_unsigned ? as_unsigned(how.output_zp, how.out) : how.output_zp;
  }
  // Before it is clipped; nothing where a REQUIRE of the specification fails.
  [[nodiscard]] std::optional<int64_t> sum(int64_t element) const {
    const int64_t value = centred(element), limit = int64_t{1} << (shift - 1);
    if (how.scale32 && (value < -limit || value >= limit)) {
      return std::nullopt;
    }
    const bool twice = how.mode == RoundingMode::kDoubleRound && shift > 31;
    const int64_t scaled = twice ? rounded_twice(value, multiplier, shift) : rounded_once(value, multiplier, shift);
    const int64_t result = scaled + output_zp();
    const bool fits = scaled >= kLowest32 && scaled <= kHighest32 && result >= kLowest32 && result <= kHighest32;
    return fits ? std::optional(result) : std::nullopt;
  }
  template <typename T>
  [[nodiscard]] T clipped(T value) const {
    const int64_t span = int64_t{1} << bits(how.out), low = how.output_unsigned ? 0 : -span / 2;
    return std::clamp(value, static_cast<T>(low), static_cast<T>(low + span - 1));
  }
  // What INEXACT_ROUND allows: RESCALE, "Precision Requirements".
  [[nodiscard]] bool allowed(int64_t element, int64_t got) const {
    const long double exact = std::ldexp(
        static_cast<long double>(centred(element)) * static_cast<long double>(multiplier), -static_cast<int>(shift));
    const auto zp = static_cast<long double>(output_zp());
    const long double error = 0.5L + (3 * std::fabs(exact) + std::fabs(exact + zp)) * 0x1p-24L;
    const auto result = static_cast<long double>(got);
    return clipped(std::ceil(exact + zp - error)) <= result && result <= clipped(std::floor(exact + zp + error));
  }
  [[nodiscard]] Numbers elements(std::mt19937& random) const {
    const int64_t half = int64_t{1} << (bits(how.in) - 1);
    Numbers values{-half, -half + 1, -1, 0, 1, half - 1};
    if (bits(how.in) == 8) {
      values.resize(256);
      std::iota(values.begin(), values.end(), -128);
    }
    std::uniform_int_distribution<int64_t> any(-half, half - 1);
    for (int i = 0; i < (bits(how.in) == 8 ? 0 : 20); ++i) {
      values.push_back(any(random));
      const Wide tie = ((Wide{any(random)} * multiplier >> shift) * 2 + 1) << (shift - 1);
      const auto middle = static_cast<int64_t>(tie / std::max<int64_t>(multiplier, 1)) + how.input_zp;
      for (const int64_t value : {middle - 1, middle, middle + 1}) {
        if (value >= -half && value < half) {
          values.push_back(value);
        }
      }
    }
    std::erase_if(values, [&](int64_t value) { return !sum(value); });
    return values;
  }
  size_t compare(std::mt19937& random) {
    how.multiplier = {multiplier};
    how.shift = {shift};
    const Numbers values = elements(random);
    if (values.empty()) {
      return 0;
    }
    const Numbers got = how.of(values);
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t result = how.output_unsigned ? as_unsigned(got[i], how.out) : got[i];
      EXPECT_EQ(result, clipped(*sum(values[i]))) << values[i] << " * " << multiplier << " >> " << shift;
      EXPECT_TRUE(how.mode != RoundingMode::kInexactRound || allowed(values[i], result)) << values[i] << " " << result;
    }
    return values.size();
  }
};

// Types and signs that the specification allows, with zero points at the limits.
std::vector<Rescale> type_combinations() {
  std::vector<Rescale> all;
  for (const DType in : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt48}) {
    for (const DType out : {DType::kInt8, DType::kInt16, DType::kInt32}) {
      const bool narrow = Sweep::bits(in) < 32 && Sweep::bits(out) < 32;
      const auto zp = [](DType type, bool is_unsigned, int64_t byte) {
        return type == DType::kInt8 ? byte : is_unsigned ? int64_t{-32768} : int64_t{0};
      };
      for (const auto& [in_sign, out_sign] : {std::pair{false, false}, {true, false}, {false, true}}) {
        if ((in_sign || out_sign) && !narrow) {
          continue;
        }
        for (const int64_t byte : {-128, 127}) {
          all.push_back({.in = in,
                         .out = out,
                         .input_zp = zp(in, in_sign, byte),
                         .output_zp = zp(out, out_sign, byte),
                         .input_unsigned = in_sign,
                         .output_unsigned = out_sign});
        }
      }
    }
  }
  return all;
}

TEST(Rescale, EveryTypeSignModeAndShift) {
  std::mt19937 random(kConversionSeed);
  std::cout << "seed " << kConversionSeed << "\n";
  std::map<std::string, size_t> compared;
  const auto sweep = [&](Sweep of, const char* name, std::initializer_list<int64_t> multipliers) {
    for (of.shift = 2; of.shift <= 62; ++of.shift) {
      for (const int64_t multiplier : multipliers) {
        of.multiplier = multiplier;
        compared[name] += of.compare(random);
        if (testing::Test::HasFailure()) {
          return;
        }
      }
    }
  };
  for (Rescale how : type_combinations()) {
    SCOPED_TRACE(std::string(graph::name(how.in)) + " to " + std::string(graph::name(how.out)));
    how.scale32 = false;
    sweep({how}, "16 bits, SINGLE_ROUND", {1 << 14, 32767, 1, 0});
    how.mode = RoundingMode::kInexactRound;
    sweep({how}, "16 bits, INEXACT_ROUND", {1 << 14, 32767});
    if (how.in == DType::kInt48) {
      continue;
    }
    how.scale32 = true;
    sweep({how}, "32 bits, INEXACT_ROUND", {1 << 30, 1234567891});
    how.mode = RoundingMode::kSingleRound;
    sweep({how}, "32 bits, SINGLE_ROUND", {1 << 30, kHighest32, 0});
    how.mode = RoundingMode::kDoubleRound;
    sweep({how}, "32 bits, DOUBLE_ROUND", {1 << 30, kHighest32, 1});
  }
  EXPECT_EQ(compared.size(), 5u);
  for (const auto& [name, count] : compared) {
    std::cout << name << ": " << count << " compared\n";
  }
}

TEST(Cast, BetweenIntegersAndBooleans) {
  const auto cast = [](const Value& value, DType type) {
    return OperatorCase{Op::kCast, {value}, type, value.shape}.numbers();
  };
  EXPECT_EQ(cast(i32({3}, {257, -129, kLowest32}), DType::kInt8), (Numbers{1, 127, 0}));  // the low bits
  EXPECT_EQ(cast(i8({2}, {-128, 127}), DType::kInt32), (Numbers{-128, 127}));
  EXPECT_EQ(cast(i32({2}, {65535, 32768}), DType::kInt16), (Numbers{-1, -32768}));
  EXPECT_EQ(cast(i16({3}, {0, 256, -1}), DType::kBool), (Numbers{0, 1, 1}));
  EXPECT_EQ(cast(boolean({2}, {0, 1}), DType::kInt32), (Numbers{0, 1}));
  EXPECT_EQ(error_of([&] { (void)cast(i8({1}, {1}), DType::kInt8); }), ErrorCode::kTypeUnsupported);
}

}  // namespace
}  // namespace npu::reference::test
