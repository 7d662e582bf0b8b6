// SPDX-License-Identifier: Apache-2.0
// Element-wise tiles against one-value-at-a-time arithmetic, on every kernel set of this machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "hw/engine/vpu_model.h"
#include "tests/unit/contract/register_uops.h"
#include "tests/unit/engine/scalar_uops.h"
#include "tests/unit/engine/support.h"
#include "tests/unit/engine/uop_case.h"

namespace npu::engine::testing {
namespace {

using contract::Element;
using contract::ErrorCode;
using contract::Operand;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;
using contract::testing::register_uops;

constexpr auto kI8 = static_cast<int32_t>(Element::kI8);
constexpr auto kI16 = static_cast<int32_t>(Element::kI16);
constexpr auto kI32 = static_cast<int32_t>(Element::kI32);

int32_t rescale_fields(Rescale kind, bool per_channel, Element type, bool is_unsigned) {
  return static_cast<int32_t>(kind) | (per_channel ? 1 << 8 : 0) | static_cast<int32_t>(type) << 16 |
         (is_unsigned ? 1 << 24 : 0);
}

class Ewise : public EveryKernelSet {
 protected:
  void run(const VpuEwiseCommand& command, TestMemory& memory) {
    const TileResult result = engine_->run(encode(command), memory, /*timed=*/true);
    ASSERT_EQ(result.error, ErrorCode::kOk);
  }

  std::vector<int64_t> apply(const Uop& uop, Element in_type, const std::vector<Numbers>& inputs, Element out_type,
                             const std::vector<uint8_t>& blob = {}, int32_t load_flags = 0) {
    const UopCase test(uop, in_type, inputs, out_type, blob, load_flags);
    TestMemory memory(0);
    memory.scratchpad() = test.bytes;
    run(test.command, memory);
    compared_ += static_cast<int64_t>(inputs[0].size());
    return test.results(memory.scratchpad());
  }

  // All pairs of `values`, so that every micro-operation meets them on both sides.
  void check_pairs(const Uop& uop, Element type, const std::vector<int64_t>& values, Element out_type) {
    std::vector<std::vector<int64_t>> inputs(2);
    for (const int64_t a : values) {
      for (const int64_t b : values) {
        inputs[0].push_back(a);
        inputs[1].push_back(b);
      }
    }
    const std::vector<int64_t> got = apply(uop, type, inputs, out_type);
    for (size_t i = 0; i < got.size(); ++i) {
      const int64_t want = scalar_uop(uop, {inputs[0][i], inputs[1][i], inputs[0][i]}, nullptr, 0);
      ASSERT_EQ(got[i], as_stored(want, out_type))
          << name(uop.op) << ' ' << inputs[0][i] << ", " << inputs[1][i] << " imm " << uop.imm0 << ' ' << uop.imm1;
    }
  }

  void TearDown() override {
    std::printf("%lld elements compared on %s\n", static_cast<long long>(compared_), GetParam().c_str());
  }

  std::unique_ptr<Engine> engine_ = make_vpu_model(test_machine(), kernels());
  int64_t compared_ = 0;
};

TEST_P(Ewise, EveryMicroOperationOnAllInt8Pairs) {
  for (const Uop& uop : register_uops()) {
    check_pairs(uop, Element::kI8, range(-128, 127), Element::kI32);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Ewise, EveryMicroOperationOnCornersOf32Bits) {
  for (const Uop& uop : register_uops()) {
    check_pairs(uop, Element::kI32, corners(), Element::kI48);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Ewise, EveryMicroOperationOnRandom32Bits) {
  Random random(31);
  for (const Uop& uop : register_uops()) {
    std::vector<int64_t> values;
    for (int i = 0; i < 60; ++i) values.push_back(static_cast<int32_t>(random.bits()) >> random.between(0, 24));
    check_pairs(uop, Element::kI32, values, Element::kI32);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Ewise, LoadsExtendAndStoresTruncate) {
  const std::vector<Element> types = {Element::kI8, Element::kI16, Element::kI32, Element::kI48, Element::kBool};
  for (const Element in : types) {
    for (const Element out : types) {
      for (const int32_t zero_extend : {0, 1}) {
        std::vector<int64_t> values = {0, 1};
        if (in != Element::kBool) values = range(-128, 127);
        if (element_bytes(in) > 1) values.insert(values.end(), {-32768, 32767, 255, 256, -129});
        if (element_bytes(in) > 2) values.insert(values.end(), {INT32_MIN, INT32_MAX, 65535, 65536});
        if (element_bytes(in) > 4) values.insert(values.end(), {-(int64_t{1} << 47), (int64_t{1} << 47) - 1});
        const Uop copy = {UopCode::kBitOr, 0, 0, 0, 0, 0};
        const std::vector<int64_t> got = apply(copy, in, {values}, out, {}, zero_extend);
        for (size_t i = 0; i < values.size(); ++i) {
          int64_t value = values[i];
          if (zero_extend != 0 && element_bytes(in) < 8) value &= (int64_t{1} << (8 * element_bytes(in))) - 1;
          ASSERT_EQ(got[i], as_stored(value, out)) << name(in) << " to " << name(out) << ' ' << values[i];
        }
      }
    }
  }
}

TEST_P(Ewise, RescaleAtTiesAndExtremes) {
  Random random(41);
  for (const Rescale kind : {Rescale::kSingle32, Rescale::kDouble32, Rescale::kSingle16}) {
    for (int64_t shift = 2; shift <= 62; ++shift) {
      const bool wide = kind == Rescale::kSingle16;
      const int32_t largest = wide ? 0x7fff : 0x7fffffff;
      for (const int32_t multiplier : {0, 1, 3, wide ? 1 << 14 : 1 << 30, largest}) {
        const Element out = random.pick({Element::kI8, Element::kI16, Element::kI32});
        const bool is_unsigned = out != Element::kI32 && random.chance(40);
        ParameterHeader header;
        header.input_zp = static_cast<int32_t>(random.pick<int64_t>({0, -128, 127, 255}));
        header.output_zp = static_cast<int32_t>(random.between(-128, 255));
        header.clamp_min = random.chance(50) ? INT32_MIN : -20;
        header.clamp_max = random.chance(50) ? INT32_MAX : 100;
        const ParameterEntry entry = {0, multiplier, static_cast<int32_t>(shift)};
        std::vector<uint8_t> blob(ParameterHeader::kBytes + ParameterEntry::kBytes);
        header.store(blob.data());
        entry.store(blob.data() + ParameterHeader::kBytes);
        // Ties: products that are odd multiples of half a unit, and their neighbours.
        std::vector<int64_t> values = corners();
        for (int64_t k = -3; k <= 3; ++k) {
          for (int64_t d = -1; d <= 1 && shift < 40; ++d) {
            const int64_t tie = ((2 * k + 1) << (shift - 1)) / std::max(multiplier, 1) + d + header.input_zp;
            values.push_back(static_cast<int32_t>(tie));
          }
        }
        if (wide) values.insert(values.end(), {-(int64_t{1} << 47), (int64_t{1} << 47) - 1, int64_t{1} << 40});
        const Uop uop = {UopCode::kRescale, 0, 0, 0, rescale_fields(kind, false, out, is_unsigned), 0};
        const std::vector<int64_t> got =
            apply(uop, wide ? Element::kI48 : Element::kI32, {values}, Element::kI32, blob);
        for (size_t i = 0; i < values.size(); ++i) {
          ASSERT_EQ(got[i], scalar_uop(uop, {values[i], 0, 0}, blob.data(), 0))
              << name(kind) << ' ' << values[i] << " * " << multiplier << " >> " << shift;
        }
      }
    }
  }
}

TEST_P(Ewise, Tables) {
  Random random(51);
  std::vector<uint8_t> table8(256), table16(513 * 2);
  random.fill(table8);
  random.fill(table16);
  const Uop uop8 = {UopCode::kTable8, 0, 0, 0, 0, 0};
  const std::vector<int64_t> bytes = range(-128, 127);
  const std::vector<int64_t> got8 = apply(uop8, Element::kI8, {bytes}, Element::kI8, table8);
  for (size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(got8[i], static_cast<int8_t>(table8[i]));
  const Uop uop16 = {UopCode::kTable16, 0, 0, 0, 0, 0};
  std::vector<int64_t> values = range(-32768, 32767);
  values.insert(values.end(), {32768, -32769, INT32_MAX, INT32_MIN});
  const std::vector<int64_t> got16 = apply(uop16, Element::kI32, {values}, Element::kI32, table16);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(got16[i], scalar_uop(uop16, {values[i], 0, 0}, table16.data(), 0)) << values[i];
  }
  std::vector<uint8_t> table32(256 * 4);
  random.fill(table32);
  for (const int32_t first : {-128, -255, 0, 100, INT32_MIN, INT32_MAX}) {
    const Uop uop32 = {UopCode::kTable32, 0, 0, 0, first, 0};
    const std::vector<int64_t> got32 = apply(uop32, Element::kI32, {values}, Element::kI32, table32);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(got32[i], scalar_uop(uop32, {values[i], 0, 0}, table32.data(), 0)) << values[i] << " from " << first;
    }
  }
}

// Random programs over random iteration spaces with broadcast, gaps, reversal and per-channel parameters: the whole
// scratchpad must equal what one value at a time gives.
TEST_P(Ewise, RandomProgramsEqualScalarOnes) {
  Random random(61);
  for (int i = 0; i < 600; ++i) {
    EwiseCase test = make_ewise_case(random);
    const TileResult result = engine_->run(test.words, test.memory, /*timed=*/true);
    ASSERT_EQ(result.error, ErrorCode::kOk) << "case " << i << ", " << random.name();
    ASSERT_EQ(test.memory.scratchpad(), test.expected) << "case " << i << ", " << random.name();
    compared_ += test.elements;
  }
}

TEST_P(Ewise, InPlace) {
  VpuEwiseCommand command;
  command.dims = {1, 2, 3, 700};
  command.register_count = 2;
  Operand operand;
  operand.base = scratchpad(4);
  operand.stride = {0, 2100, 700, 1};
  command.operands = {operand};
  command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kAdd, 1, 0, 0, 0, 0}, {UopCode::kStore, 0, 1, 0, 0, 0}};
  TestMemory memory(4300);
  Random random(71);
  random.fill(memory.scratchpad());
  std::vector<uint8_t> expected = memory.scratchpad();
  for (size_t i = 4; i < 4204; ++i) expected[i] = static_cast<uint8_t>(2 * expected[i]);
  run(command, memory);
  EXPECT_EQ(memory.scratchpad(), expected);
  compared_ += 4200;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Ewise, ::testing::ValuesIn(all_kernel_sets()), kernel_set_name);

}  // namespace
}  // namespace npu::engine::testing
