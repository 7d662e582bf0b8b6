// SPDX-License-Identifier: Apache-2.0
// A missing token is found in every mode and at any latency, whatever the timing of the run.
#include <gtest/gtest.h>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;

void expect_hazard(Bench& bench, const Stream& stream, uint32_t command, uint32_t other) {
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultHazard);
  EXPECT_EQ(bench.read(reg::kFaultCommand), command);
  EXPECT_EQ(bench.read(reg::kFaultOther), other);
}

// RAW, WAR and WAW between a DMA channel and the VPU, with the commands between them far apart in time.
void all_kinds(const BenchOptions& options) {
  Bench bench(options);
  const auto long_pause = [](Stream& stream) {
    for (uint32_t i = 0; i < 4; ++i) stream.add(copy(2, dram(0), spm(0x8000), 0x4000));
  };
  {
    Stream raw(small_machine());
    const uint32_t load = raw.add(copy(0, dram(0), spm(0), 256));
    long_pause(raw);
    const uint32_t use = raw.add(ewise(spm(255), spm(0x400), 4));
    expect_hazard(bench, raw, use, load);
    EXPECT_EQ(bench.read(reg::kFaultAddressLo), 255u);
    EXPECT_EQ(bench.read(reg::kFaultQueue), kVpuQueue);
  }
  {
    Stream war(small_machine());
    const uint32_t use = war.add(ewise(spm(0), spm(0x400), 256));
    long_pause(war);
    const uint32_t load = war.add(copy(0, dram(0), spm(252), 256));
    expect_hazard(bench, war, load, use);
  }
  {
    Stream waw(small_machine());
    const uint32_t first = waw.add(ewise(spm(0), spm(0x400), 256));
    long_pause(waw);
    const uint32_t second = waw.add(copy(0, dram(0), spm(0x4fe), 16));
    expect_hazard(bench, waw, second, first);
  }
  {
    Stream rar(small_machine());
    rar.add(ewise(spm(0), spm(0x400), 256));
    rar.add(copy(0, spm(0), dram(0x1000), 256));
    ASSERT_TRUE(bench.run(rar));
    EXPECT_EQ(bench.fault(), ErrorCode::kOk);
  }
  {
    Stream neighbours(small_machine());
    neighbours.add(ewise(spm(0), spm(0x400), 255));
    neighbours.add(copy(0, dram(0), spm(0x400 + 255), 3));
    neighbours.add(copy(1, dram(0), spm(0x3fd), 3));
    ASSERT_TRUE(bench.run(neighbours));
    EXPECT_EQ(bench.fault(), ErrorCode::kOk);
  }
}

TEST(HazardTest, AllKindsTimed) { all_kinds({}); }
TEST(HazardTest, AllKindsFunctional) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  all_kinds(options);
}
TEST(HazardTest, AllKindsWithJitter) {
  BenchOptions options;
  options.jitter = {3, 500, 500, 500};
  all_kinds(options);
}

TEST(HazardTest, AliasesThroughAnotherRegionAreSeen) {
  Bench bench;
  Stream stream(small_machine());
  const uint32_t write = stream.add(fill(0, dram(0x1000), 64, 7));
  const uint32_t read = stream.add(copy(1, at(contract::Region::kConstants, 0x1020), spm(0), 8));
  expect_hazard(bench, stream, read, write);
}

TEST(HazardTest, StridedAccessesAreExact) {
  Bench bench;
  // Channel 0 writes the even rows of 16 bytes, channel 1 the odd ones: no hazard. Then one byte too many.
  for (const uint32_t run : {16u, 17u}) {
    Stream stream(small_machine());
    contract::DmaCommand even = copy(0, dram(0), spm(0), 16);
    even.count[4] = 8;
    even.src_stride[4] = 16;
    even.dst_stride[4] = 32;
    const uint32_t first = stream.add(even);
    contract::DmaCommand odd = even;
    odd.header.queue = contract::Queue::kDma1;
    odd.dst = spm(16);
    odd.run_bytes = run;
    odd.count[4] = 7;
    const uint32_t second = stream.add(odd);
    if (run == 16) {
      ASSERT_TRUE(bench.run(stream));
      EXPECT_EQ(bench.fault(), ErrorCode::kOk);
    } else {
      expect_hazard(bench, stream, second, first);
      EXPECT_EQ(bench.read(reg::kFaultAddressLo), 32u);
    }
  }
}

TEST(HazardTest, TransitiveOrderIsEnough) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 64));
  stream.add(ewise(spm(0x800), spm(0xc00), 64), {{0, 1}});
  stream.add(copy(1, spm(0), dram(0x1000), 64), {{9, 1}});  // after the load through the VPU
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(HazardTest, WritesBehindTheTokensBackAreHazards) {
  Bench bench;
  bench.map_region(contract::Region::kWorkspace, 0, 1 << 20, contract::Space::kDram, true, true);
  Stream over_stream(small_machine());
  over_stream.add(fill(0, dram(Bench::kStreamBase + 8), 4, 0));
  expect_hazard(bench, over_stream, 1, 1);
  bench.write(reg::kEventBaseLo, Bench::kEventBase);
  bench.write(reg::kEventCapacity, 4);
  Stream over_events(small_machine());
  over_events.add(copy(0, dram(Bench::kEventBase + 255), spm(0), 4));
  expect_hazard(bench, over_events, 1, 1);
}

TEST(HazardTest, ACommandMustNotOverlapItself) {
  Bench bench;
  const auto fault_of = [&](const contract::DmaCommand& dma) {
    Stream stream(small_machine());
    stream.add(dma);
    EXPECT_TRUE(bench.run(stream));
    return bench.fault();
  };
  EXPECT_EQ(fault_of(copy(0, spm(0), spm(32), 64)), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_of(copy(0, spm(0), spm(64), 64)), ErrorCode::kOk);
  EXPECT_EQ(fault_of(copy(0, spm(0), spm(0), 64)), ErrorCode::kOk);
  contract::DmaCommand twice = fill(0, spm(0), 16, 1);
  twice.count[4] = 2;
  twice.dst_stride[4] = 8;
  EXPECT_EQ(fault_of(twice), ErrorCode::kFaultBadCommand);
  twice.dst_stride[4] = 0;
  EXPECT_EQ(fault_of(twice), ErrorCode::kFaultBadCommand);
  contract::DmaCommand crossing = fill(0, spm(0), 1, 1);  // 0, 2, 4 and 4, 6, 8
  crossing.count[4] = 3;
  crossing.dst_stride[4] = 2;
  crossing.count[3] = 2;
  crossing.dst_stride[3] = 4;
  EXPECT_EQ(fault_of(crossing), ErrorCode::kFaultBadCommand);
}

// A VPU program that loads from where it has stored to: how far the store has come is the engine's business.
void loads_come_before_stores(const BenchOptions& options) {
  Bench bench(options);
  contract::VpuEwiseCommand command = ewise(spm(0), spm(0x100), 37);
  command.operands.push_back(command.operands[1]);  // 2: where the result goes, as an operand
  const contract::Uop load = command.uops[0], store = command.uops[1];
  contract::Uop again = load;
  again.a = 2;
  contract::VpuEwiseCommand apart = command;
  apart.operands[2].base = spm(0x100 + 37);
  const auto fault_of = [&](contract::VpuEwiseCommand program, std::vector<contract::Uop> uops) {
    program.uops = std::move(uops);
    Stream stream(small_machine());
    stream.add(program);
    EXPECT_TRUE(bench.run(stream));
    return bench.fault();
  };
  EXPECT_EQ(fault_of(command, {load, again, store}), ErrorCode::kOk);
  EXPECT_EQ(fault_of(command, {load, store, again}), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_of(command, {again, store, load, store, again}), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_of(command, {again, store, load, store}), ErrorCode::kOk);  // the load is of another operand
  EXPECT_EQ(fault_of(apart, {load, store, again}), ErrorCode::kOk);
}

TEST(HazardTest, LoadsComeBeforeStoresTimed) { loads_come_before_stores({}); }
TEST(HazardTest, LoadsComeBeforeStoresFunctional) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  loads_come_before_stores(options);
}

TEST(HazardTest, JitterChangesNoBit) {
  BenchOptions options;
  options.jitter = {1234, 300, 300, 300};
  Bench bench(options);
  Stream stream(small_machine());
  for (uint32_t i = 0; i < 6; ++i) {
    const uint32_t in = (i % 2) * 0x400, out = 0x1000 + (i % 2) * 0x400;
    if (i < 2) {
      stream.add(copy(0, dram(i * 0x400), spm(in), 0x400));
      stream.add(ewise(spm(in), spm(out), 0x400), {{0, 1}});
    } else {
      stream.add(copy(0, dram(i * 0x400), spm(in), 0x400), {{9, 2}});
      stream.add(ewise(spm(in), spm(out), 0x400), {{0, 1}, {1, 2}});
    }
    stream.add(copy(1, spm(out), dram(0x10000 + i * 0x400), 0x400), {{9, 1}});
  }
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk) << bench.read(reg::kFaultCommand) << " " << bench.read(reg::kFaultOther);
  EXPECT_TRUE(
      std::equal(bench.memory.data.begin(), bench.memory.data.begin() + 0x1800, bench.memory.data.begin() + 0x10000));
  bench.expect_identities();
}

}  // namespace
}  // namespace npu::model::testing
