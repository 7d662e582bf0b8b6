// SPDX-License-Identifier: Apache-2.0
// Random trials of the engines: what the RTL computes is what the model computes, and it asks for memory when hw/timing
// says, whether memory holds it back or not. A block with a mistake is found.
#include "sim/cosim/engine_trials.h"

#include <gtest/gtest.h>

#include <map>

#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "rtl/verilated/assertion.h"
#include "sim/cosim/back_ends.h"
#include "sim/cosim/blocks.h"
#include "sim/cosim/trial.h"
#include "tests/block/other_mac_array.h"
#include "tests/block/stream.h"
#ifdef NPU_RTL_WRONG
#include "rtl/verilated/float_machines.h"
#include "rtl/verilated/wrong.h"
#endif

namespace npu::cosim::test {
namespace {

constexpr uint64_t kTrials = 300;

// Bits, ports and cycles of random tiles with memory that always grants, and with one that holds back.
void expect_all_pass(Trials& trials, uint64_t count, const std::string& what) {
  const uint64_t first = rtl::test::seed(1);
  for (const bool held_back : {false, true}) {
    std::map<std::string, int> kinds;
    uint64_t compared = 0, cycles = 0;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      const Trial trial = trials.run(seed, held_back);
      ASSERT_EQ(trial.difference, "") << trial.text;
      ASSERT_EQ(trial.port_difference, "") << trial.text;
      ASSERT_EQ(trial.rtl_cycles, trial.expected_cycles) << trial.text;
      ASSERT_TRUE(trial.passed());
      ASSERT_FALSE(trial.bundle.has_value());
      ASSERT_GT(trial.compared, 0u) << trial.text;
      // Every second one is held back by the device's crossbar.
      ASSERT_EQ(trial.device_cycles.has_value(), held_back && seed % 2 == 0);
      ASSERT_EQ(trial.device_cycles.value_or(trial.rtl_cycles), trial.rtl_cycles) << trial.text;
      ++kinds[trial.kind];
      compared += trial.compared;
      cycles += trial.rtl_cycles;
    }
    EXPECT_GE(kinds.size(), 15u);
    std::printf("%s%s: %llu tiles from seed %llu of %zu kinds, %llu elements, %llu cycles\n", what.c_str(),
                held_back ? ", held back" : "", static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(first), kinds.size(), static_cast<unsigned long long>(compared),
                static_cast<unsigned long long>(cycles));
  }
}

class EngineTrials : public testing::TestWithParam<std::tuple<Block, const char*>> {
 protected:
  const contract::Capabilities caps_ = presets::load_preset(std::get<1>(GetParam())).caps;
  const std::unique_ptr<Trials> trials_ = make_trials(std::get<0>(GetParam()), caps_);
};

TEST_P(EngineTrials, AllPass) {
  const auto& [block, machine] = GetParam();
  expect_all_pass(*trials_, kTrials, std::string(name(block)) + ", " + machine);
}

TEST_P(EngineTrials, FollowFromTheirSeed) {
  for (const uint64_t seed : {7, 8}) {  // grants at random, and the crossbar's
    const Trial once = trials_->run(seed, /*held_back=*/true);
    (void)trials_->run(9, /*held_back=*/false);
    const Trial again = trials_->run(seed, /*held_back=*/true);
    EXPECT_EQ(once.text, again.text);
    EXPECT_EQ(once.compared, again.compared);
    EXPECT_EQ(once.rtl_cycles, again.rtl_cycles);
    EXPECT_EQ(once.device_cycles, again.device_cycles);
    // The same tile takes no longer when nothing holds it back.
    EXPECT_LE(trials_->run(seed, /*held_back=*/false).rtl_cycles, once.rtl_cycles);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, EngineTrials,
                         testing::Combine(testing::Values(Block::kMxu, Block::kVpu), testing::Values("nano", "edge")),
                         [](const auto& info) {
                           return std::string(name(std::get<0>(info.param))) + "_" + std::get<1>(info.param);
                         });

TEST(Trials, AreOfTheSizesThatWereBuilt) {
  contract::Capabilities caps = presets::load_preset("nano").caps;
  caps.mxu_cols = 24;
  caps.vpu_lanes = 24;
  for (const Block block : {Block::kMxu, Block::kVpu}) {
    try {
      (void)make_trials(block, caps);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), contract::ErrorCode::kBadPreset);
    }
  }
}

// Sizes are equal, and still the RTL cannot run what the machine can.
TEST(Trials, AreOfTheFloatingPointThatWasBuilt) {
  contract::Capabilities caps = presets::load_preset("nano").caps;
  caps.vpu_float = 1;
  try {
    (void)make_trials(Block::kVpu, caps);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kBadPreset);
    EXPECT_NE(std::string(error.what()).find("vpu_float 1"), std::string::npos) << error.what();
  }
}

// An assertion of the RTL ends its trial; the block is as good as new for the next one.
TEST(EngineTrialsOfWrong, AnAssertionThatFailsIsADifference) {
  struct Wrong final : rtl::test::OtherMacArray {
    using OtherMacArray::OtherMacArray;
    void tick() override {
      OtherMacArray::tick();
      if (++ticks_ == 100) throw rtl::AssertionFailed("npu_mac_array.sv:1: a rule");
    }
    int ticks_ = 0;
  };
  const Blocks right = blocks();
  blocks().mac_array = [](std::string_view preset) { return std::make_unique<Wrong>(rtl::make_mac_array(preset)); };
  const auto trials = make_trials(Block::kMxu, presets::load_preset("nano").caps);
  blocks() = right;
  int found = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Trial trial = trials->run(seed, /*held_back=*/seed % 2 == 0);
    if (trial.passed()) continue;
    ++found;
    EXPECT_NE(trial.difference.find("npu_mac_array.sv:1: a rule"), std::string::npos) << trial.difference;
    ASSERT_TRUE(trial.bundle.has_value());
    EXPECT_EQ(trial.bundle->found.difference, trial.difference);
  }
  EXPECT_EQ(found, 1);
}

// A tile without results, or whose results are not taken, shows nothing.
TEST(EngineTrialsOfWrong, WhatComparesNothingIsADifference) {
  Comparison found;
  EXPECT_NE(difference_of(found), "");
  found.elements = 5;
  EXPECT_EQ(difference_of(found), "");
  found.model_error = found.rtl_error = contract::ErrorCode::kFaultBadCommand;
  EXPECT_NE(difference_of(found).find("refuse"), std::string::npos);
  found.difference = "something";
  EXPECT_EQ(difference_of(found), "something");
}

#ifdef NPU_RTL_WRONG

// Puts other blocks in the place of those that were built, until it ends.
class OtherBlocks {
 public:
  OtherBlocks() = default;
  OtherBlocks(const OtherBlocks&) = delete;
  OtherBlocks& operator=(const OtherBlocks&) = delete;
  ~OtherBlocks() { blocks() = right_; }

  // Machines with floating point.
  void put_floats() {
    blocks().built_machines = rtl::float_machines;
    blocks().sizes_of = rtl::float_sizes_of;
    blocks().mac_array = rtl::make_float_mac_array;
    blocks().vpu = rtl::make_float_vpu;
  }

 private:
  const Blocks right_ = blocks();
};

contract::Capabilities float_machine(const std::string& name) {
  return presets::load_preset(NPU_SOURCE_DIR "/tests/block/" + name + ".yaml").caps;
}

class FloatTrials : public testing::TestWithParam<std::tuple<Block, const char*>> {};

TEST_P(FloatTrials, AllPass) {
  const auto& [block, machine] = GetParam();
  OtherBlocks other;
  other.put_floats();
  expect_all_pass(*make_trials(block, float_machine(machine)), 4 * kTrials, std::string(name(block)) + ", " + machine);
}

INSTANTIATE_TEST_SUITE_P(Machines, FloatTrials,
                         testing::Combine(testing::Values(Block::kMxu, Block::kVpu),
                                          testing::ValuesIn(rtl::float_machines())));

// Of blocks with a mistake in their data, some tiles differ, and again when they are replayed.
void expect_found_and_replayed(Block block, const contract::Capabilities& caps) {
  const auto trials = make_trials(block, caps);
  int found = 0;
  for (uint64_t seed = 1; seed <= kTrials; ++seed) {
    const Trial trial = trials->run(seed, /*held_back=*/seed % 2 == 0);
    ASSERT_EQ(trial.passed(), trial.differing == 0) << trial.text;
    ASSERT_EQ(trial.bundle.has_value(), !trial.passed());
    if (trial.passed()) continue;
    ++found;
    EXPECT_NE(trial.difference, "");
    // The mistake is in the data, not in the handshakes.
    EXPECT_EQ(trial.port_difference, "");
    EXPECT_EQ(trial.rtl_cycles, trial.expected_cycles);

    // From its bundle alone the tile gives the same again.
    const auto folder = std::filesystem::path(testing::TempDir()) /
                        ("npu-trial-" + std::string(name(block)) + "-" + std::to_string(seed));
    std::filesystem::remove_all(folder);
    write_bundle(*trial.bundle, folder);
    const Bundle bundle = read_bundle(folder);
    std::filesystem::remove_all(folder);
    EXPECT_NE(bundle.operators.find("seed " + std::to_string(seed)), std::string::npos);
    EXPECT_EQ(bundle.seed.find(std::to_string(seed)), 0u);
    BundleMemory memory(bundle.found.memory);
    Lockstep lockstep(make_model_engine(bundle.unit, bundle.caps), make_rtl_engine(bundle.unit, bundle.caps));
    (void)lockstep.run(bundle.command, memory, /*timed=*/true);
    EXPECT_EQ(lockstep.comparison().difference, trial.difference);
    EXPECT_EQ(lockstep.comparison().expected, bundle.found.expected);
    EXPECT_EQ(lockstep.comparison().got, bundle.found.got);
  }
  EXPECT_GE(found, 3);
  std::printf("%d of %llu tiles differ\n", found, static_cast<unsigned long long>(kTrials));
}

class WrongBlocks : public testing::TestWithParam<Block> {};

TEST_P(WrongBlocks, AreFoundAndReplayed) {
  const OtherBlocks other;
  blocks().mac_array = [](std::string_view) { return rtl::make_wrong_mac_array(); };
  blocks().vpu = [](std::string_view) { return rtl::make_wrong_vpu(); };
  expect_found_and_replayed(GetParam(), presets::load_preset("nano").caps);
}

INSTANTIATE_TEST_SUITE_P(Blocks, WrongBlocks, testing::Values(Block::kMxu, Block::kVpu),
                         [](const auto& info) { return std::string(name(info.param)); });

class WrongFloats : public testing::TestWithParam<rtl::FloatMistake> {};

TEST_P(WrongFloats, AreFoundAndReplayed) {
  OtherBlocks other;
  other.put_floats();
  blocks().mac_array = [](std::string_view) { return rtl::make_wrong_mac_array(GetParam()); };
  expect_found_and_replayed(Block::kMxu, float_machine(rtl::machine_of(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Mistakes, WrongFloats,
                         testing::Values(rtl::FloatMistake::kTree, rtl::FloatMistake::kSubnormals,
                                         rtl::FloatMistake::kPadding, rtl::FloatMistake::kResidual));

#endif

}  // namespace
}  // namespace npu::cosim::test
