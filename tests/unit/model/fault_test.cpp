// SPDX-License-Identifier: Apache-2.0
// Faults are data: each has its code and place, stops the job cleanly, and the next job runs.
#include <gtest/gtest.h>

#include <iostream>
#include <limits>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;
using contract::Region;

// Runs a stream that must fault in its first command after begin; then a good one.
template <class Command>
ErrorCode fault_of(Bench& bench, const Command& command, Tokens tokens = {}) {
  Stream stream(small_machine());
  stream.add(command, tokens);
  EXPECT_TRUE(bench.run(stream));
  const ErrorCode code = bench.fault();
  EXPECT_EQ(bench.read(reg::kStatus),
            reg::kStatusPoweredMask | (code == ErrorCode::kOk ? reg::kStatusDoneMask : reg::kStatusFaultMask));
  EXPECT_TRUE(bench.irq.read());
  if (code != ErrorCode::kOk) {
    EXPECT_EQ(bench.read(reg::kFaultCommand), 1u);
  }
  bench.expect_cycles_add_up();
  Stream good(small_machine());
  good.add(copy(0, dram(0), spm(0), 512));
  good.add(ewise(spm(0), spm(0x400), 512), {{0, 1}});
  good.add(copy(0, spm(0x400), dram(0x4000), 512), {{9, 1}});
  std::fill_n(bench.memory.data.begin() + 0x4000, 512, uint8_t{0});
  EXPECT_TRUE(bench.run(good));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_TRUE(
      std::equal(bench.memory.data.begin(), bench.memory.data.begin() + 512, bench.memory.data.begin() + 0x4000));
  return code;
}

TEST(FaultTest, Regions) {
  Bench bench;
  EXPECT_EQ(fault_of(bench, copy(0, at(Region::kInput, 0), spm(0), 16)), ErrorCode::kFaultBadRegion);
  EXPECT_EQ(fault_of(bench, copy(0, at(static_cast<Region>(9), 0), spm(0), 16)), ErrorCode::kFaultBadRegion);
  EXPECT_EQ(fault_of(bench, copy(0, at(static_cast<Region>(200), 0), spm(0), 16)), ErrorCode::kFaultBadRegion);
  bench.map_region(Region::kInput, 0x80000, 0xffffffff, contract::Space::kDram, true, true);  // beyond DRAM
  EXPECT_EQ(fault_of(bench, copy(0, at(Region::kInput, 0), spm(0), 16)), ErrorCode::kFaultBadRegion);
  bench.map_region(Region::kInput, ~uint64_t{0} - 15, 0x100, contract::Space::kDram, true, true);
  EXPECT_EQ(fault_of(bench, copy(0, at(Region::kInput, 0), spm(0), 16)), ErrorCode::kFaultBadRegion);
  bench.map_region(Region::kInput, 0, 64, contract::Space::kPersistent, true, true);
  EXPECT_EQ(fault_of(bench, copy(0, at(Region::kInput, 0), spm(0), 16)), ErrorCode::kFaultBadRegion);
}

TEST(FaultTest, Bounds) {
  Bench bench;
  EXPECT_EQ(fault_of(bench, copy(0, dram(Bench::kWorkspaceBytes - 16), spm(0), 16)), ErrorCode::kOk);
  EXPECT_EQ(fault_of(bench, copy(0, dram(Bench::kWorkspaceBytes - 15), spm(0), 16)), ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(fault_of(bench, copy(0, dram(0), spm(65536 - 15), 16)), ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(fault_of(bench, copy(0, dram(0xffffffff), spm(0), 16)), ErrorCode::kFaultOutOfBounds);
  contract::DmaCommand below = copy(0, dram(32), spm(0), 16);
  below.count[4] = 4;
  below.src_stride[4] = -16;
  below.dst_stride[4] = 16;
  EXPECT_EQ(fault_of(bench, below), ErrorCode::kFaultOutOfBounds);
  below.src = dram(48);
  EXPECT_EQ(fault_of(bench, below), ErrorCode::kOk);
  EXPECT_EQ(fault_of(bench, ewise(spm(0), spm(65535), 2)), ErrorCode::kFaultOutOfBounds);
}

TEST(FaultTest, Rights) {
  Bench bench;
  EXPECT_EQ(fault_of(bench, copy(0, spm(0), at(Region::kConstants, 0), 16)), ErrorCode::kFaultAccessRight);
  bench.map_region(Region::kOutput, 0, 64, contract::Space::kDram, false, true);
  EXPECT_EQ(fault_of(bench, copy(0, at(Region::kOutput, 0), spm(0), 16)), ErrorCode::kFaultAccessRight);
  EXPECT_EQ(fault_of(bench, ewise(dram(0), spm(0), 16)), ErrorCode::kFaultAccessRight);
  EXPECT_EQ(fault_of(bench, ewise(spm(0), dram(0), 16)), ErrorCode::kFaultAccessRight);
}

TEST(FaultTest, BadCommands) {
  Bench bench;
  contract::DmaCommand dma = copy(0, dram(0), spm(0), 0);
  EXPECT_EQ(fault_of(bench, dma), ErrorCode::kFaultBadCommand);
  dma = copy(0, dram(0), spm(0), 16);
  dma.count[2] = 0;
  EXPECT_EQ(fault_of(bench, dma), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_of(bench, copy(5, dram(0), spm(0), 16)), ErrorCode::kFaultBadCommand);  // no such channel
  EXPECT_EQ(fault_of(bench, copy(8, dram(0), spm(0), 16)), ErrorCode::kFaultBadCommand);  // not a DMA channel
  EXPECT_EQ(fault_of(bench, fill(0, spm(0), 16, 1, 3)), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_of(bench, fill(0, spm(0), 6, 1, 4)), ErrorCode::kFaultBadCommand);
  dma = copy(0, dram(0), spm(0), 16);
  dma.header.core = 1;
  EXPECT_EQ(fault_of(bench, dma), ErrorCode::kFaultBadCommand);
  contract::VpuEwiseCommand vpu = ewise(spm(0), spm(64), 16);
  vpu.uops[0].a = 7;
  EXPECT_EQ(fault_of(bench, vpu), ErrorCode::kFaultBadCommand);
  vpu = ewise(spm(0), spm(64), 16);
  vpu.uops.pop_back();  // nothing stored
  EXPECT_EQ(fault_of(bench, vpu), ErrorCode::kFaultBadCommand);
}

TEST(FaultTest, HostileSizesAreFaultsAtOnce) {
  Bench bench;
  contract::DmaCommand dma = copy(0, dram(0), spm(0), 0xffffffff);
  dma.count.fill(0xffffffff);
  dma.src_stride.fill(std::numeric_limits<int32_t>::min());
  dma.dst_stride.fill(std::numeric_limits<int32_t>::max());
  EXPECT_EQ(fault_of(bench, dma), ErrorCode::kFaultOutOfBounds);
  dma.src_stride.fill(0);
  dma.dst_stride.fill(0);
  dma.run_bytes = 1;
  EXPECT_EQ(fault_of(bench, dma), ErrorCode::kFaultBadCommand);
  contract::VpuEwiseCommand vpu = ewise(spm(0), spm(64), 16);
  vpu.dims.fill(0xffffffff);
  for (contract::Operand& operand : vpu.operands) operand.stride.fill(0);
  EXPECT_EQ(fault_of(bench, vpu), ErrorCode::kFaultBadCommand);
  contract::VpuReduceCommand reduce;
  reduce.header.queue = contract::Queue::kVpu;
  reduce.op = contract::ReduceOp::kMax;
  reduce.dst = spm(64);
  reduce.outer = 1;
  reduce.axis = 0xffffffff;
  reduce.inner = 1;
  EXPECT_EQ(fault_of(bench, reduce), ErrorCode::kOk);  // 2^32 - 1 visits of one byte are allowed
  reduce.axis = 0xffffffff;
  reduce.inner = 64;
  EXPECT_EQ(fault_of(bench, reduce), ErrorCode::kFaultBadCommand);
}

TEST(FaultTest, TokensOfQueuesThatDoNotExist) {
  Bench bench;
  EXPECT_EQ(fault_of(bench, fill(0, spm(0), 16, 1), {{7, 1}}), ErrorCode::kFaultToken);
  EXPECT_EQ(fault_of(bench, fill(0, spm(0), 16, 1), {{11, 1}}), ErrorCode::kFaultToken);
  // More than were issued: nothing to wait for.
  EXPECT_EQ(fault_of(bench, fill(0, spm(0), 16, 1), {{8, 200}, {0, 255}}), ErrorCode::kOk);
}

TEST(FaultTest, UnknownOpcodesAndReservedBits) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(fill(0, spm(0), 16, 1));
  const std::vector<uint32_t> good = stream.finish();
  for (const auto& [word, flip] : std::vector<std::pair<uint32_t, uint32_t>>{
           {8, 0x80}, {8, 0x0100}, {8 + 1, 0x20000}, {8 + 9, 0x1000000}, {8 + 9, 0x4}, {8 + 28, 1}}) {
    std::vector<uint32_t> bad = good;
    bad[word] ^= flip;
    ASSERT_TRUE(bench.run(bad));
    EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand) << word;
  }
}

TEST(FaultTest, EveryBitFlipOfAStreamEndsTheJob) {
  // Functional mode for speed: no flip may hang, crash or escape as an exception.
  BenchOptions options;
  options.mode = Mode::kFunctional;
  Bench bench(options);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 64));
  stream.add(ewise(spm(0), spm(0x400), 64), {{0, 1}});
  stream.add(copy(1, spm(0x400), dram(0x1000), 64), {{9, 1}});
  const std::vector<uint32_t> good = stream.finish();
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView&, bool) { return engine::TileResult{}; };
  for (uint32_t bit = 0; bit < good.size() * 32; ++bit) {
    std::vector<uint32_t> bad = good;
    bad[bit / 32] ^= 1u << bit % 32;
    ASSERT_TRUE(bench.run(bad)) << "word " << bit / 32 << " bit " << bit % 32;
  }
}

TEST(FaultTest, Timeout) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 65536));
  bench.write(reg::kCycleLimitLo, 1000);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultTimeout);
  EXPECT_EQ(bench.read64(reg::kFaultCycleLo), 1000u);
  bench.expect_identities();
  bench.write(reg::kCycleLimitLo, 100000);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(FaultTest, MemoryThatNeverAnswersTimesOut) {
  BenchOptions options;
  options.answer = Answer::kSilent;
  Bench bench(options);
  bench.write(reg::kCycleLimitLo, 1000);
  ASSERT_TRUE(bench.run(Stream(small_machine())));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultTimeout);
  bench.write(reg::kCycleLimitLo, 0);
  bench.write(reg::kControl, reg::kControlStartMask);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
  ASSERT_TRUE(bench.npu.running());
  bench.npu.report_stuck();
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultToken);
}

TEST(FaultTest, MemoryThatAnswersAfterTheJobDisturbsNoOther) {
  // Silent until the aborted job has given up; then well again. What it was silent about comes in the middle of the
  // second of two good jobs.
  BenchOptions options;
  Bench bench(options);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 4096));
  stream.add(copy(1, spm(0), dram(0x8000), 4096), {{0, 1}});
  ASSERT_TRUE(bench.run(stream));
  const uint64_t cycles = bench.job_cycles();
  const auto runs_well = [&](bool late) {
    std::fill_n(bench.memory.data.begin() + 0x8000, 4096, uint8_t{0});
    bench.start(stream.finish());
    sc_core::sc_start(sc_core::sc_time(200, sc_core::SC_NS));
    if (late) bench.memory.answer_held();
    ASSERT_TRUE(bench.finish());
    EXPECT_EQ(bench.fault(), ErrorCode::kOk);
    EXPECT_EQ(bench.job_cycles(), cycles);
    const auto& data = bench.memory.data;
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + 4096, data.begin() + 0x8000));
    bench.expect_identities();
  };
  bench.memory.set_answer(Answer::kSilent);
  bench.write(reg::kCycleLimitLo, 300);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultTimeout);
  bench.write(reg::kCycleLimitLo, 0);
  bench.memory.set_answer(Answer::kUpdated);
  runs_well(false);
  runs_well(true);
  EXPECT_EQ(bench.memory.in_flight, 0u);
  // A job that is given up waits for its own bursts only: here, none.
  bench.memory.set_answer(Answer::kSilent);
  bench.write(reg::kCycleLimitLo, 300);
  ASSERT_TRUE(bench.run(stream));
  bench.memory.set_answer(Answer::kUpdated);
  bench.write(reg::kCycleLimitLo, 3000);
  bench.npu.hang(0, 0);
  bench.start(stream.finish());
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  bench.memory.answer_held();
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultTimeout);
  EXPECT_EQ(bench.job_cycles(), 3000u);
  bench.write(reg::kCycleLimitLo, 0);
  runs_well(false);
}

TEST(FaultTest, BusErrors) {
  BenchOptions options;
  options.memory_bytes = 0xc0000;  // less than dram_mib promises
  Bench bench(options);
  bench.map_region(Region::kWorkspace, 0, 1 << 20, contract::Space::kDram, true, true);
  EXPECT_EQ(fault_of(bench, copy(0, dram(0xc0000 - 8), spm(0), 64)), ErrorCode::kFaultBus);
  EXPECT_EQ(fault_of(bench, copy(0, spm(0), dram(0xc0000), 640)), ErrorCode::kFaultBus);
  EXPECT_EQ(fault_of(bench, copy(0, dram(0xc0000), dram(0), 640)), ErrorCode::kFaultBus);
  EXPECT_EQ(fault_of(bench, copy(0, dram(0), dram(0xc0000), 640)), ErrorCode::kFaultBus);
  bench.write(reg::kCommandBaseLo, 0xd0000);
  bench.write(reg::kControl, reg::kControlStartMask);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBus);
}

// Whichever burst of a job fails, of data or of commands that are fetched ahead: the job ends, and the next one is
// right.
void each_burst_fails_once(Mode mode) {
  BenchOptions options;
  options.mode = mode;
  Bench bench(options);
  Stream stream(small_machine());
  for (uint32_t i = 0; i < 12; ++i) {
    stream.add(copy(i % 2, dram(0x200 * i), spm(0x200 * i), 512));
    stream.add(copy(i % 2, spm(0x200 * i), dram(0x4000 + 0x200 * i), 512));
  }
  uint32_t failed = 0;
  for (;; ++failed) {
    std::fill_n(bench.memory.data.begin() + 0x4000, 0x200 * 12, uint8_t{0});
    bench.npu.fail_burst(failed + 1);
    ASSERT_TRUE(bench.run(stream));
    if (bench.npu.bursts_until_error() > 0) break;
    EXPECT_EQ(bench.fault(), ErrorCode::kFaultBus) << "burst " << failed + 1;
  }
  EXPECT_EQ(bench.npu.bursts_until_error(), 1u);
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_TRUE(std::equal(bench.memory.data.begin(), bench.memory.data.begin() + 0x200 * 12,
                         bench.memory.data.begin() + 0x4000));
  EXPECT_GE(failed, 24u);
  std::cout << failed << " bursts failed, one a job\n";
}

TEST(FaultTest, EachBurstFailsOnce) { each_burst_fails_once(Mode::kTimed); }
TEST(FaultTest, FunctionalEachBurstFailsOnce) { each_burst_fails_once(Mode::kFunctional); }

TEST(FaultTest, EngineErrors) {
  Bench bench;
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView&, bool) {
    engine::TileResult result;
    result.error = ErrorCode::kFaultBadCommand;
    return result;
  };
  Stream stream(small_machine());
  stream.add(ewise(spm(0), spm(64), 16));
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench.read(reg::kFaultQueue), kVpuQueue);
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView& memory, bool) {
    EXPECT_TRUE(memory.resolve(spm(65530), 0, 7, engine::Access::kRead).empty());
    EXPECT_TRUE(memory.resolve(spm(0), -1, 7, engine::Access::kRead).empty());
    EXPECT_TRUE(memory.resolve(dram(0), 0, 7, engine::Access::kRead).empty());
    EXPECT_EQ(memory.resolve(spm(65530), -6, 6, engine::Access::kRead).size(), 12u);
    return engine::TileResult{};
  };
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(bench.read(reg::kFaultAddressLo), 65530u);
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView&, bool) -> engine::TileResult {
    throw Error(ErrorCode::kOperatorUnsupported, "thrown by an engine");
  };
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kOperatorUnsupported);
  bench.vpu->custom = nullptr;
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(FaultTest, OtherUnitsStop) {
  // While a long load runs and commands queue behind it, the VPU faults: nothing of the rest happens.
  Bench bench;
  bench.vpu->custom = [](const engine::Tile&, engine::MemoryView&, bool) {
    engine::TileResult result;
    result.error = ErrorCode::kFaultBadCommand;
    return result;
  };
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 0x8000));
  stream.add(fill(0, dram(0x30000), 64, 0x77));
  stream.add(ewise(spm(0x9000), spm(0xa000), 16));
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  EXPECT_LT(bench.job_cycles(), 1000u);
  EXPECT_NE(bench.memory.data[0x30000], 0x77);
  bench.expect_identities();
}

}  // namespace
}  // namespace npu::model::testing
