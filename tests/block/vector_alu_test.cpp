// SPDX-License-Identifier: Apache-2.0
// The VPU's lanes: every micro-operation on corners, all pairs of int8, random values and everything that a table may
// be asked, against the reference's operators and one-value-at-a-time arithmetic.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "hw/engine/vpu_model.h"
#include "hw/timing/vpu_cycles.h"
#include "rtl/verilated/machines.h"
#include "tests/block/stream.h"
#include "tests/block/tested_machines.h"
#include "tests/block/vpu_driver.h"
#include "tests/unit/contract/register_uops.h"
#include "tests/unit/engine/scalar_floats.h"
#include "tests/unit/engine/scalar_uops.h"
#include "tests/unit/engine/uop_case.h"
#include "tests/unit/reference/operator_case.h"

namespace npu::rtl::test {
namespace {

using contract::Element;
using contract::Operand;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;
using contract::testing::register_uops;
using engine::testing::as_stored;
using engine::testing::corners;
using engine::testing::Numbers;
using engine::testing::Random;
using engine::testing::range;
using engine::testing::scalar_uop;
using engine::testing::scratchpad;
using engine::testing::UopCase;
using graph::DType;
using graph::Op;
using graph::Value;
using reference::test::OperatorCase;
using reference::test::value_of;

constexpr auto kI8 = static_cast<int32_t>(Element::kI8);
constexpr auto kI16 = static_cast<int32_t>(Element::kI16);
constexpr auto kI32 = static_cast<int32_t>(Element::kI32);
constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min(), kMax32 = std::numeric_limits<int32_t>::max();

// Every value with every other one.
std::array<Numbers, 2> pairs(const Numbers& first, const Numbers& second) {
  std::array<Numbers, 2> all;
  for (const int64_t a : first) {
    for (const int64_t b : second) {
      all[0].push_back(a);
      all[1].push_back(b);
    }
  }
  return all;
}

DType dtype(Element type) {
  switch (type) {
    case Element::kI8:
      return DType::kInt8;
    case Element::kI16:
      return DType::kInt16;
    case Element::kI32:
      return DType::kInt32;
    case Element::kI48:
      return DType::kInt48;
    case Element::kBool:
      return DType::kBool;
    case Element::kF16:
    case Element::kBf16:
    case Element::kF32:
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      break;
  }
  return DType::kUnknown;
}

class VectorAluBlock : public testing::TestWithParam<const char*> {
 protected:
  Numbers apply(const Uop& uop, Element in_type, const std::vector<Numbers>& inputs, Element out_type,
                const std::vector<uint8_t>& blob = {}) {
    UopCase test(uop, in_type, inputs, out_type, blob);
    VpuMemory memory(test.bytes, bases_of(test.command));
    VpuGates gates;
    const uint64_t wanted = timing::vpu_cycles(test.command, caps_).total();
    EXPECT_EQ(run_vpu(*block_, test.command, memory, gates, 2 * wanted + 100), wanted) << name(uop.op);
    EXPECT_EQ(memory.outside(), 0u);
    return test.results(test.bytes);
  }

  static void compare(Buckets& buckets, const Uop& uop, const std::vector<Numbers>& inputs, const Numbers& got,
                      const Numbers& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      buckets.compare(
          got[i], wanted[i], [&] { return fmt::format("{} imm {} {}", name(uop.op), uop.imm0, uop.imm1); },
          [&] {
            std::string text;
            for (const Numbers& input : inputs) text += fmt::format(" {}", input[i]);
            return text;
          });
    }
  }

  // Values in registers 0 and 1, the first one also as condition.
  void check_scalar(Buckets& buckets, const Uop& uop, Element type, const std::array<Numbers, 2>& inputs,
                    Element out_type) {
    Numbers wanted;
    for (size_t i = 0; i < inputs[0].size(); ++i) {
      wanted.push_back(as_stored(scalar_uop(uop, {inputs[0][i], inputs[1][i], inputs[0][i]}, nullptr, 0), out_type));
    }
    const std::vector<Numbers> both(inputs.begin(), inputs.end());
    compare(buckets, uop, both, apply(uop, type, both, out_type), wanted);
  }

  // A micro-operation that is an operator of its own, on values that the operator is defined for.
  void check_operator(Buckets& buckets, const Uop& uop, Op op, Element type, const std::vector<Numbers>& inputs,
                      Element out_type, const graph::Attributes& attributes = {}, const std::vector<Value>& more = {}) {
    const graph::Shape shape = {static_cast<int64_t>(inputs[0].size())};
    OperatorCase test{op, {}, dtype(out_type), shape, attributes};
    for (const Numbers& input : inputs) test.inputs.push_back(value_of(dtype(type), shape, input));
    for (const Value& value : more) test.inputs.push_back(value);
    compare(buckets, uop, inputs, apply(uop, type, inputs, out_type), test.numbers());
  }

  const contract::Capabilities caps_ = tested_sizes(GetParam());
  std::unique_ptr<Vpu> block_ = make_tested_vpu(GetParam());
};

TEST_P(VectorAluBlock, EveryMicroOperationOnAllInt8Pairs) {
  Buckets buckets("all int8 pairs", 0);
  const auto inputs = pairs(range(-128, 127), range(-128, 127));
  for (const Uop& uop : register_uops()) {
    if (uop.op == UopCode::kMul && uop.imm0 % 8 != 0 && uop.imm0 > 17) continue;  // all zeros and ones
    check_scalar(buckets, uop, Element::kI8, inputs, Element::kI32);
  }
}

TEST_P(VectorAluBlock, EveryMicroOperationOnCornersOf32Bits) {
  Buckets buckets("corners of 32 bits", 0);
  const auto inputs = pairs(corners(), corners());
  for (const Uop& uop : register_uops()) check_scalar(buckets, uop, Element::kI32, inputs, Element::kI48);
}

TEST_P(VectorAluBlock, EveryMicroOperationOnRandomValues) {
  const uint64_t first = seed(31);
  Buckets buckets("random values", first);
  std::mt19937_64 random(first);
  for (const Uop& uop : register_uops()) {
    std::array<Numbers, 2> inputs;
    for (int i = 0; i < 3000; ++i) {
      for (Numbers& input : inputs) input.push_back(static_cast<int32_t>(random()) >> random() % 32);
    }
    check_scalar(buckets, uop, Element::kI32, inputs, Element::kI32);
  }
}

// What the operators of the specification say, where they say something.
TEST_P(VectorAluBlock, MicroOperationsAreTheReferencesOperators) {
  Buckets buckets("reference operators", 0);
  const auto uop = [](UopCode op, int32_t imm0 = 0, int32_t imm1 = 0) { return Uop{op, 0, 0, 1, imm0, imm1}; };
  const auto bytes = pairs(range(-128, 127), range(-128, 127));
  const auto words = pairs(corners(), corners());
  const std::vector<Numbers> byte_pairs(bytes.begin(), bytes.end()), word_pairs(words.begin(), words.end());
  // Values that a predicate takes.
  const auto where = [](const std::vector<Numbers>& inputs, const std::function<bool(int64_t, int64_t)>& defined) {
    std::vector<Numbers> chosen(2);
    for (size_t i = 0; i < inputs[0].size(); ++i) {
      if (!defined(inputs[0][i], inputs[1][i])) continue;
      chosen[0].push_back(inputs[0][i]);
      chosen[1].push_back(inputs[1][i]);
    }
    return chosen;
  };
  const auto fits = [](int64_t value) { return value >= kMin32 && value <= kMax32; };

  for (const auto& [code, op] : {std::pair{UopCode::kBitAnd, Op::kBitwiseAnd},
                                 {UopCode::kBitOr, Op::kBitwiseOr},
                                 {UopCode::kBitXor, Op::kBitwiseXor}}) {
    check_operator(buckets, uop(code), op, Element::kI8, byte_pairs, Element::kI8);
    check_operator(buckets, uop(code), op, Element::kI32, word_pairs, Element::kI32);
  }
  for (const auto& [code, op] :
       {std::pair{UopCode::kEq, Op::kEqual}, {UopCode::kGt, Op::kGreater}, {UopCode::kGe, Op::kGreaterEqual}}) {
    check_operator(buckets, uop(code), op, Element::kI32, word_pairs, Element::kBool);
  }
  for (const auto& [code, op] : {std::pair{UopCode::kMax, Op::kMaximum}, {UopCode::kMin, Op::kMinimum}}) {
    check_operator(buckets, uop(code), op, Element::kI32, word_pairs, Element::kI32);
  }
  check_operator(buckets, uop(UopCode::kAdd), Op::kAdd, Element::kI32,
                 where(word_pairs, [&](int64_t a, int64_t b) { return fits(a + b); }), Element::kI32);
  check_operator(buckets, uop(UopCode::kSub), Op::kSub, Element::kI32,
                 where(word_pairs, [&](int64_t a, int64_t b) { return fits(a - b); }), Element::kI32);
  check_operator(buckets, uop(UopCode::kIntdiv), Op::kIntDiv, Element::kI32,
                 where(word_pairs, [&](int64_t a, int64_t b) { return b != 0 && !(a == kMin32 && b == -1); }),
                 Element::kI32);
  check_operator(buckets, uop(UopCode::kMul), Op::kMul, Element::kI8, byte_pairs, Element::kI32, {},
                 {value_of(DType::kInt8, {1}, {0})});
  for (int32_t shift = 1; shift <= 63; ++shift) {
    // The shifted product must fit into 32 bits.
    const auto defined = [&](int64_t a, int64_t b) {
      return fits((a * b + (int64_t{1} << (shift - 1))) >> shift) && a != kMin32 && b != kMin32;
    };
    check_operator(buckets, uop(UopCode::kMul, shift), Op::kMul, Element::kI32, where(word_pairs, defined),
                   Element::kI32, {}, {value_of(DType::kInt8, {1}, {shift})});
  }
  for (const Element type : {Element::kI8, Element::kI16, Element::kI32}) {
    const int64_t bits = 8 * int64_t{element_bytes(type)};
    const Numbers values = type == Element::kI32  ? corners()
                           : type == Element::kI8 ? range(-128, 127)
                                                  : range(-700, 700);
    const auto shifted = pairs(values, range(0, bits - 1));
    const std::vector<Numbers> inputs(shifted.begin(), shifted.end());
    check_operator(buckets, uop(UopCode::kShl, static_cast<int32_t>(type)), Op::kLogicalLeftShift, type, inputs, type);
    check_operator(buckets, uop(UopCode::kShrLogical, static_cast<int32_t>(type)), Op::kLogicalRightShift, type, inputs,
                   type);
    for (const bool round : {false, true}) {
      graph::Attributes attributes;
      attributes.round = round;
      check_operator(buckets, uop(UopCode::kShrArith, round ? 1 : 0), Op::kArithmeticRightShift, type, inputs, type,
                     attributes);
    }
    check_operator(buckets, uop(UopCode::kBitNot), Op::kBitwiseNot, type, {values}, type);
    for (const Element to : {Element::kI8, Element::kI16, Element::kI32, Element::kBool}) {
      if (to == type) continue;
      check_operator(buckets, uop(UopCode::kCast, static_cast<int32_t>(to)), Op::kCast, type, {values}, to);
    }
  }
  Numbers numbers = corners();
  check_operator(buckets, uop(UopCode::kClz), Op::kClz, Element::kI32, {numbers}, Element::kI32);
  numbers.erase(std::remove(numbers.begin(), numbers.end(), kMin32), numbers.end());
  check_operator(buckets, uop(UopCode::kAbs), Op::kAbs, Element::kI32, {numbers}, Element::kI32);
  for (const int32_t in_zp : {0, -128, 127}) {
    for (const int32_t out_zp : {0, -128, 127}) {
      const Uop negate = {UopCode::kNegate, 0, 0, static_cast<uint32_t>(kI8), in_zp, out_zp};
      check_operator(buckets, negate, Op::kNegate, Element::kI8, {range(-128, 127)}, Element::kI8, {},
                     {value_of(DType::kInt8, {1}, {in_zp}), value_of(DType::kInt8, {1}, {out_zp})});
    }
  }
  check_operator(buckets, uop(UopCode::kLogicalNot), Op::kLogicalNot, Element::kBool, {{0, 1}}, Element::kBool);
  graph::Attributes clamp;
  clamp.min_val = {0x9c};
  clamp.max_val = {0x5a};
  check_operator(buckets, uop(UopCode::kClamp, -100, 90), Op::kClamp, Element::kI8, {range(-128, 127)}, Element::kI8,
                 clamp);
}

TEST_P(VectorAluBlock, TablesOnEveryInput) {
  const uint64_t first = seed(51);
  Buckets buckets("tables", first);
  std::mt19937_64 random(first);
  for (int round = 0; round < 4; ++round) {
    // Full range, or so flat that the reference finds every slope allowed.
    Numbers table8(256), table16(513);
    for (int64_t& entry : table8) entry = static_cast<int8_t>(random());
    for (int64_t& entry : table16)
      entry = round == 0 ? static_cast<int16_t>(random()) : static_cast<int16_t>(random()) / 2;
    std::vector<uint8_t> blob8(256), blob16(513 * 2);
    for (size_t i = 0; i < 256; ++i) engine::testing::store(blob8.data() + i, Element::kI8, table8[i]);
    for (size_t i = 0; i < 513; ++i) engine::testing::store(blob16.data() + 2 * i, Element::kI16, table16[i]);

    const Uop uop8 = {UopCode::kTable8, 0, 0, 0, 0, 0}, uop16 = {UopCode::kTable16, 0, 0, 0, 0, 0};
    const Numbers bytes = range(-128, 127), words = range(-32768, 32767);
    compare(buckets, uop8, {bytes}, apply(uop8, Element::kI8, {bytes}, Element::kI8, blob8),
            OperatorCase{Op::kTable,
                         {value_of(DType::kInt8, {256}, bytes), value_of(DType::kInt8, {256}, table8)},
                         DType::kInt8,
                         {256}}
                .numbers());
    const Numbers got = apply(uop16, Element::kI16, {words}, Element::kI32, blob16);
    if (round > 0) {
      compare(buckets, uop16, {words}, got,
              OperatorCase{Op::kTable,
                           {value_of(DType::kInt16, {65536}, words), value_of(DType::kInt16, {513}, table16)},
                           DType::kInt32,
                           {65536}}
                  .numbers());
    }
    Numbers wanted;
    for (const int64_t word : words) wanted.push_back(scalar_uop(uop16, {word, 0, 0}, blob16.data(), 0));
    compare(buckets, uop16, {words}, got, wanted);
    // Registers hold more than 16 bits: the ends of the table.
    const Numbers outside = {32768, -32769, kMax32, kMin32, 65536, -65536};
    wanted.clear();
    for (const int64_t word : outside) wanted.push_back(scalar_uop(uop16, {word, 0, 0}, blob16.data(), 0));
    compare(buckets, uop16, {outside}, apply(uop16, Element::kI32, {outside}, Element::kI32, blob16), wanted);

    std::vector<uint8_t> blob32(256 * 4);
    for (uint8_t& byte : blob32) byte = static_cast<uint8_t>(random());
    Numbers around = range(-600, 600);
    around.insert(around.end(), {kMax32, kMin32, int64_t{1} << 40, -(int64_t{1} << 40)});
    for (const int32_t from : {-128, -255, 0, 37, INT32_MIN, INT32_MAX}) {
      const Uop uop32 = {UopCode::kTable32, 0, 0, 0, from, 0};
      wanted.clear();
      for (const int64_t value : around) wanted.push_back(scalar_uop(uop32, {value, 0, 0}, blob32.data(), 0));
      compare(buckets, uop32, {around}, apply(uop32, Element::kI48, {around}, Element::kI32, blob32), wanted);
    }
  }
}

// Every kind, shift and type at ties and extremes.
TEST_P(VectorAluBlock, RescaleAtTiesAndExtremes) {
  const uint64_t first = seed(41);
  Buckets buckets("rescale", first);
  std::mt19937_64 random(first);
  for (const Rescale kind : {Rescale::kSingle32, Rescale::kDouble32, Rescale::kSingle16}) {
    for (int64_t shift = 2; shift <= 62; ++shift) {
      const bool wide = kind == Rescale::kSingle16;
      for (const int32_t multiplier : {0, 1, 3, wide ? 1 << 14 : 1 << 30, wide ? 0x7fff : 0x7fffffff}) {
        const auto type = static_cast<int32_t>(random() % 3);
        const int32_t no_sign = type != kI32 && random() % 2 == 0 ? 1 : 0;
        ParameterHeader header;
        header.input_zp = static_cast<int32_t>(random() % 384) - 128;
        header.output_zp = static_cast<int32_t>(random() % 384) - 128;
        header.clamp_min = random() % 2 == 0 ? INT32_MIN : -20;
        header.clamp_max = random() % 2 == 0 ? INT32_MAX : 100;
        std::vector<uint8_t> blob(ParameterHeader::kBytes + ParameterEntry::kBytes);
        header.store(blob.data());
        ParameterEntry{0, multiplier, static_cast<int32_t>(shift)}.store(blob.data() + ParameterHeader::kBytes);
        // Ties: products that are odd multiples of half a unit, and their neighbours.
        Numbers values = corners();
        for (int64_t k = -3; k <= 3; ++k) {
          for (int64_t d = -1; d <= 1 && shift < 40; ++d) {
            const int64_t tie = ((2 * k + 1) << (shift - 1)) / std::max(multiplier, 1) + d + header.input_zp;
            values.push_back(static_cast<int32_t>(tie));
          }
        }
        if (wide) values.insert(values.end(), {-(int64_t{1} << 47), (int64_t{1} << 47) - 1, int64_t{1} << 40});
        const Uop uop = {UopCode::kRescale, 0, 0, 0, static_cast<int32_t>(kind) | type << 16 | no_sign << 24, 0};
        Numbers wanted;
        for (const int64_t value : values) wanted.push_back(scalar_uop(uop, {value, 0, 0}, blob.data(), 0));
        compare(buckets, uop, {values}, apply(uop, wide ? Element::kI48 : Element::kI32, {values}, Element::kI32, blob),
                wanted);
      }
    }
  }
}

// Where each micro-operation of floating point changes what it does.
TEST_P(VectorAluBlock, FloatsOnSpecialPatterns) {
  if (caps_.vpu_float == 0) GTEST_SKIP() << "the machine has no floating point";
  Buckets buckets("special patterns", 0);
  Numbers patterns;
  for (const uint32_t pattern : engine::testing::scalar::special_patterns(Element::kF32)) {
    patterns.push_back(static_cast<int32_t>(pattern));
  }
  const auto inputs = pairs(patterns, patterns);
  for (const Uop& uop : contract::testing::float_register_uops()) {
    check_scalar(buckets, uop, Element::kF32, inputs, Element::kI32);
  }
}

// Every pattern of each format through a load, and through a store what loads make of those.
TEST_P(VectorAluBlock, FloatsOfEveryFormat) {
  if (caps_.vpu_float == 0) GTEST_SKIP() << "the machine has no floating point";
  Buckets buckets("formats", 0);
  const Uop nothing = {UopCode::kCast, 0, 0, 0, kI32, 0};
  for (const Element format : {Element::kF16, Element::kBf16, Element::kF8e4m3, Element::kF8e5m2}) {
    const int64_t count = int64_t{1} << (8 * element_bytes(format));
    const Numbers all = range(0, count - 1);
    Numbers wide, narrow;
    for (const int64_t bits : all) {
      const uint32_t value = engine::testing::scalar::widen(format, static_cast<uint32_t>(bits));
      wide.push_back(static_cast<int32_t>(value));
      narrow.push_back(engine::testing::scalar::narrow(format, value));
    }
    compare(buckets, nothing, {all}, apply(nothing, format, {all}, Element::kI32), wide);
    Numbers got = apply(nothing, Element::kF32, {wide}, format);
    for (int64_t& bits : got) bits &= count - 1;
    compare(buckets, nothing, {wide}, got, narrow);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, VectorAluBlock, testing::ValuesIn(tested_machines()));

}  // namespace
}  // namespace npu::rtl::test
