// SPDX-License-Identifier: Apache-2.0
// Address translation; what jobs see of it is tested in fault_test and variable_test.
#include "hw/model/address_map.h"

#include <gtest/gtest.h>

#include "tests/unit/model/stream.h"

namespace npu::model::testing {
namespace {

using contract::ErrorCode;
using contract::Region;
using contract::Space;
using engine::Access;

class AddressMapTest : public ::testing::Test {
 protected:
  AddressMapTest() {
    regions_[0] = {0, caps_.spm_bytes, Space::kScratchpad, true, true};
    regions_[1] = {0x1000, 0x2000, Space::kDram, true, false};
    regions_[2] = {(uint64_t{caps_.dram_mib} << 20) - 16, 16, Space::kDram, true, true};
    regions_[3] = {(uint64_t{caps_.dram_mib} << 20) - 16, 17, Space::kDram, true, true};
    regions_[4] = {caps_.spm_bytes - 16, 17, Space::kScratchpad, true, true};
    map_.begin_job(regions_, {1, 9});
  }
  ErrorCode error(Region region, Access access) { return map_.window({0, region, 0}, access).error; }

  const contract::Capabilities caps_ = small_machine();
  PersistentSram persistent_{caps_};
  AddressMap map_{caps_, persistent_};
  RegionTable regions_{};
};

TEST_F(AddressMapTest, RegionsAndRights) {
  const Window window = map_.window({0x55, Region::kConstants, 0}, Access::kRead);
  EXPECT_EQ(window.error, ErrorCode::kOk);
  EXPECT_EQ(window.space, Space::kDram);
  EXPECT_EQ(window.base, 0x1000u);
  EXPECT_EQ(window.limit, 0x2000u);
  EXPECT_EQ(error(Region::kConstants, Access::kWrite), ErrorCode::kFaultAccessRight);
  EXPECT_EQ(error(Region::kScratchpad, Access::kWrite), ErrorCode::kOk);
  EXPECT_EQ(error(static_cast<Region>(7), Access::kRead), ErrorCode::kFaultBadRegion);
}

TEST_F(AddressMapTest, RegionsMustLieInTheirMemory) {
  EXPECT_EQ(error(static_cast<Region>(2), Access::kRead), ErrorCode::kOk);
  EXPECT_EQ(error(static_cast<Region>(3), Access::kRead), ErrorCode::kFaultBadRegion);
  EXPECT_EQ(error(static_cast<Region>(4), Access::kRead), ErrorCode::kFaultBadRegion);
}

TEST_F(AddressMapTest, Variables) {
  contract::VariableEntry entry;
  entry.base = 0x200;
  entry.length = 32;
  entry.owner = 1;
  entry.hash = 77;
  entry.store(persistent_.bytes().data() + 16);
  EXPECT_EQ(map_.window({0, Region::kVariable, 0}, Access::kRead).error, ErrorCode::kFaultBadRegion);
  EXPECT_EQ(map_.window({0, Region::kVariable, 1}, Access::kRead).error, ErrorCode::kVariableUndeclared);
  EXPECT_TRUE(map_.fits_in_dram(1));
  (void)persistent_.begin_job({1, 9});
  EXPECT_TRUE(persistent_.declare(1, 77, true).ok());
  EXPECT_EQ(persistent_.declare(1, 77, true).error, ErrorCode::kVariableRedeclared);
  const Window window = map_.window({0, Region::kVariable, 1}, Access::kWrite);
  EXPECT_EQ(window.error, ErrorCode::kOk);
  EXPECT_EQ(window.space, Space::kPersistent);
  EXPECT_EQ(window.base, 0x200u);
  EXPECT_EQ(window.limit, 32u);
  map_.begin_job(regions_, {2, 9});
  EXPECT_EQ(map_.window({0, Region::kVariable, 1}, Access::kWrite).error, ErrorCode::kFaultAccessRight);
}

}  // namespace
}  // namespace npu::model::testing
