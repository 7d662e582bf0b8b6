// SPDX-License-Identifier: Apache-2.0
// Formats and micro-operations of floating point against exact arithmetic, on every kernel set of this machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "hw/engine/vpu_model.h"
#include "sim/cosim/random_floats.h"
#include "tests/unit/contract/register_uops.h"
#include "tests/unit/engine/scalar_floats.h"
#include "tests/unit/engine/scalar_uops.h"
#include "tests/unit/engine/support.h"
#include "tests/unit/engine/uop_case.h"

namespace npu::engine::testing {
namespace {

using contract::Element;
using contract::ErrorCode;
using contract::Uop;
using contract::UopCode;
using cosim::FloatRange;

constexpr Element kSmallFormats[] = {Element::kF16, Element::kBf16, Element::kF8e4m3, Element::kF8e5m2};
constexpr size_t kRandomValues = 100'000;  // of each micro-operation

Numbers as_numbers(const std::vector<uint32_t>& patterns) { return {patterns.begin(), patterns.end()}; }

class FloatUops : public ::testing::Test {
 protected:
  FloatUops() {
    for (const Kernels* kernels : supported_kernels()) engines_.emplace_back(*kernels);
  }

  // The tile on every kernel set; `wanted` are its results.
  void check(const UopCase& test, const Numbers& wanted, const std::string& what) {
    for (Set& set : engines_) {
      TestMemory memory(test.bytes);
      ASSERT_EQ(set.engine->run(encode(test.command), memory, /*timed=*/false).error, ErrorCode::kOk) << what;
      const Numbers got = test.results(memory.scratchpad());
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], wanted[i]) << what << ", element " << i << " on " << set.name << std::hex << ": " << got[i]
                                     << " for " << wanted[i];
      }
      compared_ += static_cast<int64_t>(got.size());
    }
  }

  // Element i of each input in registers 0, 1, 2; the result as its register has it.
  void check(const Uop& uop, const std::vector<Numbers>& inputs, const std::string& what) {
    Numbers wanted;
    for (size_t i = 0; i < inputs[0].size(); ++i) {
      std::array<int64_t, 3> values{};
      for (size_t k = 0; k < inputs.size(); ++k) values.at(k) = inputs[k][i];
      wanted.push_back(scalar::float_uop(uop, values));
    }
    check(
        UopCase(uop, Element::kI48, inputs, Element::kI48), wanted,
        std::string(name(uop.op)) + " imm " + std::to_string(uop.imm0) + ' ' + std::to_string(uop.imm1) + ", " + what);
  }

  void TearDown() override {
    std::printf("%lld elements compared on", static_cast<long long>(compared_));
    for (const Set& set : engines_) std::printf(" %s", set.name);
    std::printf("\n");
  }

 private:
  struct Set {
    explicit Set(const Kernels& kernels) : name(kernels.name), engine(make_vpu_model(test_machine(), kernels)) {}
    const char* name;
    std::unique_ptr<Engine> engine;
  };
  std::vector<Set> engines_;
  int64_t compared_ = 0;
};

// What a load leaves in its register, or a store makes of one.
const Uop kMove = {UopCode::kBitOr, 0, 0, 0, 0, 0};

TEST_F(FloatUops, LoadsWidenEveryPattern) {
  for (const Element format : kSmallFormats) {
    const Numbers patterns = range(0, (int64_t{1} << (8 * element_bytes(format))) - 1);
    Numbers wanted;
    for (const int64_t pattern : patterns) {
      wanted.push_back(static_cast<int32_t>(scalar::widen(format, static_cast<uint32_t>(pattern))));
    }
    for (const int32_t flags : {0, 1}) {
      check(UopCase(kMove, format, {patterns}, Element::kI48, {}, flags), wanted, std::string(name(format)));
    }
  }
}

TEST_F(FloatUops, Fp32MovesAsItIs) {
  Random random(301);
  Numbers patterns = as_numbers(scalar::special_patterns(Element::kF32)), wanted;
  for (int i = 0; i < 10'000; ++i) patterns.push_back(static_cast<uint32_t>(random.bits()));
  for (const int64_t pattern : patterns) wanted.push_back(static_cast<int32_t>(pattern));
  check(UopCase(kMove, Element::kF32, {patterns}, Element::kI48), wanted, "load of f32, " + random.name());
  for (int64_t& pattern : patterns) pattern |= random.between(-0x8000, 0x7fff) << 32;
  for (int64_t& pattern : wanted) pattern = static_cast<uint32_t>(pattern);
  UopCase store(kMove, Element::kI48, {patterns}, Element::kF32);
  for (int64_t& pattern : wanted) pattern = static_cast<int32_t>(pattern);
  check(store, wanted, "store of f32, " + random.name());
}

// Of both signs, each number of the format, the middle between it and the next one, and what lies next to that. Behind
// the largest number the next one would be as far away as the one before.
Numbers around_halves(Element format) {
  const auto is_number = [](uint32_t value) { return (value & ~scalar::kMinus) < scalar::kInfinity; };
  const auto difference = [](uint32_t a, uint32_t b) { return scalar::sum(a, b | scalar::kMinus); };
  constexpr uint32_t kHalf = 0x3f000000;
  Numbers values;
  uint32_t step = 0;
  for (uint32_t pattern = 0;; ++pattern) {
    const uint32_t low = scalar::widen(format, pattern), high = scalar::widen(format, pattern + 1);
    if (!is_number(low)) return values;
    if (is_number(high)) step = difference(high, low);
    const uint32_t middle = scalar::sum(low, scalar::product(step, kHalf));
    for (const uint32_t value : {low, middle - 1, middle, middle + 1}) {
      values.push_back(value);
      values.push_back(value | scalar::kMinus);
    }
  }
}

TEST_F(FloatUops, StoresNarrow) {
  constexpr uint32_t kStep = 20'011;
  Random random(302);
  Numbers sample = as_numbers(scalar::special_patterns(Element::kF32));
  for (uint64_t pattern = 0; pattern <= UINT32_MAX; pattern += kStep) sample.push_back(static_cast<int64_t>(pattern));
  for (const Element format : kSmallFormats) {
    Numbers values = around_halves(format), wanted;
    values.insert(values.end(), sample.begin(), sample.end());
    for (int i = 0; i < 20'000; ++i) {
      values.push_back(random_float(Element::kF32, FloatRange::kWithExtremes, random));
    }
    for (const int64_t value : values) {
      const uint32_t pattern = scalar::narrow(format, static_cast<uint32_t>(value));
      wanted.push_back(as_stored(pattern, element_bytes(format) == 1 ? Element::kI8 : Element::kI16));
    }
    check(UopCase(kMove, Element::kI32, {values}, format), wanted, std::string(name(format)) + ", " + random.name());
  }
}

// Where two formats meet the same FP32 number, that number comes back.
TEST_F(FloatUops, EveryPatternSurvivesLoadAndStore) {
  for (const Element format : kSmallFormats) {
    const Numbers patterns = range(0, (int64_t{1} << (8 * element_bytes(format))) - 1);
    const Element bits = element_bytes(format) == 1 ? Element::kI8 : Element::kI16;
    Numbers wanted;
    for (const int64_t pattern : patterns) {
      const uint32_t value = scalar::widen(format, static_cast<uint32_t>(pattern));
      // Of NaNs there is one.
      const int64_t kept = scalar::is_nan(value) ? scalar::narrow(format, scalar::kNan) : pattern;
      wanted.push_back(as_stored(kept, bits));
    }
    check(UopCase(kMove, format, {patterns}, format), wanted, std::string(name(format)));
  }
}

// Of f32 and of what the small formats widen to: where results change from one kind to another.
Numbers special_values() {
  Numbers values = as_numbers(scalar::special_patterns(Element::kF32));
  for (const Element format : kSmallFormats) {
    for (const uint32_t pattern : scalar::special_patterns(format)) values.push_back(scalar::widen(format, pattern));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// All pairs; a third operand takes its turn.
std::vector<Numbers> all_pairs(const Numbers& values) {
  std::vector<Numbers> inputs(3);
  for (size_t a = 0; a < values.size(); ++a) {
    for (size_t b = 0; b < values.size(); ++b) {
      inputs[0].push_back(values[a]);
      inputs[1].push_back(values[b]);
      inputs[2].push_back(values[(7 * a + b) % values.size()]);
    }
  }
  return inputs;
}

uint32_t random_value(Random& random) {
  const auto format = random.pick({Element::kF32, Element::kF16, Element::kBf16, Element::kF8e4m3});
  switch (random.between(0, 3)) {
    case 0:
      return static_cast<uint32_t>(random.bits());
    case 1:
      return random_float(Element::kF32, FloatRange::kWithExtremes, random);
    default:
      return scalar::widen(format, random_float(format, FloatRange::kAroundOne, random));  // sums and products tie
  }
}

// Some sums cancel: all of them, or all but a few places.
std::vector<Numbers> random_values(Random& random) {
  std::vector<Numbers> inputs(3);
  for (size_t i = 0; i < kRandomValues; ++i) {
    const uint32_t a = random_value(random);
    uint32_t b = random_value(random), c = random_value(random);
    if (random.chance(20)) b = (a ^ scalar::kMinus) + static_cast<uint32_t>(random.between(-2, 2));
    if (random.chance(30)) {
      c = (scalar::product(a, b) ^ scalar::kMinus) + static_cast<uint32_t>(random.between(-1, 1));
    }
    inputs[0].push_back(a);
    inputs[1].push_back(b);
    inputs[2].push_back(c);
  }
  // What lies above the low 32 bits does not count.
  for (Numbers& input : inputs) {
    for (int64_t& value : input) {
      value = random.chance(80) ? static_cast<int32_t>(value) : value | random.between(-0x8000, 0x7fff) << 32;
    }
  }
  return inputs;
}

TEST_F(FloatUops, EveryOneOnAllPairsOfSpecialValues) {
  const std::vector<Numbers> inputs = all_pairs(special_values());
  for (Uop uop : contract::testing::float_register_uops()) {
    if (uop.op == UopCode::kFma) uop.imm0 = 2;
    check(uop, inputs, "special values");
    if (HasFatalFailure()) return;
  }
}

TEST_F(FloatUops, EveryOneOnRandomValues) {
  Random random(303);
  const std::vector<Numbers> inputs = random_values(random);
  size_t tried = 0;
  for (Uop uop : contract::testing::float_register_uops()) {
    if (uop.op == UopCode::kFma) uop.imm0 = 2;
    check(uop, inputs, random.name());
    if (HasFatalFailure()) return;
    ++tried;
  }
  // Three formats each for sums, differences, products, integers to floats and floats to integers; and so on.
  EXPECT_EQ(tried, 5 * 3 + 1 + 2 * 2 + 2 * 5 + 2 + 3 + 3 + 4 + 1 + 1 + 2 * 5U);
}

// Products of 13 and 12 bits lie halfway between FP32 numbers when they are odd: what is added decides, however small.
TEST_F(FloatUops, ProductsAndSumsRoundOnce) {
  Random random(304);
  std::vector<Numbers> inputs(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto mantissa = [&](int64_t bits) {
      return (random.between(int64_t{1} << (bits - 1), (int64_t{1} << bits) - 1) | 1) << (24 - bits);
    };
    const auto number = [&](int64_t digits, int64_t exponent) {
      return (exponent << 23) + (digits & 0x7fffff) + (random.chance(50) ? int64_t{scalar::kMinus} : 0);
    };
    inputs[0].push_back(number(mantissa(13), random.between(1, 254)));
    inputs[1].push_back(number(mantissa(12), random.between(100, 150)));
    const int64_t tiny = random.pick<int64_t>({0, 1, 0x00800000, 0x0c800000, random.between(1, 0x7f7fffff)});
    inputs[2].push_back(tiny | (random.chance(50) ? int64_t{scalar::kMinus} : 0));
  }
  check({UopCode::kFma, 0, 0, 1, 2, 0}, inputs, random.name());
  for (const uint32_t c : {0U, 1U, 0x80000001U, 0x3f800000U}) {
    check({UopCode::kFmaImm, 0, 0, 1, static_cast<int32_t>(c), 0}, inputs, random.name());
    for (const uint32_t factor : {0x3f801000U, 0x40490fdbU, 0xbf801000U, 0x7f7fffffU, 0x00000001U}) {
      check({UopCode::kFaffine, 0, 0, 0, static_cast<int32_t>(factor), static_cast<int32_t>(c)}, inputs, random.name());
    }
  }
}

// Around halves of the format's last place, of every size.
TEST_F(FloatUops, IntegersRoundOnce) {
  Random random(305);
  for (const auto& [format, bits] : {std::pair{Element::kF16, 11}, {Element::kBf16, 8}, {Element::kF32, 24}}) {
    Numbers values = corners();
    for (int top = bits; top < 31; ++top) {
      const int64_t unit = int64_t{1} << (top + 1 - bits);
      for (int i = 0; i < 600; ++i) {
        const int64_t number = random.between(int64_t{1} << (bits - 1), (int64_t{1} << bits) - 1) * unit + unit / 2;
        for (const int64_t next : {-1, 0, 1}) {
          values.push_back(number + next);
          values.push_back(-number - next);
        }
      }
    }
    // A tie in the upper places that a one far below decides.
    for (const int64_t value : {65504, 65519, 65520, 65521, 65535, 65536, INT32_MAX - 63, INT32_MAX - 64}) {
      values.push_back(value);
      values.push_back(-value);
    }
    for (size_t i = 0; i < kRandomValues; ++i) {
      values.push_back(static_cast<int32_t>(random.bits()) >> random.between(0, 31));
    }
    const size_t count = values.size();
    for (size_t i = 0; i < count; i += 3) values.push_back(values[i] ^ random.between(-0x8000, 0x7fff) << 32);
    check({UopCode::kIntToFloat, 0, 0, 0, static_cast<int32_t>(format), 0}, {values}, random.name());
  }
}

TEST_F(FloatUops, IntegersAreTheNearestAndClipped) {
  Random random(306);
  Numbers values;
  // 127, 32767 and 2^31, and what lies around them.
  for (const int64_t limit : {0x42fe0000, 0x46fffe00, 0x4f000000}) {
    for (int64_t near = -70'000; near <= 70'000; near += 7) values.push_back(limit + near);
    for (int64_t near = -300; near <= 300; ++near) values.push_back(limit + near);
  }
  for (size_t i = 0; i < kRandomValues; ++i) {
    // Halves, quarters and so on.
    const int64_t exponent = random.between(120, 160), digits = random.between(0, 0x7f) << random.between(0, 16);
    values.push_back(exponent << 23 | (digits & 0x7fffff));
  }
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(values[i] | scalar::kMinus);
  for (const Element type : {Element::kI8, Element::kI16, Element::kI32}) {
    check({UopCode::kFloatToInt, 0, 0, 0, static_cast<int32_t>(type), 0}, {values}, random.name());
  }
  for (const int32_t mode : {0, 1, 2}) check({UopCode::kFround, 0, 0, 0, mode, 0}, {values}, random.name());
}

TEST_F(FloatUops, PowersOfTwoScaleByAny) {
  Random random(307);
  Numbers powers = {INT32_MIN,
                    INT32_MIN + 1,
                    INT32_MAX,
                    INT32_MAX - 1,
                    int64_t{1} << 32,
                    (int64_t{1} << 32) + 3,
                    -(int64_t{1} << 40) - 5,
                    65536,
                    -65536,
                    511,
                    512,
                    513,
                    -511,
                    -512,
                    -513,
                    1023,
                    -1074};
  for (const int64_t power : range(-300, 300)) powers.push_back(power);
  std::vector<Numbers> inputs(2);
  for (const int64_t value : as_numbers(scalar::special_patterns(Element::kF32))) {
    for (const int64_t power : powers) {
      inputs[0].push_back(value);
      inputs[1].push_back(power);
    }
  }
  for (size_t i = 0; i < kRandomValues; ++i) {
    inputs[0].push_back(static_cast<uint32_t>(random.bits()));
    inputs[1].push_back(random.chance(50) ? random.between(-280, 280) : static_cast<int32_t>(random.bits()));
  }
  check({UopCode::kFscale, 0, 0, 1, 0, 0}, inputs, random.name());
}

// Programs of integers and floating point over random iteration spaces; the whole scratchpad must be what one value at
// a time gives.
class FloatPrograms : public EveryKernelSet {};

TEST_P(FloatPrograms, EqualScalarOnes) {
  Random random(308);
  const std::unique_ptr<Engine> engine = make_vpu_model(test_machine(), kernels());
  int64_t compared = 0;
  for (int i = 0; i < 150; ++i) {
    EwiseCase test = make_ewise_case(cosim::random_ewise(random, /*floats=*/true), random);
    ASSERT_EQ(engine->run(test.words, test.memory, /*timed=*/true).error, ErrorCode::kOk) << i << ", " << random.name();
    ASSERT_EQ(test.memory.scratchpad(), test.expected)
        << cosim::describe(test.command) << ", case " << i << ", " << random.name();
    compared += test.elements;
  }
  std::printf("%lld elements compared on %s\n", static_cast<long long>(compared), GetParam().c_str());
}

INSTANTIATE_TEST_SUITE_P(Kernels, FloatPrograms, ::testing::ValuesIn(all_kernel_sets()), kernel_set_name);

}  // namespace
}  // namespace npu::engine::testing
