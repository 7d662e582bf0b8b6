// SPDX-License-Identifier: Apache-2.0
// Where a tile's result is computed: beside the simulation, if that pays and nothing else can see its bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "hw/model/beside.h"
#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

constexpr uint64_t kMany = 1 << 20, kFew = 1 << 10;

// Copies 64 bytes from `src` with an engine that leaves them to finish(), and stores them behind it. Returns whether
// another thread copied them.
bool copied_beside(const BenchOptions& options, contract::Address src, uint64_t macs) {
  Bench bench(options);
  std::span<uint8_t> from, to;
  std::thread::id copier;
  bench.vpu->custom = [&](const engine::Tile& tile, engine::MemoryView& memory, bool timed) {
    const contract::VpuEwiseCommand& ewise = std::get<engine::EwiseTile>(tile).command;
    from = memory.resolve(ewise.operands[0].base, 0, 64, engine::Access::kRead);
    to = memory.resolve(ewise.operands[1].base, 0, 64, engine::Access::kWrite);
    engine::TileResult result;
    if (timed) {
      result = every_cycle(16, {{engine::Access::kRead, ewise.operands[0].base, {0, 64}, 64, 16},
                                {engine::Access::kWrite, ewise.operands[1].base, {0, 64}, 64, 16}});
    }
    result.macs = macs;
    return result;
  };
  bench.vpu->rest = [&] {
    copier = std::this_thread::get_id();
    std::copy(from.begin(), from.end(), to.begin());
  };
  Stream stream(options.caps);
  stream.add(fill(0, src, 64, 0x5a));
  stream.add(ewise(src, spm(0x1000), 64), {{0, 1}});
  stream.add(copy(0, spm(0x1000), dram(0x100), 64), {{kVpuQueue, 1}});
  EXPECT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), contract::ErrorCode::kOk);
  const auto stored = bench.memory.data.begin() + 0x100;
  EXPECT_EQ(std::count(stored, stored + 64, 0x5a), 64);
  EXPECT_EQ(bench.vpu->runs, 1);
  return copier != std::this_thread::get_id();
}

TEST(ComputeUnitTest, LargeTilesAreComputedBeside) {
  EXPECT_EQ(copied_beside({}, spm(0), kMany), several_processors());
}

TEST(ComputeUnitTest, SmallTilesAreNot) { EXPECT_FALSE(copied_beside({}, spm(0), kFew)); }

TEST(ComputeUnitTest, WithoutTimeThereIsNothingToBeBeside) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  EXPECT_FALSE(copied_beside(options, spm(0), kMany));
}

}  // namespace
}  // namespace npu::model::testing
