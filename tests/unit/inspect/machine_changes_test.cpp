// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/machine_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace npu::inspect {
namespace {

std::vector<std::string> resources_of(const char* machine) {
  std::vector<std::string> names;
  for (const MachineChange& change : list_changes(presets::load_preset(machine))) names.emplace_back(change.resource);
  return names;
}

TEST(MachineChanges, AreThoseThatTheMachineHas) {
  EXPECT_THAT(resources_of("edge"), testing::Contains("scratchpad"));
  EXPECT_THAT(resources_of("nano"), testing::Not(testing::Contains("MXU floating point")));
  EXPECT_THAT(resources_of("edge"), testing::Contains("MXU floating point"));
}

// A format in one cycle stays so.
TEST(MachineChanges, HalveTheCyclesOfFloatingPoint) {
  const std::vector<MachineChange> changes = list_changes(presets::load_preset("server"));
  const auto floats = std::find_if(changes.begin(), changes.end(),
                                   [](const MachineChange& change) { return change.resource == "MXU floating point"; });
  ASSERT_NE(floats, changes.end());
  EXPECT_EQ(to_text(*floats), "mxu_fp16_cycles: 1 (-1), mxu_bf16_cycles: 1 (-1), mxu_fp32_cycles: 4 (-4)");
  EXPECT_EQ(floats->machine.caps.mxu_fp8_cycles, 1U);
  EXPECT_EQ(floats->machine.caps.mxu_fp32_cycles, 4U);
}

}  // namespace
}  // namespace npu::inspect
