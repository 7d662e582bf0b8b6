// SPDX-License-Identifier: Apache-2.0
// The yield command: what it costs, where a job stops at it, and which of them are refused.
#include <gtest/gtest.h>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::Counter;
using contract::ErrorCode;

contract::Event event(const Bench& bench, uint32_t index) {
  return contract::Event::load(bench.memory.data.data() + Bench::kEventBase + index * contract::Event::kBytes);
}

void record_events(Bench& bench, uint32_t capacity) {
  bench.write(reg::kEventBaseLo, Bench::kEventBase);
  bench.write(reg::kEventCapacity, capacity);
}

// begin, load, yield (segment 5), load, yield (segment 9), load, end.
Stream two_yields() {
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 4096));
  stream.yield(5);
  stream.add(copy(1, dram(0x1000), spm(0x1000), 4096));
  stream.yield(9);
  stream.add(copy(0, dram(0x2000), spm(0x2000), 4096));
  return stream;
}

TEST(YieldTest, CostsItsDecodingAndNothingElseUnlessAskedTo) {
  Bench bench;
  record_events(bench, 16);
  const Stream stream = two_yields();
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusDoneMask | reg::kStatusPoweredMask);
  EXPECT_EQ(bench.read(reg::kCommandNext), 0u);
  EXPECT_EQ(bench.read(reg::kYieldSegment), 0u);
  ASSERT_EQ(bench.read(reg::kEventCount), stream.count());
  EXPECT_EQ(bench.counter(kSequencerQueue, Counter::kCommands), 4u);
  uint32_t yields = 0;
  for (uint32_t i = 0; i < stream.count(); ++i) {
    const contract::Event record = event(bench, i);
    if (record.opcode != static_cast<uint8_t>(contract::Opcode::kYield)) continue;
    ++yields;
    EXPECT_EQ(record.queue, kSequencerQueue);
    // 10 words, 4 a cycle. The load before it is still on its way.
    EXPECT_EQ(record.completed - record.issued, 3u);
    EXPECT_LT(record.completed, 256u);
  }
  EXPECT_EQ(yields, 2u);
  bench.expect_identities();
}

TEST(YieldTest, StopsTheJobWhenAllBeforeItIsDone) {
  Bench bench;
  record_events(bench, 16);
  const Stream stream = two_yields();
  ASSERT_TRUE(bench.run(stream.finish(), 0, reg::kControlPreemptMask));
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusPreemptedMask | reg::kStatusPoweredMask);
  EXPECT_EQ(bench.read(reg::kIrqStatus), uint32_t{reg::kIrqStatusJobMask});
  EXPECT_TRUE(bench.irq.read());
  EXPECT_EQ(bench.read(reg::kCommandNext), stream.word_of_yield(0));
  EXPECT_EQ(bench.read(reg::kYieldSegment), 5u);
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
  ASSERT_EQ(bench.read(reg::kEventCount), 3u);
  EXPECT_EQ(event(bench, 1).command, 1u);  // the load
  EXPECT_EQ(event(bench, 2).command, 2u);  // the yield, behind it
  EXPECT_GE(event(bench, 2).completed, event(bench, 1).completed);
  EXPECT_EQ(bench.counter(1, Counter::kCommands), 0u);
  bench.expect_identities();
}

TEST(YieldTest, RequestCountsFromWhenItIsMade) {
  Bench bench;
  const Stream stream = two_yields();
  bench.vpu->custom = nullptr;
  bench.write(reg::kIrqStatus, 1);
  bench.start(stream.finish());
  // The first yield is issued while the first load runs; the request comes behind it, so it is not in time for a yield
  // that has passed.
  while (bench.counter(kSequencerQueue, Counter::kCommands) < 2) sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  bench.write(reg::kControl, reg::kControlPreemptMask);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusPreemptedMask | reg::kStatusPoweredMask);
  EXPECT_EQ(bench.read(reg::kCommandNext), stream.word_of_yield(1));
  EXPECT_EQ(bench.read(reg::kYieldSegment), 9u);
}

TEST(YieldTest, RequestIsForgottenWhenTheJobEnds) {
  Bench bench;
  bench.write(reg::kControl, reg::kControlPreemptMask);  // without a job
  ASSERT_TRUE(bench.run(two_yields()));
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusDoneMask | reg::kStatusPoweredMask);
  Stream none(small_machine());
  none.add(copy(0, dram(0), spm(0), 64));
  ASSERT_TRUE(bench.run(none.finish(), 0, reg::kControlPreemptMask));
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusDoneMask | reg::kStatusPoweredMask);
  ASSERT_TRUE(bench.run(two_yields()));
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusDoneMask | reg::kStatusPoweredMask);
}

TEST(YieldTest, NextStartAndResetClearTheResult) {
  Bench bench;
  const Stream stream = two_yields();
  ASSERT_TRUE(bench.run(stream.finish(), 0, reg::kControlPreemptMask));
  ASSERT_NE(bench.read(reg::kCommandNext), 0u);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_EQ(bench.read(reg::kStatus), uint32_t{reg::kStatusPoweredMask});
  EXPECT_EQ(bench.read(reg::kCommandNext), 0u);
  EXPECT_EQ(bench.read(reg::kYieldSegment), 0u);
}

// Runs a stream whose words were tampered with.
template <class Change>
ErrorCode fault_of(Bench& bench, uint32_t start, Change&& change) {
  std::vector<uint32_t> words = two_yields().finish();
  change(words);
  EXPECT_TRUE(bench.run(words, start));
  const ErrorCode code = bench.fault();
  EXPECT_EQ((bench.read(reg::kStatus) & reg::kStatusFaultMask) != 0, code != ErrorCode::kOk);
  bench.expect_cycles_add_up();
  return code;
}

TEST(YieldTest, FieldsMustBeRight) {
  Bench bench;
  const uint32_t at = two_yields().word_of_yield(0);
  const auto with = [&](uint32_t word, uint32_t flip, uint32_t start = 0) {
    return fault_of(bench, start, [&](std::vector<uint32_t>& words) { words[at + word] ^= flip; });
  };
  EXPECT_EQ(with(0, 0), ErrorCode::kOk);
  EXPECT_EQ(with(9, 0xffffffff), ErrorCode::kOk);  // any segment
  EXPECT_EQ(with(8, 1), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 2u);
  EXPECT_EQ(with(7, 1), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(with(0, 0x70000), ErrorCode::kFaultBadCommand);  // another queue
  EXPECT_EQ(with(0, 0x300), ErrorCode::kFaultBadCommand);    // another length
  EXPECT_EQ(with(2, 1), ErrorCode::kFaultBadCommand);        // a token
  EXPECT_EQ(with(1, 0x10000), ErrorCode::kFaultBadCommand);  // a reserved bit
  // As the head of a resumed stream.
  EXPECT_EQ(with(9, 0, at), ErrorCode::kOk);
  EXPECT_EQ(with(5, 0x10000, at), ErrorCode::kContractMismatch);
  EXPECT_EQ(with(5, 0x8000, at), ErrorCode::kContractMismatch);
  EXPECT_EQ(with(6, 1, at), ErrorCode::kContractMismatch);
  EXPECT_EQ(with(8, 0x80000000, at), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(with(8, 2, at), ErrorCode::kFaultBadCommand);  // index 0
  EXPECT_EQ(with(8, 1, at), ErrorCode::kFaultBadCommand);  // the next yield has another distance
  EXPECT_EQ(with(7, 1, at), ErrorCode::kFaultBadCommand);  // the next yield disagrees
}

TEST(YieldTest, AStreamStartsAtItsBeginOrAtAYield) {
  Bench bench;
  const Stream stream = two_yields();
  const auto at = [&](uint32_t word) { return fault_of(bench, word, [](std::vector<uint32_t>&) {}); };
  const auto words = static_cast<uint32_t>(stream.finish().size());
  EXPECT_EQ(at(stream.word_of_yield(0)), ErrorCode::kOk);
  EXPECT_EQ(at(stream.word_of_yield(1)), ErrorCode::kOk);
  EXPECT_EQ(at(1), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(at(contract::BeginCommand::kWords), ErrorCode::kFaultBadCommand);  // a load
  EXPECT_EQ(at(words - contract::EndCommand::kWords), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(at(words - 1), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(at(words), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(at(words + 1), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(at(0xffffffff), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(at(0), ErrorCode::kOk);
  // From word 0 only `begin` will do, and `begin` nowhere else.
  std::vector<uint32_t> tail = stream.finish();
  tail.erase(tail.begin(), tail.begin() + stream.word_of_yield(0));
  ASSERT_TRUE(bench.run(tail));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  std::vector<uint32_t> twice = stream.finish();
  const std::vector<uint32_t> begin(twice.begin(), twice.begin() + contract::BeginCommand::kWords);
  twice.insert(twice.begin(), begin.begin(), begin.end());
  ASSERT_TRUE(bench.run(twice));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 1u);
  ASSERT_TRUE(bench.run(twice, contract::BeginCommand::kWords));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
}

TEST(YieldTest, EveryBitFlipOfAResumedStreamEndsTheJob) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  Bench bench(options);
  const Stream stream = two_yields();
  const std::vector<uint32_t> good = stream.finish();
  const uint32_t start = stream.word_of_yield(1);
  for (uint32_t bit = start * 32; bit < good.size() * 32; ++bit) {
    std::vector<uint32_t> bad = good;
    bad[bit / 32] ^= 1u << bit % 32;
    ASSERT_TRUE(bench.run(bad, start, reg::kControlPreemptMask)) << "word " << bit / 32 << " bit " << bit % 32;
  }
  ASSERT_TRUE(bench.run(good, start));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(YieldTest, WaitsForWhatThePrefetchIsOwed) {
  // Memory is slow, so bursts of the stream behind the yield are on their way when the yield stops the job.
  Bench bench;
  bench.memory.latency = sc_core::sc_time(2, sc_core::SC_US);
  Stream stream(small_machine());
  stream.yield(0);
  for (uint32_t i = 0; i < 100; ++i) stream.add(fill(0, spm(i * 16), 16, i));
  ASSERT_TRUE(bench.run(stream.finish(), 0, reg::kControlPreemptMask));
  ASSERT_EQ(bench.read(reg::kStatus), reg::kStatusPreemptedMask | reg::kStatusPoweredMask);
  EXPECT_EQ(bench.memory.in_flight, 0u);
  EXPECT_GT(bench.counter(kSequencerQueue, Counter::kDramRead), 4u * (8 + 10));
  EXPECT_EQ(bench.counter(kSequencerQueue, Counter::kDramRead) % small_machine().dma_burst_bytes, 0u);
  bench.expect_identities();
}

TEST(YieldTest, BusErrorAheadOfTheYieldIsTheJobs) {
  BenchOptions options;
  options.memory_bytes = Bench::kStreamBase + 128;  // the stream goes on behind the end of memory
  Bench bench(options);
  Stream stream(small_machine());
  stream.yield(0);
  std::vector<uint32_t> words = stream.finish();
  std::memcpy(bench.memory.data.data() + Bench::kStreamBase, words.data(), words.size() * 4);
  bench.write(reg::kCommandBaseLo, Bench::kStreamBase);
  bench.write(reg::kCommandWords, 4096);
  bench.write(reg::kControl, reg::kControlStartMask | reg::kControlPreemptMask);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBus);
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusFaultMask | reg::kStatusPoweredMask);
}

}  // namespace
}  // namespace npu::model::testing
