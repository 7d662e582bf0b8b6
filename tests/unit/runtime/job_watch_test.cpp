// SPDX-License-Identifier: Apache-2.0
// Jobs that get nowhere although the device moves (docs/architecture/firmware.md, Faults).
#include "driver/runtime/job_watch.h"

#include "driver/runtime/ring.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
namespace reg = contract::reg;

// 10 ms of device time and of the control CPU's clock.
constexpr uint64_t kAnswer = 10'000 * 100, kMostWorking = 10'000 * 50;

struct Watch : testing::Test {
  Watch() { watch.restart(1000); }
  static contract::Capabilities machine() {
    contract::Capabilities caps = small_machine();
    caps.clock_mhz = 100;
    caps.cpu_clock_mhz = 50;
    return caps;
  }
  // Why the firmware is given up; empty: it is not.
  std::string verdict(const JobWatch::Sight& sight) {
    try {
      watch.check(sight);
    } catch (const FirmwareGone& gone) {
      return gone.what();
    }
    return {};
  }

  JobWatch watch{machine()};
};

TEST_F(Watch, ALongJobOfWhichCommandsCompleteGoesOn) {
  constexpr uint64_t kLimit = 1'000'000;
  for (uint64_t done = 1; done <= 10'000; ++done) {
    ASSERT_EQ(verdict({.time = 1000 + done * 5 * kLimit,
                       .busy_cycles = done * kMostWorking,
                       .commands_done = done,
                       .cycle_limit = kLimit}),
              "");
  }
}

TEST_F(Watch, AnyTimeWithinTheJobsLimitIsFine) {
  for (const uint64_t limit : {uint64_t{1000}, uint64_t{1} << 36, ~uint64_t{0}}) {
    EXPECT_EQ(verdict({.time = 1000 + std::min(limit, ~uint64_t{0} / 8) * 6, .cycle_limit = limit}), "");
  }
}

// What it takes for the sizes of jobs comes on top.
TEST_F(Watch, SizesGiveItMoreTime) {
  constexpr uint64_t kSizes = 100'000;
  EXPECT_EQ(verdict({.time = 1000, .busy_cycles = 1, .sizes_cycles = kSizes}), "");
  EXPECT_EQ(verdict({.time = 1000, .busy_cycles = 1 + kMostWorking + kSizes, .sizes_cycles = kSizes}), "");
  EXPECT_CONTAINS(verdict({.time = 1000, .busy_cycles = 2 + kMostWorking + kSizes, .sizes_cycles = kSizes}),
                  "worked for 600000 cycles");
  // In device cycles they are twice as many.
  watch.restart(1000);
  EXPECT_EQ(verdict({.time = 1000 + kAnswer + 2 * kSizes, .sizes_cycles = kSizes, .all_done = true}), "");
  EXPECT_CONTAINS(verdict({.time = 1001 + kAnswer + 2 * kSizes, .sizes_cycles = kSizes, .all_done = true}),
                  "within 1200000 cycles");
}

TEST_F(Watch, BeyondSixTimesTheLimitItIsOver) {
  EXPECT_EQ(verdict({.time = 1000 + 6 * 5000 + kAnswer, .cycle_limit = 5000}), "");
  const std::string text = verdict({.time = 1001 + 6 * 5000 + kAnswer, .cycle_limit = 5000});
  EXPECT_CONTAINS(text, "no command completed and no job ended within 1030000 cycles");
}

TEST_F(Watch, AJobThatWaitsForItsTimeIsNotLate) {
  constexpr uint64_t kLater = uint64_t{1} << 50;
  EXPECT_EQ(verdict({.time = kLater, .cycle_limit = 1, .not_before = kLater}), "");
  EXPECT_NE(verdict({.time = kLater + kAnswer + 7, .cycle_limit = 1, .not_before = kLater}), "");
}

TEST_F(Watch, AJobWithoutLimitMayTakeAnyTimeButNotTheCpus) {
  EXPECT_EQ(verdict({.time = ~uint64_t{0}, .busy_cycles = 70}), "");
  EXPECT_EQ(verdict({.time = ~uint64_t{0}, .busy_cycles = 70 + kMostWorking}), "");
  EXPECT_CONTAINS(verdict({.time = ~uint64_t{0}, .busy_cycles = 71 + kMostWorking}),
                  "the firmware worked for 500000 cycles, but no command completed");
}

TEST_F(Watch, AJobOfWhichAllIsDoneEndsSoon) {
  EXPECT_EQ(verdict({.time = 5000, .commands_done = 3, .all_done = true}), "");
  EXPECT_EQ(verdict({.time = 5000 + kAnswer, .commands_done = 3, .all_done = true}), "");
  EXPECT_CONTAINS(verdict({.time = 5001 + kAnswer, .commands_done = 3, .all_done = true}),
                  "did not end the job within 1000000 cycles");
}

// The same at the driver, with firmware that never completes the job.
struct SilentFirmware : testing::Test {
  SilentFirmware() {
    booted.firmware.on_run = [](const MockFirmware::Run&) {};
    job.set_input(0, int8_value({1, 2, 3, 4}));
  }
  void expect_fault(const std::string& why) {
    const auto [code, text] = error_of([&] { job.run(); });
    EXPECT_EQ(code, ErrorCode::kFaultFirmware);
    EXPECT_CONTAINS(text, why);
    EXPECT_EQ(booted.firmware.boots(), 2);
    booted.firmware.on_run = [this](const MockFirmware::Run& run) { booted.firmware.complete(run); };
    job.run();
  }

  Booted booted;
  Context context = booted.device.create_context();
  LoadedProgram program = context.load(make_program());
  Job job = program.create_job({.cycle_limit = 50'000});
};

TEST_F(SilentFirmware, IsStartedAgainWithItsPlaceInTheMessage) {
  booted.mock.set_register(reg::kStopPc, 0x14);
  expect_fault("within 400000 cycles, 6 times the jobs' limit; the control CPU was at npu_dispatch+0x4 (pc 0x14)");
}

TEST_F(SilentFirmware, ThatWorksForNothingIsStartedAgain) {
  // The context closes after this function's end and waits once more: what it calls then must live in the function
  // itself.
  booted.mock.on_wait = [move = booted.mock.on_wait, busy = uint32_t{0}](MockHal& mock) mutable {
    move(mock);
    mock.set_register(reg::kCpuBusyLo, busy += 50'000);
  };
  expect_fault("the firmware worked for 100000 cycles");
}

TEST_F(SilentFirmware, ThatStartsAgainByItselfIsCaught) {
  booted.firmware.on_run = [&](const MockFirmware::Run&) {
    booted.mock.set_register(reg::kHostIrqStatus, reg::kHostIrqStatusFirmwareMask);
  };
  expect_fault("the firmware started again without being asked to");
}

}  // namespace
}  // namespace npu::runtime
