// SPDX-License-Identifier: Apache-2.0
#include "hw/contract/gen/registers.h"

#include <gtest/gtest.h>

#include <set>

#include "hw/contract/gen/capabilities.h"

namespace npu::contract {
namespace {

TEST(Registers, LieApartAndInsideTheRegisterFile) {
  std::set<uint32_t> offsets;
  for (const RegisterInfo& info : kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      const uint32_t offset = info.offset + i * info.step;
      EXPECT_TRUE(offsets.insert(offset).second) << info.name;
      EXPECT_EQ(offset % 4, 0u) << info.name;
      EXPECT_LE(offset + 4, kRegisterSpaceBytes) << info.name;
    }
  }
  for (const CapabilityInfo& info : kCapabilities) {
    EXPECT_TRUE(offsets.insert(info.register_offset).second) << info.name;
    EXPECT_LE(info.register_offset + 4, kRegisterSpaceBytes) << info.name;
  }
}

TEST(Registers, ByHand) {
  EXPECT_EQ(reg::kControl, 0x00cu);
  EXPECT_EQ(reg::kControlColdResetMask, 4u);
  EXPECT_EQ(reg::kRegionFlagsSpaceMask, 0xf0u);
  EXPECT_EQ(reg::kRegionFlagsSpaceLsb, 4u);
  EXPECT_EQ(reg::region_limit(15), 0x4f8u);
  EXPECT_EQ(reg::kCapClockMhz, 0x100u);
  EXPECT_EQ(reg::counter_hi(counter_index(9, Counter::kMacs)), 0x804u + (9 * 16 + 13) * 8);
  EXPECT_EQ(kPsramWindow, 0x10000000u);
  EXPECT_EQ(name(Counter::kBankConflicts), "bank_conflicts");
}

TEST(Capabilities, EachDescriptorReachesItsOwnMember) {
  Capabilities caps;
  uint32_t value = 0;
  for (const CapabilityInfo& info : kCapabilities) caps.*info.member = ++value;
  value = 0;
  for (const CapabilityInfo& info : kCapabilities) {
    EXPECT_EQ(caps.*info.member, ++value) << info.name;
    EXPECT_EQ(info.register_offset, reg::kCapClockMhz + 4 * (value - 1)) << info.name;
    EXPECT_LE(info.min, info.max) << info.name;
  }
  EXPECT_EQ(caps.clock_mhz, 1u);
  EXPECT_EQ(caps.vpu_float, kCapabilityCount);
}

// 140 zero bytes: offset basis times prime to the 140th, modulo 2^32, computed apart.
TEST(Capabilities, HashIsFnv1a) {
  EXPECT_EQ(caps_hash({}), 0x40d1dcb5u);
  EXPECT_NE(caps_hash({.clock_mhz = 1}), caps_hash({.cpu_clock_mhz = 1}));
  EXPECT_NE(caps_hash({.dram_mib = 1}), caps_hash({.dram_mib = 0x100}));
}

}  // namespace
}  // namespace npu::contract
