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

}  // namespace
}  // namespace npu::compiler
