// SPDX-License-Identifier: Apache-2.0
// The beats of a tile: bytes, bounds and cycles agree with operands and formulas.
#include "hw/engine/beats.h"

#include <gtest/gtest.h>

#include <map>

#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/vpu_cycles.h"
#include "tests/unit/engine/mxu_case.h"
#include "tests/unit/engine/scalar_uops.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::ErrorCode;

uint64_t bytes_of(const std::vector<BeatRun>& beats, Port port) {
  uint64_t bytes = 0;
  for (const BeatRun& run : beats) bytes += run.port == port ? uint64_t{run.beats} * run.bytes : 0;
  return bytes;
}

// Every beat lies in what the tile resolved (between its first and last byte) and starts before the tile ends.
void expect_sane(const TileResult& result, const TestMemory& memory, const std::string& what) {
  int64_t low = INT64_MAX, high = 0;
  for (const TestMemory::Touch& touch : memory.touches) {
    low = std::min(low, touch.low);
    high = std::max(high, touch.high);
  }
  EXPECT_EQ(result.cycles, result.fill + result.steady + result.drain);
  EXPECT_LE(result.beats.size(), 100u) << what;
  for (const BeatRun& run : result.beats) {
    ASSERT_GE(run.beats, 1u);
    ASSERT_GE(run.bytes, 1u);
    ASSERT_LT(run.start + uint64_t{run.beats - 1} * run.interval, result.cycles) << what;
    int64_t most = int64_t{run.beats - 1} * run.step;
    if (run.wrap != 0) {
      most = std::min(most, run.wrap - run.step);
      ASSERT_EQ(run.wrap % run.step, 0);
    }
    ASSERT_GE(run.address.offset, low) << what;
    ASSERT_LE(run.address.offset + most + run.bytes, high) << what;
  }
}

TEST(Beats, StreamsSumUpAndStayInside) {
  Random random(101);
  for (int i = 0; i < 3000; ++i) {
    Stream stream;
    stream.base = scratchpad(1000);
    stream.extent = {random.between(-500, 500), static_cast<uint64_t>(random.between(1, 400))};
    stream.bytes = static_cast<uint64_t>(random.between(1, 2000));
    stream.width = static_cast<uint64_t>(random.between(1, 64));
    stream.begin = static_cast<uint64_t>(random.between(0, 50));
    stream.cycles = stream.bytes + static_cast<uint64_t>(random.between(0, 3000));
    std::vector<BeatRun> beats;
    add_stream(beats, stream);
    uint64_t bytes = 0;
    for (const BeatRun& run : beats) {
      for (uint32_t k = 0; k < run.beats; ++k) {
        int64_t offset = int64_t{k} * run.step;
        if (run.wrap != 0) offset %= run.wrap;
        offset += run.address.offset;
        ASSERT_GE(offset, 1000 + stream.extent.low);
        ASSERT_LE(offset + run.bytes, 1000 + stream.extent.low + static_cast<int64_t>(stream.extent.bytes));
        ASSERT_LT(run.start + uint64_t{k} * run.interval, stream.begin + stream.cycles);
        bytes += run.bytes;
      }
    }
    ASSERT_EQ(bytes, stream.bytes);
  }
}

TEST(Beats, PointwiseConvolutionByHand) {
  // 16 x 16 pixels, 64 -> 48 channels on 32 columns, 32 deep: one block of 256 pixels (65536 / 2 / 4 / 32), two groups,
  // two steps a group.
  Random random(102);
  MxuShape shape;
  shape.in_h = shape.in_w = 16;
  shape.in_c = 64;
  shape.out_c = 48;
  MxuCase test = make_case(shape, random);
  const TileResult result = make_mxu_model(test_machine())->run(test.words, test.memory, true);
  // Loads 32 * 32 / 64 = 16 cycles, pipeline 3 + log2(32) = 8: fill 24. Steps of 256 pixels: 2 * 2 * 256 = 1024. Drain
  // 256 pixels and 5 stages.
  EXPECT_EQ(result.fill, 24u);
  EXPECT_EQ(result.steady, 1024u);
  EXPECT_EQ(result.drain, 261u);
  EXPECT_EQ(result.macs, 256u * 64 * 48);
  EXPECT_EQ(bytes_of(result.beats, Port::kWeight), 64u * 48);           // one block
  EXPECT_EQ(bytes_of(result.beats, Port::kActivation), 2u * 256 * 64);  // two groups
  EXPECT_EQ(bytes_of(result.beats, Port::kParameter), 32u + 48 * 16);
  EXPECT_EQ(bytes_of(result.beats, Port::kResult), 256u * 48 * 4);
  expect_sane(result, test.memory, "pointwise");
}

TEST(Beats, RandomMxuTiles) {
  Random random(103);
  contract::Capabilities small = test_machine();
  small.mxu_cols = small.mxu_depth = 8;
  small.mxu_dw_taps = 2;
  small.mxu_acc_bytes = 1024;
  small.mxu_weight_port_bytes = 16;
  for (const contract::Capabilities& caps : {test_machine(), small}) {
    const std::unique_ptr<Engine> engine = make_mxu_model(caps);
    for (int i = 0; i < 600; ++i) {
      const MxuShape shape = cosim::random_mxu_shape(random);
      MxuCase test = make_case(shape, random);
      const TileResult result = engine->run(test.words, test.memory, true);
      ASSERT_EQ(result.error, ErrorCode::kOk);
      EXPECT_EQ(result.cycles, timing::mxu_cycles(test.command, caps).total());
      EXPECT_EQ(result.macs, timing::mxu_macs(test.command));
      EXPECT_EQ(bytes_of(result.beats, Port::kResult),
                static_cast<uint64_t>(test.elements) * element_bytes(shape.dst_type));
      const timing::MxuLoops loops = timing::mxu_loops(test.command, caps);
      const uint64_t taps = static_cast<uint64_t>(shape.kernel_h * shape.kernel_w);
      const uint64_t weights = static_cast<uint64_t>(shape.out_c) * element_bytes(test.command.weight_type) * taps *
                               (shape.mode == contract::MxuMode::kDepthwise ? 1 : static_cast<uint64_t>(shape.in_c));
      EXPECT_EQ(bytes_of(result.beats, Port::kWeight), weights * loops.blocks) << shape.describe();
      EXPECT_EQ(bytes_of(result.beats, Port::kParameter), 32 + loops.blocks * static_cast<uint64_t>(shape.out_c) * 16);
      expect_sane(result, test.memory, shape.describe() + ", " + random.name());
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Beats, RandomEwiseTiles) {
  Random random(104);
  const std::unique_ptr<Engine> engine = make_vpu_model(test_machine());
  for (int i = 0; i < 600; ++i) {
    EwiseCase test = make_ewise_case(random);
    const TileResult result = engine->run(test.words, test.memory, true);
    ASSERT_EQ(result.error, ErrorCode::kOk);
    EXPECT_EQ(result.cycles, timing::ewise_cycles(test.command, test_machine()).total());
    uint64_t stored = 0;
    for (const contract::Uop& uop : test.command.uops) {
      if (uop.op != contract::UopCode::kStore) continue;
      stored += static_cast<uint64_t>(test.elements) * element_bytes(test.command.operands[uop.b].type);
    }
    EXPECT_EQ(bytes_of(result.beats, Port::kResult), stored);
    expect_sane(result, test.memory, "case " + std::to_string(i) + ", " + random.name());
    if (HasFatalFailure()) return;
  }
}

TEST(Beats, FunctionOnlyHasNone) {
  Random random(105);
  MxuCase test = make_case(MxuShape{}, random);
  const TileResult result = make_mxu_model(test_machine())->run(test.words, test.memory, false);
  EXPECT_EQ(result.cycles, 0u);
  EXPECT_TRUE(result.beats.empty());
}

}  // namespace
}  // namespace npu::engine::testing
