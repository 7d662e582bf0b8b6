// SPDX-License-Identifier: Apache-2.0
// The RTL and lockstep engines by themselves, on random tiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "hw/contract/error.h"
#include "hw/engine/mxu_model.h"
#include "rtl/verilated/machines.h"
#include "rtl/verilated/wrong.h"
#include "sim/cosim/back_ends.h"
#include "sim/cosim/blocks.h"
#include "sim/cosim/results.h"
#include "sim/cosim/rtl_mxu.h"
#include "tests/block/other_mac_array.h"
#include "tests/unit/engine/mxu_case.h"

namespace npu::cosim {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::ErrorCode;
using contract::MxuCommand;
using engine::TileResult;
using engine::testing::MxuCase;
using engine::testing::MxuShape;
using engine::testing::Random;

Capabilities nano() { return rtl::sizes_of("nano"); }

MxuShape small_shape(Random& random) {
  for (;;) {
    MxuShape shape = random_mxu_shape(random);
    if (shape.out_h() * shape.out_w() * shape.out_c <= 2'000) return shape;
  }
}

TEST(RtlMxu, GivesTheModelsBytesAndCycles) {
  Random random(11);
  const auto rtl = make_rtl_engine(Unit::kMxu, nano());
  const auto model = engine::make_mxu_model(nano());
  for (int i = 0; i < 100; ++i) {
    MxuCase test = make_case(small_shape(random), random);
    engine::testing::TestMemory copy = test.memory;
    const TileResult of_rtl = rtl->run(test.words, test.memory, /*timed=*/true);
    const TileResult of_model = model->run(test.words, copy, /*timed=*/true);
    ASSERT_EQ(rtl->problem(), "");
    ASSERT_EQ(test.memory.scratchpad(), copy.scratchpad()) << "tile " << i;
    EXPECT_EQ(of_rtl.cycles, of_model.cycles);
    EXPECT_EQ(of_rtl.fill + of_rtl.steady + of_rtl.drain, of_rtl.cycles);
    EXPECT_EQ(rtl->formula_cycles(), of_model.cycles);
    EXPECT_EQ(of_rtl.macs, of_model.macs);
    // Both ask for the same bytes, so they fault alike.
    EXPECT_EQ(test.memory.touches, copy.touches);
  }
}

TEST(RtlMxu, ComputesWithoutTime) {
  Random random(12);
  const auto rtl = make_rtl_engine(Unit::kMxu, nano());
  MxuCase test = make_case(small_shape(random), random);
  const TileResult result = rtl->run(test.words, test.memory, /*timed=*/false);
  EXPECT_EQ(test.memory.scratchpad(), test.expected);
  EXPECT_EQ(result.cycles, 0u);
  EXPECT_EQ(result.ports.schedule, nullptr);
}

TEST(RtlMxu, RefusesWhatTheModelRefuses) {
  Random random(13);
  const auto rtl = make_rtl_engine(Unit::kMxu, nano());
  const auto model = engine::make_mxu_model(nano());
  int refused = 0;
  for (int i = 0; i < 2'000; ++i) {
    MxuCase test = make_case(small_shape(random), random);
    // A word of the command, at random: many are nonsense then, and some reach outside of memory.
    test.words[static_cast<size_t>(random.between(5, 35))] = static_cast<uint32_t>(random.between(0, 40));
    engine::testing::TestMemory copy = test.memory;
    const ErrorCode of_model = model->run(test.words, copy, /*timed=*/false).error;
    if (of_model == ErrorCode::kOk) continue;
    ++refused;
    ASSERT_EQ(rtl->run(test.words, test.memory, /*timed=*/false).error, of_model);
    EXPECT_EQ(test.memory.refusals, copy.refusals);
    EXPECT_EQ(rtl->problem(), "");
  }
  EXPECT_GE(refused, 100);
}

TEST(RtlEngines, SayWhatThereIsNot) {
  Capabilities other = nano();
  other.mxu_cols = 24;
  try {
    (void)make_rtl_engine(Unit::kMxu, other);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadPreset);
  }
}

TEST(Lockstep, FindsNoDifferenceInTheRightBlock) {
  Random random(14);
  Lockstep lockstep(engine::make_mxu_model(nano()), make_rtl_engine(Unit::kMxu, nano()));
  for (int i = 0; i < 100; ++i) {
    MxuCase test = make_case(small_shape(random), random);
    const TileResult result = lockstep.run(test.words, test.memory, /*timed=*/true);
    ASSERT_TRUE(lockstep.comparison().equal()) << lockstep.comparison().difference;
    EXPECT_EQ(result.error, ErrorCode::kOk);
    EXPECT_EQ(lockstep.comparison().elements, static_cast<uint64_t>(test.elements));
    EXPECT_EQ(lockstep.comparison().rtl_cycles, result.cycles);
    EXPECT_EQ(test.memory.scratchpad(), test.expected);
  }
}

// The wrong block differs where a value is clipped from above; which elements those are, both engines on their own
// tell.
TEST(Lockstep, FindsEveryDifferenceOfAWrongBlockAndReplaysIt) {
  Random random(15);
  const auto model = engine::make_mxu_model(nano());
  const auto wrong = make_rtl_mxu(nano(), rtl::make_wrong_mac_array());
  Lockstep lockstep(engine::make_mxu_model(nano()), make_rtl_mxu(nano(), rtl::make_wrong_mac_array()));
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    MxuShape shape = small_shape(random);
    shape.extreme = random.chance(50);
    MxuCase test = make_case(shape, random);
    engine::testing::TestMemory by_model = test.memory, by_wrong = test.memory;
    ASSERT_EQ(model->run(test.words, by_model, /*timed=*/true).error, ErrorCode::kOk);
    ASSERT_EQ(wrong->run(test.words, by_wrong, /*timed=*/true).error, ErrorCode::kOk);
    (void)lockstep.run(test.words, test.memory, /*timed=*/true);
    const Comparison& comparison = lockstep.comparison();
    // Whatever the RTL does, the model's bytes stay.
    ASSERT_EQ(test.memory.scratchpad(), by_model.scratchpad());
    engine::Tile tile;
    ASSERT_EQ(engine::parse_tile(test.words, tile), ErrorCode::kOk);
    const ResultArray results = results_of(tile).at(0);
    uint64_t differing = 0, first = 0;
    for (uint64_t e = results.elements(); e-- > 0;) {
      const uint8_t* a = by_model.at(results.base) + results.offset(e);
      const uint8_t* b = by_wrong.at(results.base) + results.offset(e);
      if (results.value(a) == results.value(b)) continue;
      EXPECT_EQ(results.value(a) ^ results.value(b), 1);
      ++differing, first = e;
    }
    ASSERT_EQ(comparison.differing, differing) << comparison.difference;
    ASSERT_EQ(comparison.equal(), differing == 0);
    if (differing == 0) continue;
    ++found;
    EXPECT_NE(comparison.difference.find("(number " + std::to_string(first) + ","), std::string::npos)
        << comparison.difference;

    // From what was kept, the tile gives the same again.
    BundleMemory memory(comparison.memory);
    const Comparison before = comparison;
    Lockstep again(engine::make_mxu_model(nano()), make_rtl_mxu(nano(), rtl::make_wrong_mac_array()));
    (void)again.run(test.words, memory, /*timed=*/true);
    EXPECT_EQ(again.comparison().difference, before.difference);
    EXPECT_EQ(again.comparison().expected, before.expected);
    EXPECT_EQ(again.comparison().got, before.got);
  }
  EXPECT_GE(found, 10);
}

// Every number of the result is right, and a request comes a cycle late: a device says of how many tiles.
TEST(BackEnds, CountTilesThatAskForMemoryWhenTheScheduleSays) {
  struct Late final : rtl::test::OtherMacArray {
    using OtherMacArray::OtherMacArray;
    void start(const MxuCommand& command) override {
      OtherMacArray::start(command);
      held_ = false;
    }
    [[nodiscard]] bool results(Results& request) override {
      return OtherMacArray::results(request) && std::exchange(held_, true);
    }
    bool held_ = false;
  };
  for (const BackEnd back_end : {BackEnd::kRtl, BackEnd::kLockstep}) {
    for (const bool late : {false, true}) {
      const Blocks right = blocks();
      if (late) {
        blocks().mac_array = [](std::string_view preset) {
          return std::make_unique<Late>(rtl::make_mac_array(preset));
        };
      }
      BackEnds back_ends(nano());
      back_ends.choose(Unit::kMxu, back_end);
      blocks() = right;
      const auto engine = back_ends.make(Unit::kMxu);
      Random random(16);
      for (int i = 0; i < 20; ++i) {
        MxuCase test = make_case(small_shape(random), random);
        ASSERT_EQ(engine->run(test.words, test.memory, /*timed=*/true).error, ErrorCode::kOk);
        EXPECT_EQ(test.memory.scratchpad(), test.expected);
        // Without time nothing is counted.
        ASSERT_EQ(engine->run(test.words, test.memory, /*timed=*/false).error, ErrorCode::kOk);
      }
      const EngineRecord& record = back_ends.record(Unit::kMxu);
      EXPECT_EQ(record.cycles.count, 20u);
      EXPECT_EQ(record.same_requests, late ? 0u : 20u);
    }
  }
}

TEST(Bundle, ComesBackAsItWas) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "npu-bundle-test";
  std::filesystem::remove_all(folder);
  Bundle bundle;
  bundle.caps = nano();
  bundle.command = {1, 2, 0xffffffff};
  bundle.invocation = 3, bundle.tile = 4;
  bundle.network = "n\"et", bundle.layer = "conv2d_1", bundle.operators = "CONV2D", bundle.seed = "jitter 1:2";
  bundle.found.difference = "something";
  bundle.found.elements = 2, bundle.found.differing = 1;
  bundle.found.memory = {{contract::Region::kScratchpad, 0, 64, {1, 2, 3}}, {contract::Region::kVariable, 5, 0, {}}};
  bundle.found.expected = {9}, bundle.found.got = {8};
  write_bundle(bundle, folder);
  EXPECT_THROW(write_bundle(bundle, folder), Error);  // never over another one
  const Bundle read = read_bundle(folder);
  EXPECT_EQ(read.caps.mxu_cols, bundle.caps.mxu_cols);
  EXPECT_EQ(read.command, bundle.command);
  EXPECT_EQ(read.network, bundle.network);
  EXPECT_EQ(read.seed, bundle.seed);
  EXPECT_EQ(read.tile, bundle.tile);
  EXPECT_EQ(read.found.difference, bundle.found.difference);
  EXPECT_EQ(read.found.memory, bundle.found.memory);
  EXPECT_EQ(read.found.got, bundle.found.got);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace npu::cosim
