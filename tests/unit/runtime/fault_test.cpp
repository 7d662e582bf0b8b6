// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::Counter;
using contract::ErrorCode;
using contract::Queue;
namespace reg = contract::reg;

struct FaultTest : testing::Test {
  FaultTest() {
    job.set_input(0, int8_value({1, 2, 3, 4}));
    opened.mock.set_register(reg::kFaultCommand, 2);
    opened.mock.set_register(reg::kFaultCycleLo, 1234);
  }

  // Runs a job that the device stops.
  std::pair<ErrorCode, std::string> fault(ErrorCode code, uint32_t other = 0) {
    opened.mock.on_start = [=](MockHal& mock) {
      mock.set_register(reg::kFaultOther, other);
      mock.end_job_with_fault(code);
    };
    return error_of([&] { job.run(); });
  }

  std::pair<ErrorCode, std::string> counters(Queue queue, std::vector<std::pair<Counter, uint64_t>> values) {
    opened.mock.on_start = [=](MockHal& mock) {
      mock.set_register(reg::kJobCyclesLo, 10);
      for (uint32_t i = 0; i < reg::kCounterCount; ++i) mock.set_register(reg::counter_lo(i), 0);
      for (const uint32_t q : {0u, 1u, 8u, 9u, 15u}) {
        mock.set_register(reg::counter_lo(contract::counter_index(q, Counter::kIdle)), 10);
      }
      for (const auto& [counter, value] : values) {
        mock.set_register(reg::counter_lo(contract::counter_index(static_cast<uint32_t>(queue), counter)),
                          static_cast<uint32_t>(value));
      }
      mock.end_job();
    };
    return error_of([&] { job.run(); });
  }

  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(make_program({int8_variable("stream_9/states", 4)}));
  Job job = program.create_job();
};

TEST_F(FaultTest, NamesCommandEngineLayerAndCycle) {
  const auto [code, text] = fault(ErrorCode::kFaultToken);
  EXPECT_EQ(code, ErrorCode::kFaultToken);
  EXPECT_CONTAINS(text, "command 2 (dma on dma0, layer 'identity_0')");
  EXPECT_CONTAINS(text, "cycle 1234");
}

TEST_F(FaultTest, HazardNamesBothCommandsAndTheAddress) {
  opened.mock.set_register(reg::kFaultAddressLo, 0x40);
  const auto [code, text] = fault(ErrorCode::kFaultHazard, 1);
  EXPECT_EQ(code, ErrorCode::kFaultHazard);
  EXPECT_CONTAINS(text, "command 2 (dma on dma0");
  EXPECT_CONTAINS(text, "the other is command 1 (declare on sequencer");
  EXPECT_CONTAINS(text, "byte 0x40 of region scratchpad");
}

TEST_F(FaultTest, VariableFaultsNameTheVariable) {
  for (const ErrorCode code : {ErrorCode::kVariableUnwritten, ErrorCode::kVariableUndeclared,
                               ErrorCode::kVariableRedeclared, ErrorCode::kVariableMismatch}) {
    const auto [got, text] = fault(code, 0);
    EXPECT_EQ(got, code);
    EXPECT_CONTAINS(text, "'stream_9/states'");
  }
}

TEST_F(FaultTest, AddressInAVariableNamesIt) {
  opened.mock.set_register(reg::kFaultAddressLo, 3);
  opened.mock.set_register(reg::kFaultAddressHi, 15);
  EXPECT_CONTAINS(fault(ErrorCode::kFaultOutOfBounds).second, "byte 3 of variable 'stream_9/states'");
}

TEST_F(FaultTest, TimeoutSaysTheLimit) {
  EXPECT_CONTAINS(fault(ErrorCode::kFaultTimeout).second, "68719476736 cycles");
}

TEST_F(FaultTest, TimeoutOfLoopsSaysTheirLimit) {
  EXPECT_CONTAINS(fault(ErrorCode::kFaultTimeout, contract::kTimeoutRepeats).second,
                  "more than 16777216 iterations in all: command");
}

TEST_F(FaultTest, TimeoutReadsWhoWaitsForWhomBeforeTheReset) {
  opened.mock.set_register(reg::queue_state(9), 8 | reg::kQueueStateHoldingMask);
  opened.mock.set_register(reg::queue_command(9), 1);
  EXPECT_CONTAINS(fault(ErrorCode::kFaultTimeout).second, "vpu holds command 1 (declare on sequencer");
}

TEST_F(FaultTest, StructureOfTheFaultIsThereForPrograms) {
  opened.mock.set_register(reg::kFaultQueue, 9);
  opened.mock.set_register(reg::kFaultAddressHi, 7 << 8 | 15);
  opened.mock.set_register(reg::kFaultCycleHi, 1);
  opened.mock.on_start = [](MockHal& mock) { mock.end_job_with_fault(ErrorCode::kFaultAccessRight); };
  try {
    job.run();
    FAIL();
  } catch (const FaultError& error) {
    EXPECT_EQ(error.exit_status(), 5);
    EXPECT_EQ(error.fault().code, ErrorCode::kFaultAccessRight);
    EXPECT_EQ(error.fault().command, 2u);
    EXPECT_EQ(error.fault().queue, Queue::kVpu);
    EXPECT_EQ(error.fault().address.region, contract::Region::kVariable);
    EXPECT_EQ(error.fault().address.variable, 7);
    EXPECT_EQ(error.fault().cycle, (uint64_t{1} << 32) + 1234);
  }
}

TEST_F(FaultTest, CommandsAndVariablesThatDoNotExistAreStillReported) {
  opened.mock.set_register(reg::kFaultCommand, 4000);
  EXPECT_CONTAINS(fault(ErrorCode::kFaultBadCommand).second, "command 4000");
  EXPECT_CONTAINS(fault(ErrorCode::kVariableUndeclared, 77).second, "entry 77");
  const auto [code, text] = fault(static_cast<ErrorCode>(0x5ff));
  EXPECT_EQ(code, ErrorCode::kFaultBus);
  EXPECT_CONTAINS(text, "0x5ff");
}

TEST_F(FaultTest, TheDeviceIsResetAfterAFaultAndUsableAgain) {
  fault(ErrorCode::kFaultBus);
  const auto& log = opened.mock.log();
  const auto last_write = std::find_if(log.rbegin(), log.rend(), [](const MockHal::Access& access) {
    return access.kind == MockHal::Kind::kWriteRegister;
  });
  ASSERT_NE(last_write, log.rend());
  EXPECT_EQ(last_write->address, uint64_t{reg::kControl});
  EXPECT_EQ(last_write->value, reg::kControlSoftResetMask);
  EXPECT_EQ(error_of([&] { static_cast<void>(job.outputs()); }).first, ErrorCode::kWrongOrder);
  opened.mock.on_start = [](MockHal& mock) { mock.end_job(); };
  job.run();
  EXPECT_EQ(job.outputs().size(), 1u);
}

TEST_F(FaultTest, CounterIdentitiesAreChecked) {
  EXPECT_EQ(counters(Queue::kMxu, {}).first, ErrorCode::kOk);
  const auto [code, text] = counters(Queue::kMxu, {{Counter::kBusy, 3}});
  EXPECT_EQ(code, ErrorCode::kFaultCounters);
  EXPECT_CONTAINS(text, "queue mxu");
  EXPECT_CONTAINS(text, "busy 3 + stalled 0 + idle 10 is not the job's 10 cycles");
  const auto moved = counters(Queue::kDma1, {{Counter::kBytesRead, 64}, {Counter::kBytesReadAsked, 65}});
  EXPECT_EQ(moved.first, ErrorCode::kFaultCounters);
  EXPECT_CONTAINS(moved.second, "bytes_read is 64, bytes_read_asked is 65");
  const auto part = counters(Queue::kVpu, {{Counter::kPsramWritten, 1}});
  EXPECT_CONTAINS(part.second, "dram_written + psram_written are 1, bytes_written is 0");
  EXPECT_EQ(counters(Queue::kVpu, {{Counter::kBankConflicts, 1}}).first, ErrorCode::kFaultCounters);
}

}  // namespace
}  // namespace npu::runtime
