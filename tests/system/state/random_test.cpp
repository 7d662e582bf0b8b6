// SPDX-License-Identifier: Apache-2.0
// Random sequences of everything that may happen to state, against a model of the rules. NPU_STATE_STEPS sets how many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/system/device/bench.h"
#include "tests/system/state/device_walk.h"
#include "tests/system/state/seed.h"
#include "tests/unit/seeds.h"

namespace npu::test {
namespace {

using contract::ErrorCode;

constexpr size_t kRecipes = 40;

// Of all shards together.
int64_t steps() {
  const char* text = std::getenv("NPU_STATE_STEPS");
  return text == nullptr ? seeds_for(100'000) : std::strtoll(text, nullptr, 10);
}
constexpr uint32_t kShards = 4;
// And a tenth as much where there is little room.
constexpr uint32_t kLittleRoomShare = 10;

const std::vector<ErrorCode> kDeviceRefuses = {ErrorCode::kVariableUnwritten, ErrorCode::kVariableUndeclared,
                                               ErrorCode::kVariableMismatch,  ErrorCode::kContextsFull,
                                               ErrorCode::kWrongOrder,        ErrorCode::kJobCancelled,
                                               ErrorCode::kFaultPower,        ErrorCode::kPowerLost,
                                               ErrorCode::kVariableTorn,      ErrorCode::kBadSnapshot};

class RandomState : public testing::TestWithParam<uint32_t> {
 protected:
  uint32_t seed_ = print_seed(GetParam());
  std::vector<Recipe> recipes_ = random_recipes(kRecipes, seed_);
};

TEST_P(RandomState, ReferenceKeepsTheRules) {
  const auto reference = make_reference(recipes_);
  Walk walk(*reference, recipes_, seed_);
  walk.take(steps() / kShards);
  walk.report("reference",
              {ErrorCode::kVariableUnwritten, ErrorCode::kVariableUndeclared, ErrorCode::kVariableMismatch});
}

TEST_P(RandomState, DeviceKeepsTheRules) {
  DeviceSubject device(open_device(options("edge", model::Mode::kFunctional)), recipes_);
  DeviceWalk walk(device, recipes_, seed_);
  walk.take(steps() / kShards);
  walk.report("device", kDeviceRefuses);
  std::cout << walk.brown_outs() << " brown-outs stopped a job\n";
  if (walk.enough()) {
    EXPECT_GT(walk.brown_outs(), 0);
  }
}

// A machine whose persistent SRAM and variable table hold a part of what its contexts want, so that both are full much
// of the time, and variables that stay have to move together for others.
TEST(RandomStateInLittleRoom, DeviceKeepsTheRules) {
  const uint32_t seed = print_seed(kShards);
  const std::vector<Recipe> recipes = random_recipes(kRecipes, seed);
  platform::PlatformOptions small = options("nano", model::Mode::kFunctional);
  small.preset.caps.psram_bytes = 2048;
  small.preset.caps.var_entries = 32;
  DeviceSubject device(open_device(small), recipes);
  DeviceWalk walk(device, recipes, seed);
  walk.take(steps() / kLittleRoomShare);
  std::vector<ErrorCode> codes = kDeviceRefuses;
  codes.insert(codes.end(), {ErrorCode::kPersistentFull, ErrorCode::kVariableTableFull});
  walk.report("device with little room", codes);
  std::cout << walk.spilled() << " variables went to DRAM\n";
  if (walk.enough()) {
    EXPECT_GT(walk.refused(ErrorCode::kPersistentFull), 100);
    EXPECT_GT(walk.refused(ErrorCode::kVariableTableFull), 100);
    EXPECT_GT(walk.spilled(), 100);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomState, testing::Range(uint32_t{0}, kShards));

}  // namespace
}  // namespace npu::test
