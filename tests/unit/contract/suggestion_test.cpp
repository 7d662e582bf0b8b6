// SPDX-License-Identifier: Apache-2.0
#include "hw/contract/suggestion.h"

#include <gtest/gtest.h>

#include <array>

namespace npu::contract {
namespace {

const std::array<std::string, 5> kKnown = {"nano", "edge", "vpu_lanes", "--config", "--csv"};

TEST(DidYouMean, FindsSlipsOfTheFingers) {
  for (const char* word : {"vpu_lane", "vpu_laness", "vpu_laens", "cpu_lanes", "vp_lane"}) {
    EXPECT_EQ(did_you_mean(word, kKnown), "; did you mean 'vpu_lanes'?") << word;
  }
  EXPECT_EQ(did_you_mean("egde", kKnown), "; did you mean 'edge'?");
  EXPECT_EQ(did_you_mean("--cofnig", kKnown), "; did you mean '--config'?");
  EXPECT_EQ(did_you_mean("--cs", kKnown), "; did you mean '--csv'?");
}

TEST(DidYouMean, SaysNothingOfOtherWords) {
  for (const char* word : {"", "x", "huge", "editor", "--quiet", "lanes"}) EXPECT_EQ(did_you_mean(word, kKnown), "");
  EXPECT_EQ(did_you_mean(std::string(1'000'000, 'n'), kKnown), "");
  EXPECT_EQ(did_you_mean("edge", {}), "");
}

}  // namespace
}  // namespace npu::contract
