// SPDX-License-Identifier: Apache-2.0
// Random modules on small machines: outputs in every bit, in every order that queues and tokens permit; tokens exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/compiler/schedule/layout.h"
#include "hw/contract/error.h"
#include "tests/unit/compiler/back_checks.h"
#include "tests/unit/compiler/back_modules.h"

namespace npu::compiler::testing {
namespace {

struct Machine {
  const char* name;
  contract::Capabilities capabilities;
  ScheduleOptions options;
};

std::vector<Machine> machines() {
  std::vector<Machine> out{{"edge", edge_capabilities(), {}}, {"nano", nano_capabilities(), {}}};
  for (const bool twice : {false, true}) {
    contract::Capabilities small = twice ? nano_capabilities() : edge_capabilities();
    small.spm_bytes = 16 << 10;
    out.push_back({twice ? "tiny" : "tiny, single buffered", small, {twice, twice}});
  }
  return out;
}

// Stripes on a machine whose scratchpad holds few rows.
TEST(BackStripes, RandomImagesComputeWhatTheirStepsSay) {
  constexpr uint32_t kSeeds = 60;
  size_t joined = 0, refused = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = random_image_module(seed, 3 + static_cast<int>(seed % 4));
    for (const uint32_t kib : {4u, 12u}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", scratchpad " + std::to_string(kib) + " KiB");
      contract::Capabilities machine = seed % 2 == 0 ? edge_capabilities() : nano_capabilities();
      machine.spm_bytes = kib << 10;
      try {
        EXPECT_EQ(check_module(module, machine, {}, seed, 2), "");
        joined += backend::make_layout(module, machine, {}, {}).analysis.chained.size();
        const OrderCheck order(schedule(Module(module), machine), machine);
        if (seed % 5 == 0) {
          EXPECT_THAT(order.needless_tokens(60), ::testing::ElementsAre());
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(joined, kSeeds);
  EXPECT_LT(refused, kSeeds / 2);
}

class BackFuzz : public ::testing::TestWithParam<int> {};

TEST_P(BackFuzz, RandomModulesComputeWhatTheirStepsSay) {
  constexpr int kSeeds = 25;
  int refused = 0;
  for (int i = 0; i < kSeeds; ++i) {
    const auto seed = static_cast<uint32_t>(GetParam() * kSeeds + i);
    const Module module = random_module(seed, 2 + i % 9);
    for (const Machine& machine : machines()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + machine.name);
      try {
        EXPECT_EQ(check_module(module, machine.capabilities, machine.options, seed, 3), "");
        if (i % 5 == 0) {
          const OrderCheck order(schedule(Module(module), machine.capabilities, machine.options), machine.capabilities);
          EXPECT_THAT(order.needless_tokens(100), ::testing::ElementsAre());
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_LT(refused, kSeeds / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BackFuzz, ::testing::Range(0, 12));

}  // namespace
}  // namespace npu::compiler::testing
