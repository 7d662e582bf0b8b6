// Random sequences of everything that may happen to state, against a model of the rules. NPU_STATE_STEPS sets how many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/system/device/bench.h"
#include "tests/system/state/device_walk.h"
#include "tests/system/state/seed.h"

namespace npu::test {
namespace {

using contract::ErrorCode;

constexpr size_t kRecipes = 40;

// 100,000 in all.
constexpr uint32_t kShards = 4;
int64_t steps_of_shard() {
  const char* text = std::getenv("NPU_STATE_STEPS");
  return (text == nullptr ? 100'000 : std::strtoll(text, nullptr, 10)) / kShards;
}

class RandomState : public testing::TestWithParam<uint32_t> {
 protected:
  uint32_t seed_ = print_seed(GetParam());
  std::vector<Recipe> recipes_ = random_recipes(kRecipes, seed_);
};

TEST_P(RandomState, ReferenceKeepsTheRules) {
  const auto reference = make_reference(recipes_);
  Walk walk(*reference, recipes_, seed_);
  walk.take(steps_of_shard());
  walk.report("reference",
              {ErrorCode::kVariableUnwritten, ErrorCode::kVariableUndeclared, ErrorCode::kVariableMismatch});
}

TEST_P(RandomState, DeviceKeepsTheRules) {
  DeviceSubject device(open_device(options("edge", model::Mode::kFunctional)), recipes_);
  DeviceWalk walk(device, recipes_, seed_);
  walk.take(steps_of_shard());
  walk.report("device",
              {ErrorCode::kVariableUnwritten, ErrorCode::kVariableUndeclared, ErrorCode::kVariableMismatch,
               ErrorCode::kContextsFull, ErrorCode::kWrongOrder, ErrorCode::kJobCancelled, ErrorCode::kFaultPower,
               ErrorCode::kPowerLost, ErrorCode::kVariableTorn, ErrorCode::kBadSnapshot});
  std::cout << walk.brown_outs() << " brown-outs stopped a job\n";
  if (steps_of_shard() >= 10'000) {
    EXPECT_GT(walk.brown_outs(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomState, testing::Range(uint32_t{0}, kShards));

}  // namespace
}  // namespace npu::test
