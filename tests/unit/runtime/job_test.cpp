// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "driver/compiler/dram_needs.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::Region;
namespace reg = contract::reg;
using std::chrono::milliseconds;

struct JobTest : testing::Test {
  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(make_program());
  Job job = program.create_job();
};

std::vector<MockHal::Access> region(Region which, uint32_t base, uint32_t bytes, uint32_t flags) {
  const auto index = static_cast<uint32_t>(which);
  return {MockHal::write(reg::region_base_lo(index), base), MockHal::write(reg::region_base_hi(index), 0),
          MockHal::write(reg::region_limit(index), bytes), MockHal::write(reg::region_flags(index), flags)};
}

void append(std::vector<MockHal::Access>& to, const std::vector<MockHal::Access>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

TEST_F(JobTest, TrafficOfARunIsExactlyThis) {
  job.set_input("x", int8_value({1, 2, 3, 4}));
  constexpr uint32_t kDram = 1 << reg::kRegionFlagsSpaceLsb, kRead = 1, kReadWrite = 3;
  constexpr uint32_t kPage = 4096;  // constants, commands, workspace, input, output, events: a page each
  std::vector<MockHal::Access> traffic = {
      MockHal::write_dram(3 * kPage + 16, {1, 2, 3, 4}), MockHal::fill_dram(2 * kPage, 256, 0xa5),
      MockHal::fill_dram(4 * kPage, 64, 0xa5), MockHal::fill_dram(5 * kPage, 128, 0xff),  // no event yet
  };
  append(traffic, region(Region::kScratchpad, 0, 16384, 2 << reg::kRegionFlagsSpaceLsb | kReadWrite));
  append(traffic, region(Region::kConstants, 0, 6, kDram | kRead));
  append(traffic, region(Region::kWorkspace, 2 * kPage, 256, kDram | kReadWrite));
  append(traffic, region(Region::kInput, 3 * kPage, 64, kDram | kRead));
  append(traffic, region(Region::kOutput, 4 * kPage, 64, kDram | kReadWrite));
  append(
      traffic,
      {MockHal::write(reg::kCommandBaseLo, kPage), MockHal::write(reg::kCommandBaseHi, 0),
       MockHal::write(reg::kCommandWords, 13), MockHal::write(reg::kEventBaseLo, 5 * kPage),
       MockHal::write(reg::kEventBaseHi, 0), MockHal::write(reg::kEventCapacity, 2),
       MockHal::write(reg::kCycleLimitLo, 0), MockHal::write(reg::kCycleLimitHi, 16), MockHal::write(reg::kJobOwner, 1),
       MockHal::write(reg::kJobEpoch, 1), MockHal::write(reg::kIrqStatus, 1), MockHal::write(reg::kIrqEnable, 1),
       MockHal::write(reg::kControl, reg::kControlStartMask), MockHal::wait(true), MockHal::write(reg::kIrqStatus, 1),
       MockHal::read(reg::kStatus, 2), MockHal::read(reg::kJobCyclesLo, 100), MockHal::read(reg::kJobCyclesHi, 0)});
  for (uint32_t index = 0; index < reg::kCounterCount; ++index) {
    const bool idle = index % contract::kCountersPerQueue == 2;  // all the time
    traffic.push_back(MockHal::read(reg::counter_lo(index), idle ? 100 : 0));
    traffic.push_back(MockHal::read(reg::counter_hi(index), 0));
  }
  contract::Event event;
  event.command = 1;
  event.completed = 100;
  std::vector<uint8_t> record(contract::Event::kBytes);
  event.store(record.data());
  append(traffic, {MockHal::read(reg::kEventCount, 1), MockHal::read_dram(5 * kPage, 64, record),
                   MockHal::read_dram(4 * kPage + 32, 4, std::vector<uint8_t>{5, 6, 7, 8})});
  opened.mock.expect(traffic);
  const RunResult result = job.run();
  EXPECT_EQ(opened.mock.deviation(), "");
  opened.mock.expect_anything();
  EXPECT_EQ(result.cycles, 100u);
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_EQ(result.events[0], event);
  EXPECT_EQ(result.events_lost, 0u);
  EXPECT_EQ(result.counters.get(contract::Queue::kMxu, contract::Counter::kIdle), 100u);
  EXPECT_EQ(job.output("y").bytes, (std::vector<uint8_t>{5, 6, 7, 8}));
}

TEST_F(JobTest, OptionsSwitchPoisonAndEventsOff) {
  Job quiet = program.create_job({.poison = false, .events = false, .cycle_limit = 5});
  quiet.set_input(0, int8_value({1, 2, 3, 4}));
  opened.mock.clear_log();
  quiet.run();
  EXPECT_THAT(opened.mock.log(),
              testing::Each(testing::Field(&MockHal::Access::kind, testing::Ne(MockHal::Kind::kFillMemory))));
  EXPECT_EQ(opened.mock.get_register(reg::kEventCapacity), 0u);
  EXPECT_EQ(opened.mock.get_register(reg::kCycleLimitLo), 5u);
}

TEST_F(JobTest, PoisonCoversWorkspaceAndOutputs) {
  opened.mock.on_start = [](MockHal& mock) {
    const uint64_t workspace = mock.get_register(reg::region_base_lo(2)),
                   output = mock.get_register(reg::region_base_lo(4));
    for (uint64_t i = 0; i < 256; ++i) EXPECT_EQ(mock.dram(workspace + 256)[workspace + i], 0xa5);
    for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(mock.dram(output + 64)[output + i], 0xa5);
    mock.end_job();
  };
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.run();
  opened.mock.dram(1 << 20).assign(1 << 20, 0);
  job.run();
}

TEST_F(JobTest, EventsBeyondTheBufferAreCountedAsLost) {
  opened.mock.on_start = [](MockHal& mock) {
    mock.set_register(reg::kEventCount, 7);
    mock.end_job();
  };
  job.set_input(0, int8_value({1, 2, 3, 4}));
  const RunResult result = job.run();
  EXPECT_EQ(result.events.size(), 2u);
  EXPECT_EQ(result.events_lost, 5u);
}

// A program may have fewer records than commands: a loop may complete any number of them.
TEST(EventCapacity, IsTheProgramsAndNotTheNumberOfItsCommands) {
  Opened opened;
  Context context = opened.device.create_context();
  compiler::Program few = make_program({int8_variable("v", 4, {1, 2, 3, 4})});
  ASSERT_EQ(few.command_count, 4u);
  few.event_capacity = 3;
  EXPECT_EQ(compiler::needs_of(few, false).events, 3 * contract::Event::kBytes);
  LoadedProgram program = context.load(few);
  Job job = started(program);
  opened.mock.on_start = [&](MockHal& mock) {
    EXPECT_EQ(mock.get_register(reg::kEventCapacity), 3u);
    mock.set_register(reg::kEventCount, 4);
    mock.end_job();
  };
  const RunResult result = job.run();
  EXPECT_EQ(result.events.size(), 3u);
  EXPECT_EQ(result.events_lost, 1u);
}

TEST_F(JobTest, InputsAreChecked) {
  EXPECT_EQ(error_of([&] { job.set_input("z", int8_value({1})); }).first, ErrorCode::kBadInput);
  const auto [code, text] = error_of([&] { job.set_input("x", int8_value({1})); });
  EXPECT_EQ(code, ErrorCode::kBadInput);
  EXPECT_CONTAINS(text, "input 'x' takes INT8[4], not INT8[1]");
  EXPECT_EQ(error_of([&] { job.set_input(1, int8_value({1})); }).first, ErrorCode::kBadInput);
  const auto missing = error_of([&] { job.run(); });
  EXPECT_EQ(missing.first, ErrorCode::kBadInput);
  EXPECT_CONTAINS(missing.second, "'x'");
}

TEST_F(JobTest, OutputsAreThereOnlyAfterAGoodEnd) {
  EXPECT_EQ(error_of([&] { static_cast<void>(job.outputs()); }).first, ErrorCode::kWrongOrder);
  EXPECT_EQ(error_of([&] { static_cast<void>(job.wait(milliseconds(1))); }).first, ErrorCode::kWrongOrder);
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.run();
  EXPECT_EQ(job.outputs().size(), 1u);
  EXPECT_EQ(error_of([&] { static_cast<void>(job.output("x")); }).first, ErrorCode::kBadInput);
}

TEST_F(JobTest, WaitTimesOutAndGoesOnLater) {
  opened.mock.on_start = [](MockHal&) {};
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.start();
  EXPECT_FALSE(job.wait(milliseconds(250)));  // three slices of the device
  EXPECT_FALSE(job.wait(milliseconds(0)));
  const auto waits = [&] {
    return std::count_if(opened.mock.log().begin(), opened.mock.log().end(),
                         [](const auto& access) { return access.kind == MockHal::Kind::kWait; });
  };
  EXPECT_EQ(waits(), 4);
  EXPECT_EQ(error_of([&] { static_cast<void>(job.result()); }).first, ErrorCode::kWrongOrder);
  opened.mock.end_job();
  EXPECT_TRUE(job.wait(milliseconds(1)));
  EXPECT_TRUE(job.wait(milliseconds(1)));
  EXPECT_EQ(waits(), 5);  // an ended job asks the device no more
}

TEST_F(JobTest, SaysHowManyCommandsAreDone) {
  opened.mock.on_start = [](MockHal& mock) {
    const uint64_t events = mock.get_register(reg::kEventBaseLo);
    contract::Event event;
    event.opcode = static_cast<uint8_t>(contract::Opcode::kBegin);
    event.store(mock.dram(events + contract::Event::kBytes).data() + events);
  };
  job.set_input(0, int8_value({1, 2, 3, 4}));
  EXPECT_EQ(job.commands_done(), 0u);
  job.start();
  EXPECT_FALSE(job.wait(milliseconds(1)));
  EXPECT_EQ(job.commands_done(), 1u);
  opened.mock.end_job();
  EXPECT_TRUE(job.wait(milliseconds(1)));
  EXPECT_EQ(job.commands_done(), 0u);
}

TEST_F(JobTest, ADeviceRunsOneJobAtATime) {
  opened.mock.on_start = [](MockHal&) {};
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.start();
  Job other = program.create_job();
  other.set_input(0, int8_value({1, 2, 3, 4}));
  EXPECT_EQ(error_of([&] { other.start(); }).first, ErrorCode::kWrongOrder);
  EXPECT_EQ(error_of([&] { job.start(); }).first, ErrorCode::kWrongOrder);
  const LoadedProgram second = context.load(make_program());  // uses memory that the job does not
  Job third = second.create_job();
  third.set_input(0, int8_value({1, 2, 3, 4}));
  EXPECT_EQ(error_of([&] { third.start(); }).first, ErrorCode::kWrongOrder);
  opened.mock.end_job();
  EXPECT_TRUE(job.wait(milliseconds(1)));
  opened.mock.on_start = [](MockHal& mock) { mock.end_job(); };
  other.run();
}

TEST_F(JobTest, AResetStopsTheRunningJob) {
  opened.mock.on_start = [](MockHal&) {};
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.start();
  opened.device.soft_reset();
  const auto [code, text] = error_of([&] { static_cast<void>(job.wait(milliseconds(1))); });
  EXPECT_EQ(code, ErrorCode::kWrongOrder);
  EXPECT_CONTAINS(text, "reset");
  opened.mock.on_start = [](MockHal& mock) { mock.end_job(); };
  job.run();
}

TEST_F(JobTest, DestroyingARunningJobStopsIt) {
  opened.mock.on_start = [](MockHal&) {};
  {
    Job doomed = program.create_job();
    doomed.set_input(0, int8_value({1, 2, 3, 4}));
    doomed.start();
  }
  EXPECT_EQ(opened.mock.log().back().address, reg::kControl);
  EXPECT_EQ(opened.mock.log().back().value, reg::kControlSoftResetMask);
  opened.mock.on_start = [](MockHal& mock) { mock.end_job(); };
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.run();
}

TEST_F(JobTest, EmptyRegionsAreNotMapped) {
  compiler::Program bare = make_program();
  bare.constants.clear();
  bare.workspace_bytes = 0;
  LoadedProgram loaded = context.load(bare);
  Job other = loaded.create_job();
  other.set_input(0, int8_value({1, 2, 3, 4}));
  other.run();
  EXPECT_EQ(opened.mock.get_register(reg::region_flags(1)), 0u);
  EXPECT_EQ(opened.mock.get_register(reg::region_flags(2)), 0u);
  EXPECT_NE(opened.mock.get_register(reg::region_flags(3)), 0u);
}

}  // namespace
}  // namespace npu::runtime
