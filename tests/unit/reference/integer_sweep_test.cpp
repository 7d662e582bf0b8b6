// SPDX-License-Identifier: Apache-2.0
// Integer operators whose cases can be counted out: every input of TABLE, every shift of the shifting operators, every
// shift of MUL at the corners; against formulas that use no shift.
#include <algorithm>
#include <iostream>
#include <limits>
#include <numeric>

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

__extension__ using Wide = __int128;
using Numbers = std::vector<int64_t>;

constexpr unsigned kSweepSeed = 20260103;

Numbers all_numbers(int bits) {
  Numbers values(size_t{1} << bits);
  std::iota(values.begin(), values.end(), -(int64_t{1} << (bits - 1)));
  return values;
}

Shape line(const Numbers& values) { return {static_cast<int64_t>(values.size())}; }

Wide power_of_two(int64_t exponent) { return Wide{1} << exponent; }

Wide floor_divide(Wide value, Wide by) {
  const Wide quotient = value / by;
  return value % by < 0 ? quotient - 1 : quotient;
}

// What `bits` low bits are as a signed integer.
int64_t wrapped(Wide value, int bits) {
  const Wide rest = value - floor_divide(value, power_of_two(bits)) * power_of_two(bits);
  return static_cast<int64_t>(rest >= power_of_two(bits - 1) ? rest - power_of_two(bits) : rest);
}

// Powers of two, their neighbours and negatives, and random numbers.
Numbers int32_corners(int random_count) {
  Numbers values{0};
  for (int power = 0; power < 32; ++power) {
    for (int64_t near = -1; near <= 1; ++near) {
      values.push_back(wrapped(power_of_two(power) + near, 32));
      values.push_back(wrapped(-power_of_two(power) + near, 32));
    }
  }
  std::mt19937 random(kSweepSeed);
  for (int i = 0; i < random_count; ++i) {
    values.push_back(static_cast<int32_t>(random()));
  }
  return values;
}

TEST(IntegerSweep, TableOfEveryInt8) {
  std::cout << "seed " << kSweepSeed << "\n";
  std::mt19937 random(kSweepSeed);
  std::vector<Numbers> tables(20);
  for (Numbers& table : tables) {
    table = random_numbers(random, {256}, -128, 127);
  }
  const Numbers inputs = all_numbers(8);
  tables.push_back(inputs);
  size_t compared = 0;
  for (const Numbers& table : tables) {
    const Numbers got = OperatorCase{Op::kTable, {i8({256}, inputs), i8({256}, table)}, DType::kInt8, {256}}.numbers();
    ASSERT_EQ(got, table);  // input -128 comes first
    compared += got.size();
  }
  std::cout << compared << " compared\n";
}

TEST(IntegerSweep, TableOfEveryInt16) {
  std::cout << "seed " << kSweepSeed << "\n";
  std::mt19937 random(kSweepSeed);
  std::vector<Numbers> tables(6, Numbers(513));
  for (int64_t i = 0; i < 513; ++i) {
    const auto at = static_cast<size_t>(i);
    tables[0][at] = std::min<int64_t>(-32768 + 128 * i, 32767);  // the line
    tables[1][at] = std::max<int64_t>(32767 - 128 * i, -32768);  // falling
    tables[2][at] = i % 2 == 0 ? -32768 : -1;                    // the steepest rise, and fall by as much
    tables[3][at] = i % 2 == 0 ? 32767 : 0;
    tables[4][at] = static_cast<int64_t>(random() % 32768);  // any, within the slope
    tables[5][at] = -1 - static_cast<int64_t>(random() % 32768);
  }
  const Numbers inputs = all_numbers(16);
  size_t compared = 0;
  for (const Numbers& table : tables) {
    const Numbers got =
        OperatorCase{Op::kTable, {i16(line(inputs), inputs), i16({513}, table)}, DType::kInt32, line(inputs)}.numbers();
    for (size_t i = 0; i < inputs.size(); ++i, ++compared) {
      // A mean of two neighbours, weighted by the distances in 128ths.
      const size_t entry = i / 128;
      const auto fraction = static_cast<int64_t>(i % 128);
      ASSERT_EQ(got[i], table[entry] * (128 - fraction) + table[entry + 1] * fraction) << inputs[i];
    }
  }
  std::cout << compared << " compared\n";
}

struct Shifting {
  Op op;
  bool round;
  Wide (*define)(Wide value, int64_t amount, int bits);
};

TEST(IntegerSweep, EveryShiftOfEveryWidth) {
  const Shifting operators[] = {
      {Op::kArithmeticRightShift, false,
       [](Wide value, int64_t amount, int) { return floor_divide(value, power_of_two(amount)); }},
      {Op::kArithmeticRightShift, true,
       [](Wide value, int64_t amount, int) {
         return floor_divide(2 * value + power_of_two(amount), 2 * power_of_two(amount));
       }},
      {Op::kLogicalLeftShift, false, [](Wide value, int64_t amount, int) { return value * power_of_two(amount); }},
      {Op::kLogicalRightShift, false,
       [](Wide value, int64_t amount, int bits) {
         return floor_divide(value < 0 ? value + power_of_two(bits) : value, power_of_two(amount));
       }},
  };
  const std::pair<DType, Numbers> types[] = {
      {DType::kInt8, all_numbers(8)}, {DType::kInt16, all_numbers(16)}, {DType::kInt32, int32_corners(2000)}};
  std::cout << "seed " << kSweepSeed << "\n";
  for (const Shifting& shifting : operators) {
    Attributes attributes;
    attributes.round = shifting.round;
    size_t compared = 0;
    for (const auto& [type, values] : types) {
      const auto bits = static_cast<int>(8 * graph::machine_width(type));
      for (int64_t amount = 0; amount < bits; ++amount) {
        const Numbers got = OperatorCase{shifting.op,
                                         {value_of(type, line(values), values), value_of(type, {1}, {amount})},
                                         type,
                                         line(values),
                                         attributes}
                                .numbers();
        for (size_t i = 0; i < values.size(); ++i, ++compared) {
          ASSERT_EQ(got[i], wrapped(shifting.define(values[i], amount, bits), bits)) << values[i] << " by " << amount;
        }
      }
    }
    std::cout << graph::name(shifting.op) << (shifting.round ? " rounding" : "") << ": " << compared << " compared\n";
  }
}

Numbers products(DType type, const Numbers& a, const Numbers& b, int64_t shift) {
  const Value first = value_of(type, line(a), a);
  return OperatorCase{Op::kMul, {first, value_of(type, line(b), b), i8({1}, {shift})}, DType::kInt32, first.shape}
      .numbers();
}

TEST(IntegerSweep, MultipliesEveryPairOfInt8) {
  const Numbers inputs = all_numbers(8);
  size_t compared = 0;
  for (const int64_t a : inputs) {
    const Numbers got = products(DType::kInt8, inputs, Numbers(256, a), 0);
    for (size_t i = 0; i < inputs.size(); ++i, ++compared) {
      ASSERT_EQ(got[i], inputs[i] * a);
    }
  }
  std::cout << compared << " compared\n";
}

TEST(IntegerSweep, MultipliesWithEveryShift) {
  const Numbers corners = int32_corners(60);
  Numbers a, b;
  for (const int64_t x : corners) {
    for (const int64_t y : corners) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  std::cout << "seed " << kSweepSeed << "\n";
  size_t compared = 0, beyond = 0;
  for (int64_t shift = 0; shift <= 63; ++shift) {
    Numbers left, right, want;
    for (size_t i = 0; i < a.size(); ++i) {
      // Without a shift the low 32 bits; else the nearest number, half up, which has to fit.
      const Wide product = Wide{a[i]} * b[i];
      const Wide exact = shift == 0 ? Wide{wrapped(product, 32)}
                                    : floor_divide(2 * product + power_of_two(shift), 2 * power_of_two(shift));
      if (exact < -power_of_two(31) || exact >= power_of_two(31)) {
        // A failing element ends the run, so that each needs one of its own: some of them.
        if (++beyond % 500 == 0) {
          ASSERT_EQ(error_of([&] { (void)products(DType::kInt32, {a[i]}, {b[i]}, shift); }), ErrorCode::kRequireFailed)
              << a[i] << " * " << b[i] << " >> " << shift;
        }
        continue;
      }
      left.push_back(a[i]);
      right.push_back(b[i]);
      want.push_back(static_cast<int64_t>(exact));
    }
    ASSERT_EQ(products(DType::kInt32, left, right, shift), want) << "shift " << shift;
    compared += want.size();
  }
  std::cout << compared << " compared, " << beyond / 500 << " of " << beyond << " out of range refused\n";
}

}  // namespace
}  // namespace npu::reference::test
