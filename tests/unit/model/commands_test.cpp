// SPDX-License-Identifier: Apache-2.0
// The sequencer: versions, decoding, tokens, queues.
#include <gtest/gtest.h>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;

TEST(CommandsTest, EmptyJob) {
  Bench bench;
  Stream stream(small_machine());
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
  // begin: 8 words, end: 5 words, 4 a cycle: 2 + 2 cycles of decoding. Before it the stream's burst of 52 bytes (memory
  // answers after 20 cycles, the response takes 52 / 16 = 4 cycles), and beside that all rows of the variable table.
  const contract::Capabilities caps = small_machine();
  const uint64_t rows = caps.var_entries * contract::VariableEntry::kBytes / caps.psram_port_bytes;
  EXPECT_EQ(bench.job_cycles(), std::max<uint64_t>(20 + 4, rows + 3) + 2 + 2);
  EXPECT_EQ(bench.jobs_started, 1);
  bench.expect_identities();
}

// rtl/blocks/persistent_sram has the cycles.
TEST(CommandsTest, OperationsOnTheVariableTableTakeTime) {
  const contract::Capabilities caps = small_machine();
  const uint64_t rows = caps.var_entries * contract::VariableEntry::kBytes / caps.psram_port_bytes;
  Bench bench;
  const auto write_table = [&] {
    for (uint32_t index = 0; index < 3; ++index) {
      contract::VariableEntry entry;
      entry.base = static_cast<uint16_t>(0x400 + 0x100 * index);
      entry.length = 0x100;
      entry.owner = Bench::kOwner;
      bench.set_variable(index, entry);
    }
  };
  uint32_t epoch = 0;
  const auto cycles = [&](uint32_t declared) {
    Stream stream(caps);
    for (uint32_t index = 0; index < declared; ++index) stream.declare(index, 0);
    bench.write(reg::kJobEpoch, ++epoch);
    EXPECT_TRUE(bench.run(stream));
    EXPECT_EQ(bench.fault(), ErrorCode::kOk);
    return bench.job_cycles();
  };
  const uint64_t decoding = (contract::DeclareCommand::kWords + 3) / 4;
  write_table();
  const uint64_t two = cycles(2);
  write_table();
  const uint64_t three = cycles(3);
  EXPECT_EQ(three - two, rows + 7 + decoding);
  // Places that were compared are so until the table is written again.
  const auto power = [&](contract::PsramPower state) { bench.write(reg::kPsramPower, static_cast<uint32_t>(state)); };
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(cycles(2), two - 2 * rows);
    EXPECT_EQ(cycles(3), three - 3 * rows);
    power(contract::PsramPower::kRetention);
    power(contract::PsramPower::kOn);
  }
  bench.set_variable(7, {});
  EXPECT_EQ(cycles(2), two);
  EXPECT_EQ(cycles(3), three - 2 * rows);
}

TEST(CommandsTest, RefusesAnotherContractOrMachine) {
  Bench bench;
  Stream other_caps(small_machine());
  other_caps.begin().caps_hash ^= 1;
  ASSERT_TRUE(bench.run(other_caps));
  EXPECT_EQ(bench.fault(), ErrorCode::kContractMismatch);
  EXPECT_EQ(bench.read(reg::kStatus), reg::kStatusFaultMask | reg::kStatusPoweredMask);
  EXPECT_TRUE(bench.irq.read());
  Stream other_major(small_machine());
  other_major.begin().major += 1;
  ASSERT_TRUE(bench.run(other_major));
  EXPECT_EQ(bench.fault(), ErrorCode::kContractMismatch);
  Stream later_minor(small_machine());
  later_minor.begin().minor += 1;
  ASSERT_TRUE(bench.run(later_minor));
  EXPECT_EQ(bench.fault(), ErrorCode::kContractMismatch);
  ASSERT_TRUE(bench.run(Stream(small_machine())));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(CommandsTest, StreamMustBeWhole) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(fill(0, spm(0), 64, 1));
  std::vector<uint32_t> words = stream.finish();
  const std::vector<uint32_t> whole = words;
  words.resize(words.size() - 5);  // no end
  ASSERT_TRUE(bench.run(words));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 2u);
  words.resize(words.size() - 1);  // a command cut off
  ASSERT_TRUE(bench.run(words));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  words = whole;
  words.push_back(0);  // something behind end
  ASSERT_TRUE(bench.run(words));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  words = whole;
  words[7] += 1;  // command_count
  ASSERT_TRUE(bench.run(words));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  words.clear();
  ASSERT_TRUE(bench.run(words));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  words.assign(whole.begin() + 8, whole.end());  // no begin
  ASSERT_TRUE(bench.run(words));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 0u);
  ASSERT_TRUE(bench.run(whole));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
}

TEST(CommandsTest, ProgramsHaveTheRegistersAndTablesOfTheMachine) {
  Bench bench;
  const contract::Capabilities machine = small_machine();
  const auto fault_of = [&](uint32_t registers, std::vector<uint32_t> tables) {
    contract::VpuEwiseCommand command = ewise(spm(0), spm(0x400), 16);
    command.register_count = registers;
    for (const uint32_t bytes : tables) {
      contract::Operand& table = command.operands.emplace_back();
      table.base = spm(0x800);
      table.bytes = bytes;
    }
    Stream stream(machine);
    stream.add(fill(0, spm(0), 0x4000, 0));
    stream.add(command, {{0, 1}});
    EXPECT_TRUE(bench.run(stream));
    return bench.fault();
  };
  EXPECT_EQ(fault_of(machine.vpu_registers, {}), ErrorCode::kOk);
  EXPECT_EQ(fault_of(machine.vpu_registers + 1, {}), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(fault_of(1, {machine.vpu_table_bytes}), ErrorCode::kOk);
  EXPECT_EQ(fault_of(1, {machine.vpu_table_bytes + 1}), ErrorCode::kFaultBadCommand);
  // Each begins a row, of 32 bytes.
  EXPECT_EQ(fault_of(1, {machine.vpu_table_bytes - 32, 1}), ErrorCode::kOk);
  EXPECT_EQ(fault_of(1, {machine.vpu_table_bytes - 31, 1}), ErrorCode::kFaultBadCommand);
}

TEST(CommandsTest, TokensOrderQueues) {
  Bench bench;
  Stream stream(small_machine());
  stream.add(copy(0, dram(0x100), spm(0), 256));
  stream.add(ewise(spm(0), spm(0x400), 256), {{0, 1}});
  stream.add(copy(1, spm(0x400), dram(0x1000), 256), {{9, 1}});
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_TRUE(std::equal(bench.memory.data.begin() + 0x100, bench.memory.data.begin() + 0x200,
                         bench.memory.data.begin() + 0x1000));
  bench.expect_identities();
}

TEST(CommandsTest, TokensReachBackByCount) {
  // Three loads on one queue; a command that waits for all but the last of them may start while the last still runs.
  Bench bench;
  bench.write(reg::kEventBaseLo, Bench::kEventBase);
  bench.write(reg::kEventCapacity, 16);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 64));
  stream.add(copy(0, dram(64), spm(64), 64));
  stream.add(copy(0, dram(0x4000), spm(0x4000), 0x4000));
  const uint32_t early = stream.add(ewise(spm(64), spm(0x400), 64), {{0, 2}});
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  uint64_t early_started = 0, last_completed = 0;
  for (uint32_t i = 0; i < bench.read(reg::kEventCount); ++i) {
    const auto event = contract::Event::load(bench.memory.data.data() + Bench::kEventBase + i * 64);
    if (event.command == early) early_started = event.started;
    if (event.command == early - 1) last_completed = event.completed;
  }
  EXPECT_GT(early_started, 0u);
  EXPECT_LT(early_started, last_completed);
}

TEST(CommandsTest, FifoDepthBlocksTheSequencer) {
  // A long DMA and more commands behind it than fit: fifo_depth wait in the FIFO, one is in hand.
  Bench bench;
  bench.write(reg::kEventBaseLo, Bench::kEventBase);
  bench.write(reg::kEventCapacity, 32);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0), 0x4000));
  for (uint32_t i = 0; i < 6; ++i) stream.add(fill(0, spm(0x8000 + i * 16), 16, i));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  std::vector<contract::Event> events(stream.count());
  ASSERT_EQ(bench.read(reg::kEventCount), stream.count());
  for (uint32_t i = 0; i < stream.count(); ++i) {
    const auto event = contract::Event::load(bench.memory.data.data() + Bench::kEventBase + i * 64);
    events[event.command] = event;
  }
  const uint64_t first_done = events[1].completed;
  EXPECT_LT(events[1 + small_machine().fifo_depth].issued, first_done);
  EXPECT_GE(events[2 + small_machine().fifo_depth].issued, first_done);
}

TEST(CommandsTest, EventRecords) {
  Bench bench;
  bench.write(reg::kEventBaseLo, Bench::kEventBase);
  bench.write(reg::kEventCapacity, 3);
  Stream stream(small_machine());
  contract::DmaCommand load = copy(2, dram(0), spm(0), 128);
  load.header.layer = 42;
  stream.add(load);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.read(reg::kEventCount), 3u);
  const auto event = contract::Event::load(bench.memory.data.data() + Bench::kEventBase + 64);
  EXPECT_EQ(event.command, 1u);
  EXPECT_EQ(event.layer, 42u);
  EXPECT_EQ(event.queue, 2u);
  EXPECT_EQ(event.opcode, static_cast<uint32_t>(contract::Opcode::kDma));
  EXPECT_LE(event.issued, event.started);
  EXPECT_LT(event.started, event.completed);
  EXPECT_EQ(event.completed - event.started, event.busy + event.stalled);
  EXPECT_EQ(event.busy, 128u / 16);
  EXPECT_EQ(event.dram_read, 128u);
  EXPECT_EQ(event.dram_written, 0u);
  // One too many: counted, not written.
  bench.write(reg::kEventCapacity, 2);
  std::fill_n(bench.memory.data.begin() + Bench::kEventBase, 192, uint8_t{0});
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.read(reg::kEventCount), 3u);
  EXPECT_EQ(bench.memory.data[Bench::kEventBase + 2 * 64 + 7], 0u);
}

TEST(CommandsTest, SameCyclesAgainAndAfterReset) {
  Bench bench;
  Stream stream(small_machine());
  for (uint32_t i = 0; i < 8; ++i) {
    stream.add(copy(i % 2, dram(i * 0x800), spm(i * 0x800), 0x800));
    stream.add(ewise(spm(i * 0x800), spm(0x8000 + i * 0x800), 0x800), {{i % 2, 1}});
  }
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  const uint64_t cycles = bench.job_cycles();
  EXPECT_GT(cycles, 1000u);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.job_cycles(), cycles);
  sc_core::sc_start(sc_core::sc_time(333, sc_core::SC_PS));  // another phase of the clock
  Stream broken(small_machine());
  broken.add(copy(0, dram(0), spm(0x10000 - 16), 32));
  ASSERT_TRUE(bench.run(broken));
  EXPECT_EQ(bench.fault(), ErrorCode::kFaultOutOfBounds);
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.job_cycles(), cycles);
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlColdResetMask); });
  ASSERT_TRUE(bench.run(stream));
  EXPECT_EQ(bench.job_cycles(), cycles);
}

TEST(CommandsTest, FunctionalModeGivesTheSameBitsInNoCycles) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  Bench bench(options);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0x100), spm(0), 256));
  stream.add(ewise(spm(0), spm(0x400), 256), {{0, 1}});
  stream.add(copy(1, spm(0x400), dram(0x1000), 256), {{9, 1}});
  for (uint32_t i = 0; i < 200; ++i) stream.add(fill(2, spm(0x8000 + i * 16), 16, i));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_TRUE(std::equal(bench.memory.data.begin() + 0x100, bench.memory.data.begin() + 0x200,
                         bench.memory.data.begin() + 0x1000));
  EXPECT_EQ(bench.job_cycles(), 0u);
  EXPECT_EQ(bench.memory.bursts + bench.memory.blocking, 0u);  // DMI
  bench.expect_identities();
}

TEST(CommandsTest, FunctionalModeWithoutDmi) {
  BenchOptions options;
  options.mode = Mode::kFunctional;
  options.dmi = false;
  Bench bench(options);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0x100), dram(0x1000), 256));
  ASSERT_TRUE(bench.run(stream));
  ASSERT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_TRUE(std::equal(bench.memory.data.begin() + 0x100, bench.memory.data.begin() + 0x200,
                         bench.memory.data.begin() + 0x1000));
  EXPECT_GT(bench.memory.blocking, 0u);
}

TEST(CommandsTest, ScratchpadIsPoisonedAtJobStart) {
  BenchOptions options;
  options.poison = true;
  Bench bench(options);
  Stream stream(small_machine());
  stream.add(copy(0, dram(0), spm(0x100), 64));
  ASSERT_TRUE(bench.run(stream));
  for (uint8_t byte : bench.dump_scratchpad(0, 0x200)) ASSERT_EQ(byte, Scratchpad::kPoison);
}

}  // namespace
}  // namespace npu::model::testing
