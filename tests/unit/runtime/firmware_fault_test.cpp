// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "driver/runtime/backtrace.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::Queue;
namespace reg = contract::reg;
using std::chrono::milliseconds;

// Offsets in a ring's header (structure `ring`).
constexpr uint32_t kCompletionProducer = 68;

struct FirmwareFault : testing::Test {
  Job make_job(LoadedProgram& from) {
    Job made = from.create_job({.cycle_limit = 1000});
    made.set_input(0, int8_value({1, 2, 3, 4}));
    return made;
  }
  void complete_all() {
    booted.firmware.on_run = [this](const MockFirmware::Run& run) { booted.firmware.complete(run); };
  }
  // What the device does instead of running a job.
  template <typename Action>
  std::pair<ErrorCode, std::string> run_error(Action action) {
    booted.firmware.on_run = action;
    const std::pair<ErrorCode, std::string> error = error_of([&] { job.run(); });
    complete_all();
    return error;
  }

  Booted booted;
  Context context = booted.device.create_context();
  LoadedProgram program = context.load(make_program({int8_variable("state", 4, {1, 2, 3, 4})}));
  Job job = make_job(program);
  Context bystander = booted.device.create_context();
  LoadedProgram other_program = bystander.load(make_program());
  Job other = make_job(other_program);
};

TEST_F(FirmwareFault, CompletionsCarryTheFault) {
  contract::RingCompletion completion;
  completion.code = static_cast<uint32_t>(ErrorCode::kFaultOutOfBounds);
  completion.fault_command = 2;
  completion.fault_queue = static_cast<uint32_t>(Queue::kDma0);
  completion.fault_address = uint64_t{15} << 32 | 3;  // byte 3 of variable 0
  completion.fault_cycle = 1234;
  const auto [code, text] = run_error([&](const MockFirmware::Run& run) { booted.firmware.complete(run, completion); });
  EXPECT_EQ(code, ErrorCode::kFaultOutOfBounds);
  EXPECT_CONTAINS(text, "command 2 (dma on dma0, layer 'identity_0')");
  EXPECT_CONTAINS(text, "byte 3 of variable 'state'");
  EXPECT_CONTAINS(text, "cycle 1234");
  job.run();
}

TEST_F(FirmwareFault, ATimeoutSaysWhoWaitsForWhom) {
  contract::RingCompletion completion;
  completion.code = static_cast<uint32_t>(ErrorCode::kFaultTimeout);
  completion.queue_state.fill(255);
  completion.queue_state[8] = 255 | reg::kQueueStateHoldingMask | reg::kQueueStateExecutingMask;
  completion.queue_command[8] = 1;
  completion.queue_state[0] = 8 | reg::kQueueStateHoldingMask | 3 << reg::kQueueStateFifoLsb;
  completion.queue_command[0] = 2;
  const auto [code, text] = run_error([&](const MockFirmware::Run& run) { booted.firmware.complete(run, completion); });
  EXPECT_EQ(code, ErrorCode::kFaultTimeout);
  EXPECT_CONTAINS(text, "did not end within its cycle_limit of 1000 cycles");
  EXPECT_CONTAINS(text, "dma0 holds command 2 (dma on dma0, layer 'identity_0'), waits for mxu, and has 3 behind it");
  EXPECT_CONTAINS(text, "mxu works on command 1 (declare on sequencer");
  EXPECT_EQ(text.find("vpu"), std::string::npos) << text;
}

TEST_F(FirmwareFault, ARefusedJobSaysSo) {
  const auto [code, text] =
      run_error([&](const MockFirmware::Run& run) { booted.firmware.fail(run, ErrorCode::kFaultRequest); });
  EXPECT_EQ(code, ErrorCode::kFaultRequest);
  EXPECT_CONTAINS(text, "refused the job");
}

TEST_F(FirmwareFault, CountersOfTheBlockAreChecked) {
  const auto [code, text] = run_error([&](const MockFirmware::Run& run) {
    booted.mock.dram(run.job.counters + 8)[run.job.counters] = 3;  // busy of dma0
    booted.firmware.complete(run);
  });
  EXPECT_EQ(code, ErrorCode::kFaultCounters);
  EXPECT_CONTAINS(text, "queue dma0");
  job.run();  // the block is cleared before each run
}

TEST_F(FirmwareFault, AStoppedCpuIsExplainedAndStartedAgain) {
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    if (run.ring == 2) return;
    // npu_dispatch (leaf: its return address is in ra), called from npu_main, called from start.
    const uint32_t frame = contract::kCpuDataBase + 0x100, caller = contract::kCpuDataBase + 0x140;
    const auto store = [&](uint32_t address, uint32_t value) {
      std::memcpy(booted.mock.data().data() + (address - contract::kCpuDataBase), &value, 4);
    };
    store(frame - 4, caller);
    store(caller - 4, 0x8);
    store(caller - 8, 0);
    booted.mock.set_register(reg::stop_register(1), 0x44);
    booted.mock.set_register(reg::stop_register(8), frame);
    booted.firmware.log("[7] dispatch\n[9] trap\n");
    booted.firmware.stop(contract::CpuStop::kTrap, 0x14, 5, 0xdead0);
  };
  other.start();
  const auto [code, text] = error_of([&] { job.run(); });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "load access fault (mcause 0x5, mtval 0xdead0) at npu_dispatch+0x4 (pc 0x14)");
  EXPECT_CONTAINS(text, "called from npu_main+0x4 from start+0x8");
  EXPECT_CONTAINS(text, "[9] trap");
  EXPECT_EQ(booted.firmware.boots(), 2);
  EXPECT_EQ(error_of([&] { static_cast<void>(other.wait(milliseconds(1))); }).first, ErrorCode::kFaultFirmware);
  // Contexts, programs and variables are there.
  complete_all();
  EXPECT_EQ(booted.firmware.rings().at(1).owner, context.owner());
  EXPECT_EQ(booted.firmware.rings().at(2).owner, bystander.owner());
  EXPECT_EQ(context.read_variable("state").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  job.run();
  other.run();
  EXPECT_CONTAINS(booted.device.take_firmware_log(), "[9] trap\n");
}

TEST_F(FirmwareFault, AJobThatEndedBeforeTheCpuStoppedEndedWell) {
  booted.firmware.on_run = [](const MockFirmware::Run&) {};
  other.start();
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    booted.firmware.complete(run);
    booted.firmware.stop(contract::CpuStop::kTrap, 0x14, 5, 0xdead0);
  };
  job.run();
  EXPECT_EQ(job.outputs().size(), 1u);
  EXPECT_EQ(booted.firmware.boots(), 2);
  EXPECT_EQ(error_of([&] { static_cast<void>(other.wait(milliseconds(1))); }).first, ErrorCode::kFaultFirmware);
  complete_all();
  job.run();
  other.run();
}

TEST_F(FirmwareFault, AJobThatEndedBeforeRingZeroFailedEndedWell) {
  job.start();  // and ends, but the driver does not look
  booted.firmware.set_error(0, ErrorCode::kFaultRing);
  EXPECT_EQ(error_of([&] { static_cast<void>(booted.device.create_context()); }).first, ErrorCode::kFaultFirmware);
  EXPECT_EQ(booted.firmware.boots(), 2);
  EXPECT_TRUE(job.wait(milliseconds(1)));
}

TEST_F(FirmwareFault, RecoveryIsExactlyThis) {
  booted.firmware.on_run = [&](const MockFirmware::Run&) {
    booted.firmware.stop(contract::CpuStop::kWatchdog, 0x40, 0, 0);
  };
  job.start();
  booted.mock.clear_log();
  const auto [code, text] = error_of([&] { static_cast<void>(job.wait(milliseconds(1))); });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "watchdog");
  EXPECT_CONTAINS(text, "at npu_main (pc 0x40)");
  std::vector<std::string> writes;
  for (const MockHal::Access& access : booted.mock.log()) {
    const bool is_register = access.kind == MockHal::Kind::kWriteRegister;
    if (is_register || access.kind == MockHal::Kind::kWriteCode) writes.push_back(MockHal::to_string(access));
  }
  const auto text_of = [](const MockHal::Access& access) { return MockHal::to_string(access); };
  ASSERT_GE(writes.size(), 4u);
  EXPECT_EQ(writes[0], text_of(MockHal::write(reg::kHostIrqStatus, reg::kHostIrqStatusCpuStoppedMask)));
  EXPECT_EQ(writes[1], text_of(MockHal::write(reg::kCpuControl, 0)));
  EXPECT_EQ(writes[2], text_of(MockHal::write(reg::kCpuControl, reg::kCpuControlResetCoreMask)));
  EXPECT_EQ(writes[3].substr(0, 32), "write 64 bytes of code memory at");
  // Two doorbells of ring 0 in the end: a context each.
  EXPECT_EQ(std::count(writes.begin(), writes.end(), text_of(MockHal::write(reg::kDoorbell, 0))), 2);
}

TEST_F(FirmwareFault, ImpossibleIndicesAreCaught) {
  const auto [code, text] = run_error([&](const MockFirmware::Run& run) {
    booted.firmware.poke(run.ring, kCompletionProducer, 40);
    booted.mock.set_register(reg::kHostIrqStatus, 1);
  });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "impossible indices into ring 1: it has taken 1 requests and completed 40, but was given 1");
  EXPECT_EQ(booted.firmware.boots(), 2);
  job.run();
}

TEST_F(FirmwareFault, ACompletionOfAnotherRequestIsCaught) {
  const auto [code, text] = run_error([&](MockFirmware::Run run) {
    run.request.id += 5;
    booted.firmware.complete(run);
  });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "came first");
  job.run();
}

TEST_F(FirmwareFault, ARingThatTheFirmwareCallsCorruptIsOpenedAgain) {
  booted.firmware.on_run = [](const MockFirmware::Run&) {};
  other.start();
  const auto [code, text] =
      run_error([&](const MockFirmware::Run& run) { booted.firmware.set_error(run.ring, ErrorCode::kFaultRing); });
  EXPECT_EQ(code, ErrorCode::kFaultRing);
  EXPECT_CONTAINS(text, "ring 1 corrupt");
  EXPECT_EQ(booted.firmware.boots(), 1);
  EXPECT_FALSE(other.wait(milliseconds(1)));  // the other job is not harmed
  job.run();
}

TEST_F(FirmwareFault, ADeviceThatStandsStillIsStartedAgain) {
  booted.firmware.cycles_per_wait = 0;
  const auto [code, text] = run_error([](const MockFirmware::Run&) {});
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "nothing in the device moves any more");
  job.run();
}

TEST_F(FirmwareFault, FirmwareThatDoesNotStartAgainFailsEveryLaterCallClearly) {
  booted.firmware.boots_as = contract::FirmwareState::kFailed;
  booted.firmware.self_test = 1;
  const auto [code, text] =
      run_error([&](const MockFirmware::Run&) { booted.firmware.stop(contract::CpuStop::kFirmware, 0x14, 3, 0); });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  for (const auto& [again, why] :
       {error_of([&] { job.run(); }), error_of([&] { static_cast<void>(booted.device.create_context()); }),
        error_of([&] { static_cast<void>(context.variables()); }),
        error_of([&] { booted.device.set_power(contract::PowerState::kSleep); }),
        error_of([&] { booted.device.soft_reset(); })}) {
    EXPECT_EQ(again, ErrorCode::kFaultFirmware);
    EXPECT_CONTAINS(why, "self-test failed: data_memory");
  }
  booted.firmware.boots_as = contract::FirmwareState::kReady;
  booted.device.soft_reset();
  job.run();
  EXPECT_EQ(context.variables().size(), 1u);
}

TEST_F(FirmwareFault, SilenceOfRingZeroStartsTheFirmwareAgain) {
  booted.firmware.on_admin = [&](const contract::RingRequest&) {};
  booted.firmware.answers = false;
  int waits = 0;
  const auto move = booted.mock.on_wait;
  booted.mock.on_wait = [&, move](MockHal& mock) {
    move(mock);
    // The 101st wait ends the patience of 10 ms; the new start is answered.
    if (++waits == 101) booted.firmware.answers = true;
  };
  const auto [code, text] = error_of([&] { static_cast<void>(context.variables()); });
  booted.mock.on_wait = move;
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "did not answer a request within 100000 cycles");
  EXPECT_CONTAINS(text, "started again");
  EXPECT_EQ(booted.firmware.boots(), 2);
  EXPECT_EQ(context.variables().size(), 1u);
}

// A device that cannot be reached for a while: its clock is not readable.
class UnreachableHal : public MockHal {
 public:
  UnreachableHal() : MockHal(small_machine()) {}
  [[nodiscard]] uint32_t read_register(uint32_t offset) override {
    if (gone && offset == reg::kTimeLo) throw Error(ErrorCode::kFaultBus, "no answer.");
    return MockHal::read_register(offset);
  }
  bool gone = false;
};

struct AbandonedJob : testing::Test {
  explicit AbandonedJob(std::unique_ptr<UnreachableHal> made = std::make_unique<UnreachableHal>())
      : hal(*made), booted(std::move(made), mock_options()) {}
  // A job that only the device has.
  void abandon() {
    booted.firmware.on_run = [this](const MockFirmware::Run& run) { booted.firmware.complete_later(run); };
    Job job = make_job();
    job.start();
    hal.gone = true;
    { const Job going = std::exchange(job, make_job()); }
    hal.gone = false;
  }
  Job make_job() {
    Job job = program->create_job();
    job.set_input(0, int8_value({1, 2, 3, 4}));
    return job;
  }

  UnreachableHal& hal;
  Booted booted;
  std::optional<Context> context = booted.device.create_context();
  std::optional<LoadedProgram> program = context->load(make_program());
};

TEST_F(AbandonedJob, IsCompletedBeforeTheNextOfItsRing) {
  abandon();
  Job next = make_job();
  next.run();
  EXPECT_EQ(next.outputs().size(), 1u);
  EXPECT_EQ(booted.firmware.boots(), 1);
}

TEST_F(AbandonedJob, GoesWithItsContext) {
  abandon();
  program.reset();
  context.reset();
  EXPECT_FALSE(booted.firmware.rings().contains(1));
  EXPECT_EQ(booted.firmware.boots(), 1);
}

TEST_F(AbandonedJob, GoesInAReset) {
  abandon();
  booted.device.soft_reset();
  make_job().run();
  EXPECT_EQ(booted.firmware.boots(), 2);
}

TEST(Backtrace, SymbolsNameAddresses) {
  const Symbols symbols("00000010 T b\n00000000 a\nno address\n20000000 register\n");
  EXPECT_EQ(symbols.name(0), "a");
  EXPECT_EQ(symbols.name(0xf), "a+0xf");
  EXPECT_EQ(symbols.name(0x12), "b+0x2");
  EXPECT_EQ(symbols.name(0x20000004), "0x20000004");
  EXPECT_EQ(Symbols("").name(4), "0x4");
}

TEST(Backtrace, EndsWhereFramesMakeNoSense) {
  StoppedCpu cpu;
  cpu.data.resize(contract::kCpuDataBytes);
  const auto store = [&](uint32_t offset, uint32_t value) { std::memcpy(cpu.data.data() + offset, &value, 4); };
  const uint32_t base = contract::kCpuDataBase;
  const Symbols symbols("80 stopped\n100 caller\n200 its_caller\n");
  cpu.pc = 0x84;
  EXPECT_TRUE(unwind(cpu, symbols).empty());  // no frame
  cpu.registers[8] = base + 0x40;
  store(0x40 - 4, 0x100);
  store(0x40 - 8, base + 0x40);  // a loop
  EXPECT_EQ(unwind(cpu, symbols), (std::vector<uint32_t>{0x100}));
  store(0x40 - 8, base + 0x80);
  store(0x80 - 4, 0x200);
  store(0x80 - 8, base + contract::kCpuDataBytes + 4);  // beyond the memory
  EXPECT_EQ(unwind(cpu, symbols), (std::vector<uint32_t>{0x100, 0x200}));
  cpu.registers[1] = 0x90;  // left over from what it called itself
  EXPECT_EQ(unwind(cpu, symbols), (std::vector<uint32_t>{0x100, 0x200}));
  cpu.registers[1] = 0x180;  // no frame yet: fp is the caller's
  EXPECT_EQ(unwind(cpu, symbols), (std::vector<uint32_t>{0x180, 0x100, 0x200}));
  cpu.pc = 0x4000'0000;  // a jump to nowhere
  EXPECT_EQ(unwind(cpu, symbols), (std::vector<uint32_t>{0x180, 0x100, 0x200}));
  cpu.pc = 0x84;
  cpu.registers[1] = 0;
  store(0x80 - 4, 0x9000'0000);  // no code
  EXPECT_EQ(unwind(cpu, symbols), (std::vector<uint32_t>{0x100}));
  for (uint32_t frame = 0x40; frame < 0x1000; frame += 0x10) {
    store(frame - 4, 0x300);
    store(frame - 8, base + frame + 0x10);
  }
  EXPECT_EQ(unwind(cpu, symbols).size(), 16u);  // deep enough
}

}  // namespace
}  // namespace npu::runtime
