// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "driver/compiler/lower/registers.h"

namespace npu::compiler {
namespace {

using contract::Uop;
using contract::UopCode;

TEST(Registers, AChainNeedsOne) {
  std::vector<Uop> uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                           {UopCode::kClamp, 1, 0, 0, -1, 1},
                           {UopCode::kAbs, 2, 1, 0, 0, 0},
                           {UopCode::kStore, 0, 2, 1, 0, 0}};
  EXPECT_EQ(allocate_registers(uops), 1u);
  EXPECT_EQ(uops[3].a, uops[2].dst);
  EXPECT_EQ(uops[3].b, 1u);  // an operand, not a register
}

TEST(Registers, ValuesThatLiveTogetherStayApart) {
  std::vector<Uop> uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                           {UopCode::kLoad, 1, 1, 0, 0, 0},
                           {UopCode::kAdd, 2, 0, 1, 0, 0},
                           {UopCode::kSub, 3, 0, 2, 0, 0},
                           {UopCode::kStore, 0, 3, 2, 0, 0}};
  EXPECT_EQ(allocate_registers(uops), 2u);
  EXPECT_NE(uops[2].a, uops[2].b);
  EXPECT_NE(uops[3].a, uops[3].b);
}

TEST(Registers, SelectReadsItsConditionFromTheImmediate) {
  std::vector<Uop> uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                           {UopCode::kLoad, 1, 1, 0, 0, 0},
                           {UopCode::kLoad, 2, 2, 0, 0, 0},
                           {UopCode::kSelect, 3, 1, 2, 0, 0},
                           {UopCode::kStore, 0, 3, 3, 0, 0}};
  EXPECT_EQ(allocate_registers(uops), 3u);
  EXPECT_EQ(static_cast<uint32_t>(uops[3].imm0), uops[0].dst);
}

TEST(Registers, AnUnusedValueTakesNoRegisterForLong) {
  std::vector<Uop> uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                           {UopCode::kAbs, 1, 0, 0, 0, 0},
                           {UopCode::kNegate, 2, 0, 2, 0, 0},
                           {UopCode::kStore, 0, 2, 1, 0, 0}};
  EXPECT_EQ(allocate_registers(uops), 2u);
  EXPECT_EQ(uops[2].b, 2u);  // an element type, not a register
}

TEST(Registers, AResultReplacesWhatWasJustLoaded) {
  std::vector<Uop> uops = {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kLoad, 1, 1, 0, 0, 0},
                           {UopCode::kSub, 2, 0, 1, 0, 0},  {UopCode::kLoad, 3, 2, 0, 0, 0},
                           {UopCode::kAdd, 4, 2, 3, 0, 0},  {UopCode::kMul, 5, 4, 3, 0, 0},
                           {UopCode::kStore, 0, 5, 3, 0, 0}};
  EXPECT_EQ(allocate_registers(uops), 2u);
  EXPECT_EQ(uops[2].dst, uops[1].dst);
  EXPECT_NE(uops[4].dst, uops[3].dst);  // that is read once more
}

TEST(Registers, LoadsMoveToTheirFirstReaderButNotOverAStore) {
  std::vector<Uop> uops = {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kLoad, 1, 1, 0, 0, 0},
                           {UopCode::kLoad, 2, 2, 0, 0, 0}, {UopCode::kAbs, 3, 1, 0, 0, 0},
                           {UopCode::kAdd, 4, 3, 0, 0, 0},  {UopCode::kStore, 0, 4, 3, 0, 0},
                           {UopCode::kAdd, 5, 4, 2, 0, 0},  {UopCode::kStore, 0, 5, 4, 0, 0}};
  loads_before_use(uops);
  // By operand: 1, abs, 0, add, 2, store.
  EXPECT_EQ(uops[0].a, 1u);
  EXPECT_EQ(uops[1].op, UopCode::kAbs);
  EXPECT_EQ(uops[2].a, 0u);
  EXPECT_EQ(uops[3].op, UopCode::kAdd);
  EXPECT_EQ(uops[4].a, 2u);
  EXPECT_EQ(uops[5].op, UopCode::kStore);
  // Values count in their order again.
  EXPECT_EQ(uops[3].a, uops[1].dst);
  EXPECT_EQ(uops[3].b, uops[2].dst);
  EXPECT_EQ(uops[6].a, uops[3].dst);
  EXPECT_EQ(uops[6].b, uops[4].dst);
  EXPECT_EQ(allocate_registers(uops), 2u);
}

// All registers are loaded from operand 0, the first one is stored to operand 1, and operand 2 is loaded at last.
MicroProgram late_load(uint32_t registers) {
  MicroProgram program{{}, registers};
  for (uint32_t r = 0; r < registers; ++r)
    program.uops.push_back({UopCode::kLoad, r, 0, 0, static_cast<int32_t>(r), 0});
  program.uops.push_back({UopCode::kStore, 0, 0, 1, 0, 0});
  for (uint32_t r = 1; r < registers; ++r) program.uops.push_back({UopCode::kAdd, 0, 0, r, 0, 0});
  program.uops.push_back({UopCode::kLoad, 1, 2, 0, 0, 0});
  program.uops.push_back({UopCode::kSelect, 0, 0, 1, 1, 0});
  program.uops.push_back({UopCode::kStore, 0, 0, 3, 0, 0});
  return program;
}

TEST(Registers, LoadsMoveInFrontOfAStore) {
  const auto is = [](uint32_t operand) { return [operand](uint32_t other) { return other == operand; }; };
  const MicroProgram before = late_load(3);
  const auto after = loads_before_stores(before, is(2), is(1), 16);
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->register_count, 4u);
  ASSERT_EQ(after->uops.size(), before.uops.size());
  const std::vector<Uop>& uops = after->uops;
  EXPECT_EQ(uops[3].op, UopCode::kLoad);
  EXPECT_EQ(uops[3].a, 2u);
  EXPECT_EQ(uops[4].op, UopCode::kStore);
  EXPECT_EQ(uops[4].a, uops[0].dst);
  EXPECT_EQ(uops[6].b, uops[2].dst);
  EXPECT_EQ(uops[7].a, uops[6].dst);
  EXPECT_EQ(uops[7].b, uops[3].dst);  // what was loaded early, in a register of its own
  EXPECT_EQ(static_cast<uint32_t>(uops[7].imm0), uops[3].dst);
  for (size_t i : {0, 1, 2, 5, 6}) EXPECT_NE(uops[i].dst, uops[3].dst) << i;
  // Nothing to do: the program as it was.
  const auto same = loads_before_stores(before, is(0), is(1), 16);
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->register_count, 3u);
  EXPECT_EQ(loads_before_stores(before, is(2), is(9), 16)->register_count, 3u);
}

TEST(Registers, LoadsStayWhereNoRegisterCanHoldThem) {
  const auto is = [](uint32_t operand) { return [operand](uint32_t other) { return other == operand; }; };
  for (const uint32_t registers : {8u, 16u, 32u}) {
    EXPECT_EQ(loads_before_stores(late_load(registers - 1), is(2), is(1), registers)->register_count, registers);
    EXPECT_FALSE(loads_before_stores(late_load(registers), is(2), is(1), registers).has_value());
  }
}

}  // namespace
}  // namespace npu::compiler
