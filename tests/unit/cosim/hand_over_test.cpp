// SPDX-License-Identifier: Apache-2.0
// What a device that hands over chunks of beats says about a tile that memory holds back.
#include "sim/cosim/hand_over.h"

#include <gtest/gtest.h>

namespace npu::cosim {
namespace {

using engine::Access;
using engine::BeatRun;
using engine::kChunkCycles;
using engine::Port;

BeatRun beats(Port port, uint64_t start, uint32_t count, uint32_t interval = 1) {
  BeatRun run;
  run.port = port;
  run.access = Access::kRead;
  run.beats = count;
  run.bytes = 1;
  run.start = start;
  run.interval = interval;
  return run;
}

// In which cycle a port has been granted so often.
uint64_t cycles_for(Grants grants, timing::Ports port, uint64_t count) {
  uint64_t cycles = 0;
  for (; count > 0; ++cycles) count -= (grants.next() & port) != 0 ? 1 : 0;
  return cycles;
}

TEST(HandOver, TakesTheTilesCyclesWhenAllIsGranted) {
  for (const uint64_t cycles :
       {uint64_t{0}, uint64_t{1}, kChunkCycles - 1, kChunkCycles, kChunkCycles + 1, 3 * kChunkCycles, uint64_t{1000}}) {
    const std::vector<BeatRun> all = {beats(Port::kOperand, 0, static_cast<uint32_t>(cycles))};
    EXPECT_EQ(handed_over_cycles(Unit::kVpu, cycles, all, Grants()), cycles);
    EXPECT_EQ(handed_over_cycles(Unit::kVpu, cycles, {}, Grants()), cycles);
  }
}

TEST(HandOver, WaitsForTheSlowestPortOfAChunk) {
  const Grants grants(3, {100, 50, 10, 20});
  // 100 cycles, one chunk: weights are granted in half of the cycles, parameters in a tenth.
  const std::vector<BeatRun> weights = {beats(Port::kWeight, 0, 90)};
  const uint64_t alone = cycles_for(grants, timing::kMxuWeights, 90);
  EXPECT_GT(alone, 150u);
  EXPECT_EQ(handed_over_cycles(Unit::kMxu, 100, weights, grants), alone);
  const std::vector<BeatRun> both = {weights[0], beats(Port::kParameter, 10, 60)};
  const uint64_t slower = cycles_for(grants, timing::kMxuParameters, 60);
  EXPECT_GT(slower, alone);
  EXPECT_EQ(handed_over_cycles(Unit::kMxu, 100, both, grants), slower);
  // A port that is always granted does not matter, and one with few beats is done before the chunk's cycles are over.
  EXPECT_EQ(handed_over_cycles(Unit::kMxu, 100, std::vector{beats(Port::kActivation, 0, 100)}, grants), 100u);
  EXPECT_EQ(handed_over_cycles(Unit::kMxu, 100, std::vector{beats(Port::kWeight, 0, 5)}, grants), 100u);
}

TEST(HandOver, CountsCyclesWithBeatsNotBeats) {
  const Grants grants(4, {100, 30, 100, 100});
  // Two runs in the same cycles, of one port: a grant serves both.
  const std::vector<BeatRun> twice = {beats(Port::kOperand, 0, 100), beats(Port::kOperand, 0, 50, 2)};
  EXPECT_EQ(handed_over_cycles(Unit::kVpu, 100, twice, grants), cycles_for(grants, timing::kVpuRead, 100));
  // Beats in every second cycle need half of the grants.
  const std::vector<BeatRun> thin = {beats(Port::kOperand, 0, 50, 2)};
  EXPECT_EQ(handed_over_cycles(Unit::kVpu, 100, thin, grants), cycles_for(grants, timing::kVpuRead, 50));
}

TEST(HandOver, ChunksWaitOneAfterTheOther) {
  // The second chunk begins when the first is over, though its cycles have no beats.
  const Grants grants(5, {100, 100, 40, 100});
  const std::vector<BeatRun> late = {beats(Port::kResult, kChunkCycles, 200)};
  Grants behind = grants;
  for (uint64_t cycle = 0; cycle < kChunkCycles; ++cycle) (void)behind.next();
  EXPECT_EQ(handed_over_cycles(Unit::kVpu, kChunkCycles + 200, late, grants),
            kChunkCycles + cycles_for(behind, timing::kVpuWrite, 200));
  // Beats behind the tile's cycles go with the last chunk.
  const std::vector<BeatRun> beyond = {beats(Port::kResult, kChunkCycles, 300)};
  EXPECT_EQ(handed_over_cycles(Unit::kVpu, kChunkCycles + 200, beyond, grants),
            kChunkCycles + cycles_for(behind, timing::kVpuWrite, 300));
}

}  // namespace
}  // namespace npu::cosim
