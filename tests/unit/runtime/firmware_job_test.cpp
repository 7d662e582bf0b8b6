// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::Region;
namespace reg = contract::reg;
using std::chrono::milliseconds;

// Behind ring 0, log and phase records (firmware_boot_test.cpp): the context's ring with 16 entries, then the program's
// job, counters and segments.
constexpr uint32_t kJobShared = 0xc0000;
constexpr uint32_t kJobPhases = kJobShared + 128 + 32 * 320 + (16 << 10);
constexpr uint32_t kRing = kJobPhases + 2048 * 16;
constexpr uint32_t kRequests = kRing + 128, kCompletions = kRequests + 16 * 64;
constexpr uint32_t kJob = kRing + 128 + 16 * 320;
constexpr uint32_t kCounters = kJob + 192;
constexpr uint32_t kPage = 4096;

std::vector<uint8_t> word(uint32_t value) {
  std::vector<uint8_t> bytes(4);
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

template <typename Structure>
std::vector<uint8_t> bytes_of(const Structure& structure, size_t count = Structure::kBytes) {
  std::vector<uint8_t> bytes(Structure::kBytes);
  structure.store(bytes.data());
  bytes.resize(count);
  return bytes;
}

struct FirmwareJob : testing::Test {
  Job make_job(LoadedProgram& from, const JobOptions& options = {}) {
    Job made = from.create_job(options);
    made.set_input(0, int8_value({1, 2, 3, 4}));
    return made;
  }

  contract::RingRequest admin;  // the last request to ring 0; outlives the device
  Booted booted;
  Context context = booted.device.create_context();
  LoadedProgram program = context.load(make_program());
  Job job = make_job(program);
};

contract::Job expected_job() {
  constexpr uint32_t kDram = 1 << reg::kRegionFlagsSpaceLsb, kRead = 1, kReadWrite = 3;
  contract::Job job;
  job.commands = kPage;
  job.command_words = 13;
  job.events = 5 * kPage;
  job.counters = kCounters;
  job.region_base = {0, 0, 2 * kPage, 3 * kPage, 4 * kPage, 0};
  job.region_limit = {0, 6, 256, 64, 64, 0};
  job.region_flags = {0, kDram | kRead, kDram | kReadWrite, kDram | kRead, kDram | kReadWrite, 0};
  return job;
}

TEST_F(FirmwareJob, LoadWritesTheJobOnce) {
  EXPECT_EQ(contract::Job::load(booted.mock.dram(kJob + 192).data() + kJob), expected_job());
}

TEST_F(FirmwareJob, TrafficOfARunIsExactlyThis) {
  contract::Job run = expected_job();
  run.epoch = 1;
  run.event_capacity = 2;
  run.cycle_limit = uint64_t{1} << 36;
  contract::RingRequest request;
  request.type = static_cast<uint32_t>(contract::Request::kRun);
  request.id = 2;  // 1 opened the context
  request.argument = kJob;
  contract::Event event;
  event.command = 1;
  event.completed = 100;
  std::vector<uint8_t> counters(2048);
  for (size_t queue = 0; queue < 16; ++queue) counters[(queue * 16 + 2) * 8] = 100;  // idle all the time
  contract::RingCompletion completion;
  completion.id = 2;
  completion.event_count = 1;
  completion.engine_cycles = 100;
  completion.accepted = 20;
  completion.started = 30;
  completion.ended = 130;
  completion.blocked = 4;
  completion.preemptions = 1;
  completion.save_cycles = 50;
  completion.saved_bytes = 640;
  completion.firmware_cycles = 77;
  contract::PhaseRecord phase;
  phase.time = 25;
  phase.id = static_cast<uint32_t>(contract::Phase::kDispatch);
  phase.argument = 1;
  std::vector<uint8_t> seen(16);
  seen[0] = seen[4] = 1;  // taken and completed
  booted.mock.expect({
      MockHal::write_dram(3 * kPage + 16, {1, 2, 3, 4}),
      MockHal::fill_dram(2 * kPage, 256, 0xa5),
      MockHal::fill_dram(4 * kPage, 64, 0xa5),
      MockHal::fill_dram(5 * kPage, 128, 0xff),
      MockHal::fill_dram(kCounters, 2048, 0),
      MockHal::write_dram(kJob, bytes_of(run, 64)),
      MockHal::write_dram(kRequests, bytes_of(request)),
      MockHal::write_dram(kRing + 48, word(1)),
      MockHal::read(reg::kTimeLo, 10),
      MockHal::read(reg::kTimeHi, 0),
      MockHal::write(reg::kDoorbell, 1),
      MockHal::wait(true),
      MockHal::read(reg::kHostIrqStatus, 1),
      MockHal::write(reg::kHostIrqStatus, 1),
      MockHal::read_dram(kRing + 64, 16, seen),
      MockHal::read_dram(kCompletions, 256, bytes_of(completion)),
      MockHal::read(reg::kTimeLo, 140),
      MockHal::read(reg::kTimeHi, 1),
      MockHal::read(reg::kPhaseCount, 1),
      MockHal::read_dram(kJobPhases, 16, bytes_of(phase)),
      MockHal::read_dram(kCounters, 2048, counters),
      MockHal::write_dram(kRing + 52, word(1)),
      MockHal::read_dram(5 * kPage, 64, bytes_of(event)),
      MockHal::read_dram(4 * kPage + 32, 4, std::vector<uint8_t>{5, 6, 7, 8}),
  });
  const RunResult result = job.run();
  EXPECT_EQ(booted.mock.deviation(), "");
  booted.mock.expect_anything();
  EXPECT_EQ(result.cycles, 100u);
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_EQ(result.events[0], event);
  EXPECT_EQ(result.counters.get(contract::Queue::kMxu, contract::Counter::kIdle), 100u);
  EXPECT_EQ(result.times.submitted, 10u);
  EXPECT_EQ(result.times.accepted, 20u);
  EXPECT_EQ(result.times.started, 30u);
  EXPECT_EQ(result.times.ended, 130u);
  EXPECT_EQ(result.times.completed, (uint64_t{1} << 32) + 140);
  EXPECT_EQ(result.times.firmware_cycles, 77u);
  EXPECT_EQ(result.times.blocked, 4u);
  EXPECT_EQ(result.times.preemptions, 1u);
  EXPECT_EQ(result.times.save_cycles, 50u);
  EXPECT_EQ(result.times.saved_bytes, 640u);
  ASSERT_EQ(result.phases.size(), 1u);
  EXPECT_EQ(result.phases[0].time, 25u);
  EXPECT_EQ(result.phases[0].phase, contract::Phase::kDispatch);
  EXPECT_EQ(result.phases[0].ring, 1u);
  EXPECT_EQ(job.output("y").bytes, (std::vector<uint8_t>{5, 6, 7, 8}));
}

TEST_F(FirmwareJob, SegmentsAndSaveRegionGoIntoTheJob) {
  compiler::Program with = make_program();
  with.commands.resize(64);  // 13 words of the main stream; save and restore streams behind
  with.save_bytes = 512;
  with.segments = {{.yield_word = 8,
                    .live_bytes = 512,
                    .save_word = 16,
                    .save_words = 16,
                    .restore_word = 32,
                    .restore_words = 32,
                    .cycles = 99}};
  LoadedProgram loaded = context.load(with);
  contract::Job seen;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    seen = run.job;
    booted.firmware.complete(run);
  };
  make_job(loaded).run();
  EXPECT_EQ(seen.command_words, 13u);
  EXPECT_EQ(seen.segment_count, 1u);
  EXPECT_EQ(seen.region_limit[static_cast<uint32_t>(Region::kSave)], 512u);
  EXPECT_NE(seen.region_flags[static_cast<uint32_t>(Region::kSave)], 0u);
  const auto segment = contract::Segment::load(booted.mock.dram(seen.segments + 32).data() + seen.segments);
  EXPECT_EQ(segment.yield_word, 8u);
  EXPECT_EQ(segment.live_bytes, 512u);
  EXPECT_EQ(segment.save_word, 16u);
  EXPECT_EQ(segment.restore_words, 32u);
  EXPECT_EQ(segment.cycles, 99u);
  with.segments[0].restore_word = 48;  // 32 words from there do not fit
  EXPECT_EQ(error_of([&] { static_cast<void>(context.load(with)); }).first, ErrorCode::kContractMismatch);
}

// Networks of many commands have tens of thousands of segments, more than the shared memory of a small device holds.
TEST_F(FirmwareJob, ALongTableOfSegmentsLiesOutsideOfTheSharedMemory) {
  compiler::Program with = make_program();
  with.segments.resize(10'000, {.yield_word = 8});
  const uint64_t before = booted.device.memory_use().dram_used;
  {
    LoadedProgram loaded = context.load(with);
    contract::Job seen;
    booted.firmware.on_run = [&](const MockFirmware::Run& run) {
      seen = run.job;
      booted.firmware.complete(run);
    };
    make_job(loaded).run();
    EXPECT_EQ(seen.segment_count, 10'000u);
    EXPECT_LE(seen.segments + 320'000, (1 << 20) - (256 << 10));
    const auto last = contract::Segment::load(booted.mock.dram(1 << 20).data() + seen.segments + 9'999 * 32);
    EXPECT_EQ(last.yield_word, 8u);
  }
  EXPECT_EQ(booted.device.memory_use().dram_used, before);
}

TEST_F(FirmwareJob, OptionsReachTheFirmware) {
  contract::Job seen;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    seen = run.job;
    booted.firmware.complete(run);
  };
  make_job(program, {.events = false, .cycle_limit = 5, .not_before = 12'345}).run();
  EXPECT_EQ(seen.event_capacity, 0u);
  EXPECT_EQ(seen.cycle_limit, 5u);
  EXPECT_EQ(seen.not_before, 12'345u);
  make_job(program).run();
  EXPECT_EQ(seen.event_capacity, 2u);
  EXPECT_EQ(seen.not_before, 0u);
}

TEST_F(FirmwareJob, SeveralProgramsOfAContextQueueInOrder) {
  std::vector<MockFirmware::Run> runs;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { runs.push_back(run); };
  LoadedProgram other = context.load(make_program());
  Job second = make_job(other);
  job.start();
  second.start();
  EXPECT_EQ(error_of([&] { second.start(); }).first, ErrorCode::kWrongOrder);  // the same program
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].job.epoch + 1, runs[1].job.epoch);
  EXPECT_FALSE(second.wait(milliseconds(1)));
  booted.firmware.complete(runs[0]);
  EXPECT_FALSE(second.wait(milliseconds(1)));  // sees the first one's end and keeps it for its job
  EXPECT_EQ(job.outputs().size(), 1u);
  booted.firmware.complete(runs[1]);
  EXPECT_TRUE(second.wait(milliseconds(1)));
  EXPECT_TRUE(job.wait(milliseconds(1)));
}

TEST_F(FirmwareJob, TheRingHoldsSixteenJobs) {
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { booted.firmware.complete_later(run); };
  std::vector<LoadedProgram> programs;
  std::vector<Job> jobs;
  for (int i = 0; i < 17; ++i) {
    programs.push_back(context.load(make_program()));
    jobs.push_back(make_job(programs.back()));
  }
  for (int i = 0; i < 16; ++i) jobs[i].start();
  const auto [code, text] = error_of([&] { jobs[16].start(); });
  EXPECT_EQ(code, ErrorCode::kQueueFull);
  EXPECT_CONTAINS(text, "16 jobs");
  EXPECT_TRUE(jobs[0].wait(milliseconds(200)));
  jobs[16].start();
  for (Job& each : jobs) EXPECT_TRUE(each.wait(std::chrono::seconds(1000)));
}

TEST_F(FirmwareJob, LoadingAndOtherContextsNeedNoIdleDevice) {
  std::vector<MockFirmware::Run> runs;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { runs.push_back(run); };
  job.start();
  Context urgent = booted.device.create_context({.priority = 9});
  LoadedProgram loaded = urgent.load(make_program({int8_variable("v", 4, {1, 2, 3, 4})}));
  urgent.write_variable("v", int8_value({5, 6, 7, 8}));
  Job fast = make_job(loaded);
  fast.start();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].ring, 2u);
  booted.firmware.complete(runs[1]);
  EXPECT_TRUE(fast.wait(milliseconds(1)));
  EXPECT_EQ(urgent.read_variable("v").bytes, (std::vector<uint8_t>{5, 6, 7, 8}));
  EXPECT_EQ(error_of([&] { context.clear(); }).first, ErrorCode::kWrongOrder);
  std::vector<uint8_t> byte(1);
  EXPECT_EQ(error_of([&] { booted.device.read_memory(0, byte); }).first, ErrorCode::kWrongOrder);
  EXPECT_EQ(error_of([&] { booted.device.set_power(contract::PowerState::kSleep); }).first, ErrorCode::kWrongOrder);
  booted.firmware.complete(runs[0]);
  EXPECT_TRUE(job.wait(milliseconds(1)));
}

TEST_F(FirmwareJob, CancelEndsTheJobAsCancelled) {
  booted.firmware.on_run = [](const MockFirmware::Run&) {};
  job.cancel();  // nothing in flight
  job.start();
  job.cancel();
  const auto [code, text] = error_of([&] { static_cast<void>(job.wait(milliseconds(1))); });
  EXPECT_EQ(code, ErrorCode::kJobCancelled);
  EXPECT_CONTAINS(text, "cancelled");
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { booted.firmware.complete(run); };
  job.run();
}

TEST_F(FirmwareJob, CancelTellsTheFirmwareRingAndRequest) {
  booted.firmware.on_admin = [&](const contract::RingRequest& request) { admin = request; };
  uint32_t id = 0;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { id = run.request.id; };
  job.start();
  job.cancel();
  EXPECT_EQ(admin.type, static_cast<uint32_t>(contract::Request::kCancel));
  EXPECT_EQ(admin.value[0], 1u);
  EXPECT_EQ(admin.value[1], id);
}

TEST_F(FirmwareJob, DestroyingAJobInFlightStopsIt) {
  booted.firmware.on_run = [](const MockFirmware::Run&) {};
  const uint64_t before = booted.device.memory_use().dram_used;
  {
    LoadedProgram doomed = context.load(make_program());
    Job running = make_job(doomed);
    running.start();
  }
  EXPECT_EQ(booted.device.memory_use().dram_used, before);
  EXPECT_EQ(booted.firmware.boots(), 1);
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { booted.firmware.complete(run); };
  job.run();
}

// A queued job that is cancelled ends in its turn, which may take longer than the firmware may for an answer.
TEST_F(FirmwareJob, DestroyingAQueuedJobWaitsForItsTurn) {
  std::vector<MockFirmware::Run> runs;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { runs.push_back(run); };
  booted.firmware.on_cancel = [&](const MockFirmware::Run&) {};  // served when its turn comes
  LoadedProgram second = context.load(make_program());
  int waits = 0;
  const auto move = booted.mock.on_wait;
  booted.mock.on_wait = [&, move](MockHal& mock) {
    move(mock);
    if (++waits < 150) return;
    for (const MockFirmware::Run& run : runs) {
      if (run.request.id == runs.back().request.id) {
        booted.firmware.fail(run, ErrorCode::kJobCancelled);
      } else {
        booted.firmware.complete(run);
      }
    }
    runs.clear();
  };
  job.start();
  {
    Job queued = make_job(second);
    queued.start();
  }
  booted.mock.on_wait = move;
  booted.firmware.on_run = nullptr;
  EXPECT_EQ(booted.firmware.boots(), 1);
  EXPECT_EQ(job.outputs().size(), 1u);
}

TEST_F(FirmwareJob, PowerGoesThroughTheFirmware) {
  booted.firmware.on_admin = [&](const contract::RingRequest& request) { admin = request; };
  booted.device.set_power(contract::PowerState::kSleep);
  EXPECT_EQ(admin.type, static_cast<uint32_t>(contract::Request::kPower));
  EXPECT_EQ(admin.value[0], 1u);
}

TEST_F(FirmwareJob, PollingFindsTheEndWithoutInterrupts) {
  DeviceOptions options = mock_options();
  options.polling = true;
  Booted polled(options);
  polled.firmware.interrupts = false;
  polled.firmware.on_run = [&](const MockFirmware::Run& run) { polled.firmware.complete_later(run); };
  Context its = polled.device.create_context();
  LoadedProgram loaded = its.load(make_program());
  make_job(loaded).run();
}

TEST_F(FirmwareJob, ALostInterruptIsMadeGoodByLooking) {
  booted.firmware.interrupts = false;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { booted.firmware.complete_later(run); };
  job.run();
}

TEST_F(FirmwareJob, EpochsStartOverOnlyInAQuietContext) {
  std::vector<uint32_t> epochs;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    epochs.push_back(run.job.epoch);
    booted.firmware.complete_later(run);
  };
  Context stateful = booted.device.create_context();
  LoadedProgram a = stateful.load(make_program({int8_variable("v", 4, {1, 2, 3, 4})}));
  LoadedProgram b = stateful.load(make_program({int8_variable("v", 4)}));
  Job first = make_job(a), second = make_job(b);
  for (int i = 1; i <= 254; ++i) first.run();
  constexpr size_t kFlags = 10;
  first.start();                         // epoch 255
  booted.mock.persistent()[kFlags] = 3;  // as a device marks a declared variable
  second.start();                        // waits for the end of the first
  EXPECT_EQ(booted.mock.persistent()[kFlags], 1);
  EXPECT_EQ(first.outputs().size(), 1u);
  EXPECT_EQ(epochs.back(), 256u);
  EXPECT_TRUE(second.wait(std::chrono::seconds(1)));
  job.run();
  EXPECT_EQ(epochs.back(), 1u);  // another context counts for itself
}

TEST_F(FirmwareJob, LogComesInWholeLines) {
  EXPECT_EQ(booted.device.take_firmware_log(), "");
  booted.firmware.log("[10] boot\n[20] half");
  EXPECT_EQ(booted.device.take_firmware_log(), "[10] boot\n");
  booted.firmware.log(" a line\n");
  EXPECT_EQ(booted.device.take_firmware_log(), "[20] half a line\n");
  EXPECT_EQ(booted.device.take_firmware_log(), "");
}

TEST_F(FirmwareJob, LogSaysWhatWasOverwritten) {
  std::string text;
  for (int i = 0; i < 2048; ++i) text += "line 7890\n";  // 20 KiB into 16
  booted.firmware.log(text);
  const std::string log = booted.device.take_firmware_log();
  EXPECT_CONTAINS(log, "(4096 bytes of the log were overwritten before they were read)\n");
  EXPECT_EQ(log.substr(log.find('\n') + 1), text.substr(4096));
}

TEST_F(FirmwareJob, PhasesBelongToTheNextResult) {
  booted.firmware.phase(contract::Phase::kBoot, 0);
  for (int i = 0; i < 2100; ++i) booted.firmware.phase(contract::Phase::kIdle, 0);
  EXPECT_EQ(job.run().phases.size(), 2048u);  // the last ones
  booted.firmware.phase(contract::Phase::kFetch, 1);
  const RunResult result = job.run();
  ASSERT_EQ(result.phases.size(), 1u);
  EXPECT_EQ(result.phases[0].phase, contract::Phase::kFetch);
}

TEST_F(FirmwareJob, CommandsDoneCountsTheEventsThatAreThere) {
  booted.firmware.on_run = [](const MockFirmware::Run&) {};
  job.start();
  EXPECT_EQ(job.commands_done(), 0u);
  contract::Event event;
  event.opcode = static_cast<uint8_t>(contract::Opcode::kBegin);
  event.store(booted.mock.dram(6 * kPage).data() + 5 * kPage);
  EXPECT_EQ(job.commands_done(), 1u);
}

TEST_F(FirmwareJob, ResetStopsAllJobs) {
  booted.firmware.on_run = [](const MockFirmware::Run&) {};
  Context other = booted.device.create_context();
  LoadedProgram loaded = other.load(make_program());
  Job second = make_job(loaded);
  job.start();
  second.start();
  booted.device.soft_reset();
  for (Job* each : {&job, &second}) {
    const auto [code, text] = error_of([&] { static_cast<void>(each->wait(milliseconds(1))); });
    EXPECT_EQ(code, ErrorCode::kWrongOrder);
    EXPECT_CONTAINS(text, "reset");
  }
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { booted.firmware.complete(run); };
  job.run();
  second.run();
}

TEST_F(FirmwareJob, NothingStaysAllocatedWhenVariablesCannotBeWritten) {
  booted.firmware.answers = false;  // ring 0 is silent: the firmware is started again, the call fails
  const auto [code, text] = error_of([&] {
    static_cast<void>(context.load(make_program({int8_variable("v", 4, {1, 2, 3, 4})})));
  });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "did not answer a request");
  const MemoryUse use = booted.device.memory_use();
  EXPECT_EQ(use.variables, 0u);
  EXPECT_EQ(use.persistent_used, 0u);
  EXPECT_EQ(use.dram_used, (256u << 10) + 6 * kPage);
}

}  // namespace
}  // namespace npu::runtime
