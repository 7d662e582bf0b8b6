// SPDX-License-Identifier: Apache-2.0
// Chains of micro-operations that become one look-up, and those that must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "driver/compiler/lower/uop_values.h"
#include "hw/contract/uop_fields.h"
#include "tests/unit/compiler/front_check.h"
#include "tests/unit/contract/register_uops.h"
#include "tests/unit/engine/scalar_uops.h"

namespace npu::compiler::testing {
namespace {

using contract::Uop;
using contract::UopCode;
using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Rescaling;
using graph::TensorId;

// Machines whose RESCALE takes one pass, and four.
contract::Capabilities machine(uint32_t fast) {
  contract::Capabilities caps = front_machine();
  caps.vpu_rescale = caps.vpu_table_pairs = fast;
  caps.vpu_registers = 16;
  return caps;
}

std::map<UopCode, int> counts(const Module& module) {
  std::map<UopCode, int> counts;
  for (const EwiseStep* step : steps_of<EwiseStep>(module)) {
    for (const Uop& uop : step->uops) ++counts[uop.op];
  }
  return counts;
}

Rescaling scaled(double multiplier, double shift, double input_zp = 0, double output_zp = 0) {
  Rescaling how;
  how.multiplier = {multiplier};
  how.shift = {shift};
  how.input_zp = input_zp;
  how.output_zp = output_zp;
  return how;
}

TensorId words(GraphBuilder& b, double value) { return b.constant(DType::kInt32, {1, 1}, {value}); }

// As converters make it: four tables of INT16 with one byte of the exponential function each.
TensorId exponential(GraphBuilder& b, TensorId difference) {
  const TensorId x = b.rescale(difference, DType::kInt16, scaled(1 << 30, 23));
  std::vector<TensorId> parts;
  for (int64_t k = 0; k < 4; ++k) {
    std::vector<double> entries(513);
    for (int64_t i = 0; i < 513; ++i) entries[static_cast<size_t>(i)] = static_cast<double>((i * i * (k + 3)) % 256);
    parts.push_back(b.op(Op::kTable, {x, b.constant(DType::kInt16, {513}, entries)}));
  }
  TensorId sum = b.op(Op::kLogicalLeftShift, {parts[0], words(b, 9)});
  sum = b.add(sum, b.op(Op::kLogicalLeftShift, {parts[1], words(b, 5)}));
  sum = b.add(sum, b.op(Op::kLogicalLeftShift, {parts[2], words(b, 1)}));
  return b.add(sum, b.arithmetic_right_shift(parts[3], words(b, 7), true));
}

TensorId less_maximum(GraphBuilder& b, TensorId x, int32_t axis) { return b.sub(x, b.reduce(Op::kReduceMax, x, axis)); }

class Lookup : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Machines, Lookup, ::testing::Values(0, 1));

TEST_P(Lookup, TheExponentialOfASoftmaxIsOne) {
  GraphBuilder b;
  const TensorId x = b.rescale(b.input("x", DType::kInt8, {40, 33}), DType::kInt32, scaled(1 << 30, 30, -8));
  b.output(exponential(b, less_maximum(b, x, 1)));
  const graph::Graph graph = b.build();
  const Module module = lowered(graph, machine(GetParam()));
  const std::map<UopCode, int> found = counts(module);
  EXPECT_EQ(found.at(UopCode::kTable32), 1);
  EXPECT_EQ(found.count(UopCode::kTable16), 0u);
  EXPECT_EQ(found.count(UopCode::kShl), 0u);
  for (const EwiseStep* step : steps_of<EwiseStep>(module)) {
    for (const Uop& uop : step->uops) {
      EXPECT_TRUE(uop.op != UopCode::kTable32 || uop.imm0 == -255);
    }
  }
  compare_with_reference(graph, 5, 1, machine(GetParam()));
}

// Of another row's maximum, the difference has 511 values; and so it has of a tensor that looks like the transposed
// one.
TEST_P(Lookup, TheMaximumMustBeThatOfTheRow) {
  for (const bool transposed : {false, true}) {
    GraphBuilder b;
    const auto input = [&](const char* name) {
      return b.rescale(b.input(name, DType::kInt8, {24, 24}), DType::kInt32, scaled(1 << 30, 30, -8));
    };
    const TensorId x = input("x");
    const TensorId most = b.reduce(Op::kReduceMax, transposed ? x : input("y"), 1);
    b.output(exponential(b, b.sub(x, transposed ? b.reshape(most, {1, 24}) : most)));
    const graph::Graph graph = b.build();
    EXPECT_EQ(counts(lowered(graph, machine(GetParam()))).count(UopCode::kTable32), 0u);
    compare_with_reference(graph, 5, 1, machine(GetParam()));
  }
}

TEST_P(Lookup, WideValuesStay) {
  GraphBuilder b;
  b.output(exponential(b, less_maximum(b, b.input("x", DType::kInt32, {24, 24}), 1)));
  const graph::Graph graph = b.build();
  EXPECT_EQ(counts(lowered(graph, machine(GetParam()))).count(UopCode::kTable32), 0u);
  compare_with_reference(graph, 5, 1, machine(GetParam()));
}

// Less than what the table costs to load.
TEST_P(Lookup, FewElementsStay) {
  GraphBuilder b;
  TensorId x = b.rescale(b.input("x", DType::kInt8, {4}), DType::kInt32);
  for (int i = 0; i < 6; ++i) x = b.op(Op::kAbs, {b.sub(b.constant(DType::kInt32, {1}, {i * 9.}), x)});
  b.output(x);
  const graph::Graph graph = b.build();
  EXPECT_EQ(counts(lowered(graph, machine(GetParam()))).count(UopCode::kTable32), 0u);
  compare_with_reference(graph, 3, 1, machine(GetParam()));
}

// Times 255, then a 255th of it: as converters scale by a constant of 1.
TEST_P(Lookup, WhatChangesNothingGoes) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {50, 40});
  const TensorId wide = b.rescale(x, DType::kInt32, scaled(1 << 30, 30, -8));
  const TensorId product = b.mul(wide, b.constant(DType::kInt32, {1, 1}, {255}));
  const TensorId narrow = b.rescale(product, DType::kInt8, scaled(1077952640, 38, 0, -8));
  b.output(b.rescale(narrow, DType::kInt32, scaled(1 << 30, 30, -8)));
  const graph::Graph graph = b.build();
  const Module module = lowered(graph, machine(GetParam()));
  ASSERT_THAT(steps_of<EwiseStep>(module), ::testing::SizeIs(1));
  // A load, what takes the zero point off, a store.
  EXPECT_THAT(steps_of<EwiseStep>(module)[0]->uops, ::testing::SizeIs(GetParam() != 0 ? 3 : 4));
  compare_with_reference(graph, 5, 1, machine(GetParam()));
}

// A RESCALE by 1 takes a zero point off: two passes instead of four, and no parameters.
TEST_P(Lookup, AZeroPointIsAnImmediateOfANegation) {
  GraphBuilder b;
  const TensorId x = b.rescale(b.input("x", DType::kInt8, {50, 40}), DType::kInt32, scaled(1 << 30, 30, 7));
  const TensorId y = b.rescale(b.input("y", DType::kInt8, {50, 40}), DType::kInt32, scaled(1 << 30, 30, -128));
  b.output(b.mul(x, y));
  const graph::Graph graph = b.build();
  const std::map<UopCode, int> found = counts(lowered(graph, machine(GetParam())));
  EXPECT_EQ(found.count(UopCode::kRescale) != 0, GetParam() != 0);
  EXPECT_EQ(found.count(UopCode::kNegate) != 0, GetParam() == 0);
  compare_with_reference(graph, 5, 1, machine(GetParam()));
}

// Both ends of the chain are read, and so is the middle.
TEST_P(Lookup, WhatOthersReadStays) {
  GraphBuilder b;
  const TensorId x = b.rescale(b.input("x", DType::kInt8, {60, 33}), DType::kInt32, scaled(1 << 30, 30, 5));
  const TensorId difference = less_maximum(b, x, 1), power = exponential(b, difference);
  const TensorId small = b.arithmetic_right_shift(power, words(b, 12), true);
  b.output(difference);
  b.output(power);
  b.output(small);
  const graph::Graph graph = b.build();
  EXPECT_GE(counts(lowered(graph, machine(GetParam()))).at(UopCode::kTable32), 1);
  compare_with_reference(graph, 5, 1, machine(GetParam()));
}

// The micro-program of a RESIZE reads the table, too.
TEST_P(Lookup, BehindAResize) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 40, 40, 16});
  const TensorId large = b.resize(x, graph::ResizeMode::kNearest, {4, 2, 4, 2}, {-1, -1}, {1, 1}, DType::kInt8);
  TensorId y = b.rescale(large, DType::kInt32, scaled(1 << 30, 22, -3));
  y = b.rescale(y, DType::kInt16, scaled(1 << 30, 31));
  y = b.rescale(y, DType::kInt32, scaled(1 << 30, 26));
  b.output(b.rescale(y, DType::kInt8, scaled(1 << 30, 38, 0, -5)));
  const graph::Graph graph = b.build();
  const Module module = lowered(graph, machine(GetParam()));
  // Where a RESCALE takes one pass, three of them cost less than the table.
  EXPECT_EQ(counts(module).count(UopCode::kTable32) != 0, GetParam() == 0);
  EXPECT_EQ(counts(module).count(UopCode::kRescale) != 0, GetParam() != 0);
  compare_with_reference(graph, 5, 1, machine(GetParam()));
}

// The compiler's arithmetic is that of the engines.
TEST(UopValues, EqualTheEngines) {
  std::mt19937_64 random(11);
  int64_t checked = 0;
  std::vector<int64_t> values = {0, 1, -1, 31, 32, 63, 127, 128, -128, -129, 255, 32767, -32768, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 40; ++i) values.push_back(static_cast<int32_t>(random()));
  for (const Uop& uop : contract::testing::register_uops()) {
    if (!is_known(uop, {})) continue;
    for (const int64_t a : values) {
      for (const int64_t b : values) {
        // Sources in order: a, b, condition.
        const int64_t c = b & 1;
        ASSERT_EQ(uop_value(uop, {a, b, c}, {}), engine::testing::scalar_uop(uop, {a, b, c}, nullptr, 0))
            << contract::name(uop.op) << ' ' << a << ' ' << b;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 100'000);
}

// Every result lies in the range that is said of all.
TEST(UopValues, LieInTheirRanges) {
  std::mt19937_64 random(12);
  const auto range = [&] {
    const auto low = static_cast<int64_t>(static_cast<int32_t>(random()) >> (random() % 28));
    return ValueRange{low, low + static_cast<int64_t>(random() % 300)};
  };
  for (const Uop& uop : contract::testing::register_uops()) {
    if (!is_known(uop, {})) continue;
    for (int i = 0; i < 50; ++i) {
      const std::array<ValueRange, 3> sources = {range(), range(), {0, 1}};
      const ValueRange all = uop_range(uop, sources, {});
      for (int k = 0; k < 50; ++k) {
        UopSources at{};
        for (size_t s = 0; s < 3; ++s) {
          at.at(s) = sources.at(s).low + static_cast<int64_t>(random() % static_cast<uint64_t>(sources.at(s).size()));
        }
        const int64_t value = uop_value(uop, at, {});
        ASSERT_TRUE(all.low <= value && value <= all.high) << contract::name(uop.op) << ' ' << at[0] << ' ' << at[1];
      }
    }
  }
}

TEST(UopValues, RescalesEqualTheEnginesAndLieInTheirRanges) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 3000; ++i) {
    contract::RescaleImmediate how;
    how.kind = std::array{contract::Rescale::kSingle32, contract::Rescale::kDouble32, contract::Rescale::kSingle16}.at(
        random() % 3);
    how.type = static_cast<contract::Element>(random() % 3);
    how.output_unsigned = how.type != contract::Element::kI32 && random() % 2 == 0;
    Params params;
    params.header.input_zp = static_cast<int32_t>(random() % 256) - 128;
    params.header.output_zp = static_cast<int32_t>(random() % 256) - 128;
    params.header.clamp_min = random() % 4 == 0 ? -20 : INT32_MIN;
    params.header.clamp_max = random() % 4 == 0 ? 90 : INT32_MAX;
    const auto multiplier =
        static_cast<int32_t>(random() % (how.kind == contract::Rescale::kSingle16 ? 0x8000 : 1u << 31));
    params.entries = {{0, multiplier, static_cast<int32_t>(2 + random() % 61)}};
    std::vector<uint8_t> blob(contract::ParameterHeader::kBytes + contract::ParameterEntry::kBytes);
    params.header.store(blob.data());
    params.entries[0].store(blob.data() + contract::ParameterHeader::kBytes);
    const Uop uop = {UopCode::kRescale, 0, 0, 0, how.pack(), 0};
    const auto low = static_cast<int64_t>(static_cast<int32_t>(random()) >> (random() % 30));
    const ValueRange from = {low, std::min<int64_t>(low + 300, INT32_MAX)};
    const ValueRange all = uop_range(uop, {from, {}, {}}, {&params, nullptr});
    for (int64_t value = from.low; value <= from.high; ++value) {
      const int64_t result = uop_value(uop, {value, 0, 0}, {&params, nullptr});
      ASSERT_EQ(result, engine::testing::scalar_uop(uop, {value, 0, 0}, blob.data(), 0)) << value;
      ASSERT_TRUE(all.low <= result && result <= all.high) << value;
    }
  }
}

}  // namespace
}  // namespace npu::compiler::testing
