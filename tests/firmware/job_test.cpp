// SPDX-License-Identifier: Apache-2.0
// Requests and jobs: what goes to the sequencer, what comes back, and what is refused.
#include <functional>

#include "tests/firmware/firmware_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;
using contract::Request;

using JobTest = FirmwareTest;

TEST_F(JobTest, RunsAJob) {
  boot();
  open(2, 1, 0x55);
  contract::Job job = simple_job();
  job.events = 0x400000;
  job.event_capacity = 10;
  job.counters = 0x500000;
  const uint32_t id = driver.run(2, job, 0);
  ASSERT_TRUE(device.run());
  ASSERT_EQ(device.starts.size(), 1u);
  const Start& start = last_start();
  EXPECT_EQ(start.pair(reg::kCommandBaseLo), kStream);
  EXPECT_EQ(start.at(reg::kCommandWords), kStreamWords);
  EXPECT_EQ(start.at(reg::kCommandStart), 0u);
  EXPECT_EQ(start.pair(reg::kEventBaseLo), 0x400000u);
  EXPECT_EQ(start.at(reg::kEventCapacity), 10u);
  EXPECT_EQ(start.pair(reg::kCounterBaseLo), 0x500000u);
  EXPECT_EQ(start.pair(reg::kCycleBaseLo), 0u);
  EXPECT_EQ(start.at(reg::kJobOwner), 0x55u);
  EXPECT_EQ(start.at(reg::kJobEpoch), 5u);
  EXPECT_EQ(start.at(reg::kJobFlags), 0u);
  EXPECT_EQ(start.pair(reg::region_base_lo(4)), 0x301000u);
  EXPECT_EQ(start.at(reg::region_limit(4)), 0x200u);
  EXPECT_EQ(start.at(reg::region_flags(4)), job.region_flags[4]);
  EXPECT_EQ(start.at(reg::region_flags(1)), 0u);
  EXPECT_EQ(driver.header(2).request_consumer, 1u);
  EXPECT_FALSE(driver.peek(2));

  const uint32_t raises = device.host_raises;
  device.end_done(12345, 9);
  ASSERT_TRUE(device.run());
  const auto done = completion(2, id, ErrorCode::kOk);
  EXPECT_EQ(device.host_raises, raises + 1);
  EXPECT_EQ(done.engine_cycles, 12345u);
  EXPECT_EQ(done.event_count, 9u);
  EXPECT_EQ(done.preemptions, 0u);
  EXPECT_EQ(done.save_cycles, 0u);
  EXPECT_EQ(done.blocked, 0u);
  EXPECT_LE(done.accepted, done.started);
  EXPECT_LE(done.started, start.time);
  EXPECT_GE(done.ended, start.time + 12345);
  EXPECT_GT(done.firmware_cycles, 0u);
  EXPECT_LT(done.firmware_cycles, 100'000u);
}

// What a frame costs: doorbell to start, end to interrupt.
TEST_F(JobTest, SimpleJobCostsLittle) {
  boot(2);
  open(1, 0);
  device.word(reg::kPhaseCapacity) = 0;
  for (int i = 0; i < 3; ++i) {
    device.work = {};
    contract::Job job = simple_job();
    job.epoch = static_cast<uint32_t>(i);
    const uint32_t id = driver.run(1, job, 0);
    ASSERT_TRUE(device.run());
    device.end_done(1000);
    ASSERT_TRUE(device.run());
    completion(1, id, ErrorCode::kOk);
  }
  EXPECT_LT(device.work.instructions, 1300u);
  EXPECT_LT(device.work.register_accesses, 40u);
  EXPECT_LT(device.work.memory_accesses, 70u);
  RecordProperty("instructions", static_cast<int>(device.work.instructions));
  RecordProperty("register_accesses", static_cast<int>(device.work.register_accesses));
  RecordProperty("memory_accesses", static_cast<int>(device.work.memory_accesses));
}

// Between the end of a job and the start of the next one, which was made ready meanwhile: on the job's own ring, and on
// another one. An instruction takes 2 cycles here, an access to a register 8 more.
TEST_F(JobTest, AQueuedJobStartsAtOnce) {
  constexpr uint64_t kMostCycles = 700;
  boot(2);
  open(1, 1);
  open(2, 1);
  device.word(reg::kPhaseCapacity) = 0;
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < 3; ++i) ids.push_back(driver.run(1, simple_job(), i));
  const uint32_t other = driver.run(2, simple_job(), 3);
  ASSERT_TRUE(device.run());
  for (size_t i = 1; i < 4; ++i) {
    device.end_done(1000);
    const uint64_t ended = device.time();
    ASSERT_TRUE(device.run());
    ASSERT_EQ(device.starts.size(), i + 1);
    EXPECT_LE(device.starts.back().time - ended, kMostCycles) << "job " << i;
  }
  device.end_done(1000);
  ASSERT_TRUE(device.run());
  for (const uint32_t id : ids) EXPECT_EQ(completion(1, id, ErrorCode::kOk).engine_cycles, 1000u);
  completion(2, other, ErrorCode::kOk);
}

// What was made ready is not what runs.
TEST_F(JobTest, AJobThatWasMadeReadyCanBeCancelled) {
  boot();
  open(1, 1);
  open(2, 1);
  const uint32_t first = driver.run(1, simple_job(), 0);
  contract::Job job = simple_job();
  job.commands += 0x1000;
  const uint32_t second = driver.run(1, job, 1);
  ASSERT_TRUE(device.run());
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{1, second});
  admin(0, ErrorCode::kOk);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, first, ErrorCode::kOk);
  completion(1, second, ErrorCode::kJobCancelled);
  EXPECT_EQ(device.starts.size(), 1u);
  // The same with a job of another ring, and of one that is closed.
  driver.run(1, simple_job(), 0);
  const uint32_t third = driver.run(2, job, 1);
  ASSERT_TRUE(device.run());
  driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{2, third});
  admin(0, ErrorCode::kOk);
  driver.run(2, job, 1);
  ASSERT_TRUE(device.run());
  driver.submit(0, Request::kContextClose, 0, std::array<uint32_t, 1>{2});
  admin(0, ErrorCode::kOk);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(device.starts.size(), 2u);
  completion(2, third, ErrorCode::kJobCancelled);
}

// The ring's next job cannot be read ahead, because it is cancelled or refused: what is behind it still goes before
// another ring's job of lower priority.
TEST_F(JobTest, WhatCannotBeMadeReadyKeepsItsPriority) {
  for (const bool cancel : {true, false}) {
    SCOPED_TRACE(cancel ? "cancelled" : "refused");
    boot();
    device.starts.clear();
    open(1, 5);
    open(2, 1);
    contract::Job refused = simple_job(), urgent = simple_job(), other = simple_job();
    if (!cancel) refused.commands = 2;
    urgent.commands += 0x1000;
    other.commands += 0x2000;
    const uint32_t first = driver.run(1, simple_job(), 0), second = driver.run(1, refused, 1),
                   third = driver.run(1, urgent, 2), fourth = driver.run(2, other, 3);
    ASSERT_TRUE(device.run());
    if (cancel) {
      driver.submit(0, Request::kCancel, 0, std::array<uint32_t, 2>{1, second});
      admin(0, ErrorCode::kOk);
    }
    for (const uint64_t commands : {kStream, urgent.commands, other.commands}) {
      EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), commands);
      device.end_done(10);
      ASSERT_TRUE(device.run());
    }
    EXPECT_EQ(device.starts.size(), 3u);
    completion(1, first, ErrorCode::kOk);
    completion(1, second, cancel ? ErrorCode::kJobCancelled : ErrorCode::kFaultRequest);
    completion(1, third, ErrorCode::kOk);
    completion(2, fourth, ErrorCode::kOk);
  }
}

TEST_F(JobTest, AnUrgentJobGoesBeforeWhatWasMadeReady) {
  boot();
  open(1, 1);
  open(2, 5);
  driver.run(1, simple_job(), 0);
  driver.run(1, simple_job(), 1);
  ASSERT_TRUE(device.run());
  contract::Job urgent = simple_job();
  urgent.commands += 0x1000;
  driver.run(2, urgent, 2);
  ASSERT_TRUE(device.run());
  device.end_done(10);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), urgent.commands);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), simple_job().commands);
  device.end_done(10);
  ASSERT_TRUE(device.run());
}

// A reset of the core takes what was made ready along.
TEST_F(JobTest, AFaultUndoesWhatWasMadeReady) {
  boot();
  open(1, 1);
  const uint32_t first = driver.run(1, simple_job(), 0);
  contract::Job job = simple_job();
  job.commands += 0x1000;
  const uint32_t second = driver.run(1, job, 1);
  ASSERT_TRUE(device.run());
  device.end_fault(ErrorCode::kFaultOutOfBounds, 3);
  ASSERT_TRUE(device.run());
  completion(1, first, ErrorCode::kFaultOutOfBounds);
  EXPECT_EQ(last_start().pair(reg::kCommandBaseLo), job.commands);
  EXPECT_EQ(last_start().at(reg::region_flags(4)), job.region_flags[4]);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, second, ErrorCode::kOk);
}

// A job that is the one before again is not read and checked anew; one that differs in anything is.
TEST_F(JobTest, AChangedJobIsReadAgain) {
  boot();
  open(1, 1);
  contract::Job job = simple_job();
  for (int i = 0; i < 3; ++i) {
    driver.run(1, job, 0);
    ASSERT_TRUE(device.run());
    EXPECT_EQ(last_start().at(reg::region_limit(4)), job.region_limit[4]);
    EXPECT_EQ(last_start().at(reg::kJobEpoch), job.epoch);
    device.end_done(10);
    ASSERT_TRUE(device.run());
    ++job.epoch;
    if (i == 1) job.region_limit[4] += 64;
  }
  job.region_base[4] = RingDriver::kShared;
  while (driver.take(1)) {
  }
  const uint32_t refused = driver.run(1, job, 0);
  ASSERT_TRUE(device.run());
  completion(1, refused, ErrorCode::kFaultRequest);
}

TEST_F(JobTest, JobsOfARingRunInOrderOneAtATime) {
  boot();
  open(1, 0);
  const uint32_t first = driver.run(1, simple_job(), 0);
  const uint32_t second = driver.run(1, simple_job(), 1);
  const uint32_t nop = driver.submit(1, Request::kNop);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(device.starts.size(), 1u);
  EXPECT_EQ(driver.header(1).request_consumer, 1u);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(device.starts.size(), 2u);
  completion(1, first, ErrorCode::kOk);
  EXPECT_FALSE(driver.peek(1));
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, second, ErrorCode::kOk);
  completion(1, nop, ErrorCode::kOk);
}

TEST_F(JobTest, RingsWrapAround) {
  boot();
  open(1, 0);
  for (uint32_t i = 0; i < 3 * RingDriver::kEntries; ++i) {
    const uint32_t id = driver.run(1, simple_job(), 0);
    ASSERT_TRUE(device.run());
    device.end_done(10 + i);
    ASSERT_TRUE(device.run());
    EXPECT_EQ(completion(1, id, ErrorCode::kOk).engine_cycles, 10 + i);
  }
}

TEST_F(JobTest, IndicesRunBeyondTheirLastBit) {
  boot();
  driver.open(1, 0, 7, UINT32_MAX - 2);
  admin(0, ErrorCode::kOk);
  for (uint32_t i = 0; i < RingDriver::kEntries; ++i) driver.run(1, simple_job(), 0);
  for (uint32_t i = 0; i < RingDriver::kEntries; ++i) {
    ASSERT_TRUE(device.run());
    ASSERT_TRUE(device.busy) << i;
    device.end_done(10 + i);
  }
  ASSERT_TRUE(device.run());
  EXPECT_EQ(driver.header(1).request_consumer, RingDriver::kEntries - 3);
  for (uint32_t i = 0; i < RingDriver::kEntries; ++i) {
    const auto done = driver.take(1);
    ASSERT_TRUE(done.has_value());
    EXPECT_EQ(done->engine_cycles, 10 + i);
  }
  EXPECT_EQ(driver.header(1).error, 0u);
}

TEST_F(JobTest, WaitsForRoomForCompletions) {
  boot();
  open(1, 0);
  for (uint32_t i = 0; i < RingDriver::kEntries; ++i) driver.submit(1, Request::kNop);
  ASSERT_TRUE(device.run());
  driver.submit(1, Request::kNop);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(driver.header(1).completion_producer, RingDriver::kEntries);
  for (uint32_t i = 0; i < RingDriver::kEntries; ++i) ASSERT_TRUE(driver.take(1));
  ASSERT_TRUE(device.pass(200'000));
  EXPECT_EQ(driver.header(1).completion_producer, RingDriver::kEntries + 1);
}

// Constants that stay, loaded by a stream behind the main one.
void keep_constants(contract::Job& job, uint32_t id, uint32_t offset) {
  job.region_base[0] = uint64_t{0x800} << 32 | offset;
  job.region_limit[0] = 0x1000;
  job.region_flags[0] = id;
  job.load_word = 64;
  job.load_words = 20;
}

// Runs a job to its end; how often its constants were loaded.
class ResidentTest : public FirmwareTest {
 protected:
  uint32_t loads_of(uint32_t ring, const contract::Job& job) {
    const uint32_t id = driver.run(ring, job, 0);
    EXPECT_TRUE(device.run());
    if (last_start().at(reg::kCommandWords) == job.load_words) {
      EXPECT_EQ(last_start().at(reg::kJobFlags), 0u);
      EXPECT_EQ(last_start().at(reg::region_flags(6)), kScratchpad | kRead | reg::kRegionFlagsWritableMask);
      EXPECT_EQ(last_start().at(reg::region_limit(0)), job.region_limit[0]);
      device.end_done(500);
      EXPECT_TRUE(device.run());
      EXPECT_EQ(last_start().at(reg::kJobFlags), reg::kJobFlagsKeepScratchpadMask);
    }
    EXPECT_EQ(last_start().at(reg::kCommandWords), job.command_words);
    EXPECT_EQ(last_start().at(reg::region_flags(6)), job.region_flags[0] == 0 ? 0u : kScratchpad | kRead);
    device.end_done(1000);
    EXPECT_TRUE(device.run());
    const auto done = completion(ring, id, ErrorCode::kOk);
    EXPECT_EQ(done.engine_cycles, 1000u);
    EXPECT_TRUE(done.loads == 0 || done.value[0] == 500u);
    return done.loads;
  }

  static constexpr uint32_t kScratchpad = static_cast<uint32_t>(contract::Space::kScratchpad)
                                          << reg::kRegionFlagsSpaceLsb,
                            kRead = reg::kRegionFlagsReadableMask;
};

TEST_F(ResidentTest, ConstantsAreLoadedUntilSomethingOverwritesThem) {
  boot();
  open(1, 1, 7);
  open(2, 1, 8);
  contract::Job job = simple_job(), beside = simple_job(), over = simple_job();
  keep_constants(job, 1, 0x2000);
  keep_constants(beside, 1, 0x3000);
  over.region_limit[0] = 0x2400;
  EXPECT_EQ(loads_of(1, job), 1u);
  EXPECT_EQ(loads_of(1, job), 0u);
  EXPECT_EQ(loads_of(2, beside), 1u);
  EXPECT_EQ(loads_of(1, job), 0u);
  EXPECT_EQ(loads_of(2, beside), 0u);
  EXPECT_EQ(loads_of(2, over), 0u);
  EXPECT_EQ(loads_of(1, job), 1u);
  EXPECT_EQ(loads_of(2, beside), 0u);
  EXPECT_EQ(loads_of(2, simple_job()), 0u);  // uses all of the scratchpad
  EXPECT_EQ(loads_of(1, job), 1u);
  EXPECT_EQ(loads_of(2, beside), 1u);
}

// The same number of another context, or another number at the same place, is something else.
TEST_F(ResidentTest, ConstantsAreThoseOfTheirContextAndNumber) {
  boot();
  open(1, 1, 7);
  open(2, 1, 8);
  contract::Job job = simple_job(), other = simple_job();
  keep_constants(job, 1, 0x2000);
  keep_constants(other, 2, 0x2000);
  EXPECT_EQ(loads_of(1, job), 1u);
  EXPECT_EQ(loads_of(2, job), 1u);
  EXPECT_EQ(loads_of(1, job), 1u);
  EXPECT_EQ(loads_of(1, other), 1u);
  EXPECT_EQ(loads_of(1, job), 1u);
}

TEST_F(ResidentTest, AFaultLosesConstants) {
  boot();
  open(1, 1);
  contract::Job job = simple_job();
  keep_constants(job, 1, 0x2000);
  EXPECT_EQ(loads_of(1, job), 1u);
  contract::Job plain = simple_job();
  plain.region_limit[0] = 0x1000;
  driver.run(1, plain, 0);
  ASSERT_TRUE(device.run());
  device.end_fault(ErrorCode::kFaultHazard, 3);
  ASSERT_TRUE(device.run());
  ASSERT_TRUE(driver.take(1).has_value());
  EXPECT_EQ(loads_of(1, job), 1u);
  // So does one of the stream that loads.
  loads_of(1, simple_job());
  const uint32_t bad = driver.run(1, job, 0);
  ASSERT_TRUE(device.run());
  device.end_fault(ErrorCode::kFaultBus, 1);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(completion(1, bad, ErrorCode::kFaultBus).engine_cycles, 0u);
  EXPECT_EQ(loads_of(1, job), 1u);
}

// More programs than the firmware can note: some are loaded again in their turn.
TEST_F(ResidentTest, ThereMayBeMoreThanAreNoted) {
  constexpr uint32_t kPrograms = 20;
  boot();
  open(1, 1);
  uint32_t loads = 0;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t id = 1; id <= kPrograms; ++id) {
      contract::Job job = simple_job();
      keep_constants(job, id, 0x1000 + 0x800u * id);
      loads += loads_of(1, job);
    }
  }
  EXPECT_GT(loads, kPrograms);
  EXPECT_LT(loads, 3 * kPrograms);
}

struct Damage {
  const char* name;
  std::function<void(contract::Job&)> damage;
};

class RefusedJobTest : public FirmwareTest, public testing::WithParamInterface<Damage> {};

TEST_P(RefusedJobTest, IsRefusedAndHarmsNobody) {
  boot();
  open(1, 0);
  contract::Job job = yielding_job(0);
  GetParam().damage(job);
  const uint32_t bad = driver.run(1, job, 0);
  const uint32_t good = driver.run(1, simple_job(), 1);
  ASSERT_TRUE(device.run());
  completion(1, bad, ErrorCode::kFaultRequest);
  ASSERT_EQ(device.starts.size(), 1u);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, good, ErrorCode::kOk);
}

const uint64_t kEnd = uint64_t{FakeDevice::kDramMib} << 20;
INSTANTIATE_TEST_SUITE_P(
    Damages, RefusedJobTest,
    testing::Values(
        Damage{"StreamMisaligned", [](contract::Job& job) { job.commands += 4; }},
        Damage{"ScratchpadOfHalfAUnit", [](contract::Job& job) { job.region_limit[0] = contract::kResidentUnit / 2; }},
        Damage{"ScratchpadTooLarge", [](contract::Job& job) { job.region_limit[0] = 1u << 31; }},
        Damage{"ConstantsInWhatTheJobUses",
               [](contract::Job& job) {
                 keep_constants(job, 1, 0x2000);
                 job.region_base[0] -= 0x1800;
               }},
        Damage{"ConstantsAtHalfAUnit",
               [](contract::Job& job) {
                 keep_constants(job, 1, 0x2000);
                 job.region_base[0] += contract::kResidentUnit / 2;
               }},
        Damage{"ConstantsBeyondTheScratchpad",
               [](contract::Job& job) {
                 keep_constants(job, 1, 0x2000);
                 job.region_base[0] |= uint64_t{UINT32_MAX} << 32;
               }},
        Damage{"ConstantsWithoutNumber", [](contract::Job& job) { keep_constants(job, 0, 0x2000); }},
        Damage{"ConstantsBesideAllOfTheScratchpad",
               [](contract::Job& job) {
                 keep_constants(job, 1, 0x2000);
                 job.region_limit[0] = 0;
               }},
        Damage{"SizesWithoutNumber", [](contract::Job& job) { job.size_table = 0x400000; }},
        Damage{"SizesInMemoryThatTheCpuDoesNotSee",
               [](contract::Job& job) {
                 job.region_flags[0] = 1;
                 job.size_table = uint64_t{1} << 32;
               }},
        Damage{"LoadedByTheMainStream",
               [](contract::Job& job) {
                 keep_constants(job, 1, 0x2000);
                 job.load_word = 0;
               }},
        Damage{"LoadedByNothing",
               [](contract::Job& job) {
                 keep_constants(job, 1, 0x2000);
                 job.load_words = 0;
               }},
        Damage{"StreamBeyondMemory",
               [](contract::Job& job) {
                 job.commands = kEnd - 64;
                 job.command_words = 17;
               }},
        Damage{"StreamFarBeyondMemory", [](contract::Job& job) { job.commands = UINT64_MAX - 63; }},
        Damage{"EventsBeyondMemory",
               [](contract::Job& job) {
                 job.events = kEnd - 64;
                 job.event_capacity = 2;
               }},
        Damage{"EventsMisaligned",
               [](contract::Job& job) {
                 job.events = 0x400004;
                 job.event_capacity = 2;
               }},
        Damage{"CountersBeyondMemory", [](contract::Job& job) { job.counters = kEnd - 2040; }},
        Damage{"SegmentsBeyondMemory", [](contract::Job& job) { job.segments = kEnd - 28; }},
        Damage{"SegmentsWhereTheCpuSeesNothing", [](contract::Job& job) { job.segments = contract::kCpuDramBytes; }},
        Damage{"SegmentsMisaligned", [](contract::Job& job) { job.segments += 2; }},
        Damage{"SegmentsWithoutEnd", [](contract::Job& job) { job.segment_count = UINT32_MAX; }},
        Damage{"RegionBeyondMemory", [](contract::Job& job) { job.region_base[4] = kEnd - 0x1ff; }},
        Damage{"RegionWrapsAround", [](contract::Job& job) { job.region_base[3] = UINT64_MAX - 1; }},
        Damage{"RegionInSharedMemory", [](contract::Job& job) { job.region_base[4] = RingDriver::kShared; }},
        Damage{"RegionReachesSharedMemory",
               [](contract::Job& job) { job.region_base[4] = RingDriver::kShared - 0x1ff; }},
        Damage{"SaveRegionAroundSharedMemory",
               [](contract::Job& job) {
                 job.region_base[5] = 0;
                 job.region_limit[5] = 0x800000;
               }},
        Damage{"RegionInOthersVariables", [](contract::Job& job) { job.region_flags[3] = 0x33; }},
        Damage{"RegionInScratchpad", [](contract::Job& job) { job.region_flags[3] = 0x23; }}),
    [](const auto& info) { return info.param.name; });

TEST_F(JobTest, RegionMayTouchTheSharedMemorysBounds) {
  boot();
  open(1, 0);
  contract::Job job = simple_job();
  job.region_base[4] = RingDriver::kShared - 0x200;
  job.region_base[3] = RingDriver::kShared + RingDriver::kSharedBytes;
  driver.run(1, job, 0);
  ASSERT_TRUE(device.run());
  EXPECT_EQ(device.starts.size(), 1u);
}

TEST_F(JobTest, RefusesJobsOutsideOfTheSharedMemory) {
  boot();
  open(1, 0);
  for (const uint64_t address : {uint64_t{0x200000}, RingDriver::kJobs + 4, uint64_t{1} << 40,
                                 RingDriver::kShared + RingDriver::kSharedBytes - 64}) {
    const uint32_t id = driver.submit(1, Request::kRun, address);
    ASSERT_TRUE(device.run());
    completion(1, id, ErrorCode::kFaultRequest);
  }
  EXPECT_TRUE(device.starts.empty());
}

TEST_F(JobTest, RefusesRequestsOnTheWrongRing) {
  boot();
  open(1, 0);
  driver.submit(0, Request::kRun, RingDriver::kJobs);
  admin(0, ErrorCode::kFaultRequest);
  const uint32_t id = driver.submit(1, Request::kPower);
  ASSERT_TRUE(device.run());
  completion(1, id, ErrorCode::kFaultRequest);
  driver.submit(0, static_cast<Request>(999));
  admin(0, ErrorCode::kFaultRequest);
}

TEST_F(JobTest, NotBeforeHoldsBackTheRingOnly) {
  boot();
  open(1, 9);
  open(2, 0);
  contract::Job later = simple_job();
  later.not_before = device.time() + 1'000'000;
  const uint32_t held = driver.run(1, later, 0);
  const uint32_t behind = driver.run(1, simple_job(), 1);
  const uint32_t other = driver.run(2, simple_job(), 2);
  ASSERT_TRUE(device.run());
  ASSERT_EQ(device.starts.size(), 1u);
  device.end_done(1000);
  ASSERT_TRUE(device.run());
  completion(2, other, ErrorCode::kOk);
  EXPECT_EQ(device.starts.size(), 1u);
  ASSERT_TRUE(device.pass(1'000'000));
  ASSERT_EQ(device.starts.size(), 2u);
  EXPECT_GE(last_start().time, later.not_before);
  EXPECT_LT(last_start().time, later.not_before + 20'000);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  EXPECT_GE(completion(1, held, ErrorCode::kOk).started, later.not_before);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(1, behind, ErrorCode::kOk);
}

}  // namespace
}  // namespace npu::firmware_test
