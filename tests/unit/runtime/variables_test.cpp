// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "driver/runtime/variable_manager.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
namespace reg = contract::reg;

std::vector<uint8_t> bytes_of(std::initializer_list<uint8_t> list) { return list; }

TEST(Variables, FirstDeclarationWritesContentThenTableEntry) {
  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(make_program());
  compiler::Program wanted = make_program({int8_variable("v", 4, {1, 2, 3, 4}), int8_variable("w", 20)});
  const LoadedProgram loaded = context.load(wanted);
  // 4 table entries of 16 bytes come first; pieces start at multiples of 16.
  std::vector<MockHal::Access> variable_traffic;
  for (const MockHal::Access& access : opened.mock.log()) {
    const bool table = access.address >= reg::kVarIndex && access.address <= reg::kVarWord3;
    if (access.kind == MockHal::Kind::kWritePersistent || (access.kind == MockHal::Kind::kWriteRegister && table)) {
      variable_traffic.push_back(access);
    }
  }
  ASSERT_EQ(variable_traffic.size(), 14u);
  // All of the memory is written, whatever may be wrong in its words.
  const std::vector<std::string> want = {
      "write 16 bytes of persistent SRAM at 0x40 = 01 02 03 04 00 00 00 00 00 00 00 00 00 00 00 00",
      "write var_index = 0x0",
      "write var_word1 = 0x0",  // free while it is written
      "write var_word0 = 0x40",
      "write var_word2 = 0x10001",  // owner 1, written
      "write var_word3 = 0xfb630373",
      "write var_word1 = 0x4",
      "write 32 bytes of persistent SRAM at 0x50 = 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ...",
      "write var_index = 0x1",
      "write var_word1 = 0x0",
      "write var_word0 = 0x50",
      "write var_word2 = 0x1",  // not written
      "write var_word3 = 0xfc5727a3",
      "write var_word1 = 0x14",
  };
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(MockHal::to_string(variable_traffic[i]), want[i]);
}

TEST(Variables, InitialValueIsAppliedOnFirstAllocationOnly) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram first = context.load(make_program({int8_variable("v", 4, {1, 2, 3, 4})}));
  context.write_variable("v", int8_value({9, 9, 9, 9}));
  const LoadedProgram second = context.load(make_program({int8_variable("v", 4, {5, 6, 7, 8})}));
  EXPECT_EQ(context.read_variable("v").bytes, bytes_of({9, 9, 9, 9}));
  context.clear();
  const LoadedProgram third = context.load(make_program({int8_variable("v", 4, {5, 6, 7, 8})}));
  EXPECT_EQ(context.read_variable("v").bytes, bytes_of({5, 6, 7, 8}));
}

TEST(Variables, ContextsNeverShare) {
  Opened opened;
  Context a = opened.device.create_context();
  Context b = opened.device.create_context();
  const LoadedProgram pa = a.load(make_program({int8_variable("v", 4, {1, 1, 1, 1})}));
  const LoadedProgram pb = b.load(make_program({int8_variable("v", 4, {2, 2, 2, 2})}));
  EXPECT_NE(a.owner(), b.owner());
  EXPECT_NE(a.variables()[0].offset, b.variables()[0].offset);
  a.clear();
  EXPECT_TRUE(a.variables().empty());
  EXPECT_EQ(b.read_variable("v").bytes, bytes_of({2, 2, 2, 2}));
}

TEST(Variables, WithoutInitialValueIsUnwrittenUnlessZeroInit) {
  Opened opened;
  Context plain = opened.device.create_context();
  const LoadedProgram p = plain.load(make_program({int8_variable("v", 4)}));
  EXPECT_FALSE(plain.variables()[0].is_written);
  const auto [code, text] = error_of([&] { static_cast<void>(plain.read_variable("v")); });
  EXPECT_EQ(code, ErrorCode::kVariableUnwritten);
  EXPECT_CONTAINS(text, "'v'");
  Context zero = opened.device.create_context({.zero_init = true});
  opened.mock.persistent().assign(1024, 7);
  const LoadedProgram z = zero.load(make_program({int8_variable("v", 4)}));
  EXPECT_TRUE(zero.variables()[0].is_written);
  EXPECT_EQ(zero.read_variable("v").bytes, bytes_of({0, 0, 0, 0}));
}

TEST(Variables, MemoryOfAnUnwrittenOneHoldsNothingOfOthers) {
  Opened opened;
  Context context = opened.device.create_context();
  compiler::Variable variable = int8_variable("v", 100);
  for (const bool in_dram : {false, true}) {
    context.clear();
    std::vector<uint8_t>& dram = opened.mock.dram(uint64_t{1} << 20);
    dram.assign(dram.size(), 7);
    opened.mock.persistent().assign(1024, 7);
    variable.in_dram = in_dram;
    const LoadedProgram program = context.load(make_program({variable}));
    const VariableInfo info = context.variables().at(0);
    ASSERT_EQ(info.in_dram, in_dram);
    const std::vector<uint8_t>& memory = in_dram ? dram : opened.mock.persistent();
    const auto begin = memory.begin() + static_cast<ptrdiff_t>(info.offset);
    EXPECT_EQ(std::vector<uint8_t>(begin, begin + 100), std::vector<uint8_t>(100));
  }
}

TEST(Variables, AnotherShapeOrTypeIsAnErrorThatNamesBoth) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram first = context.load(make_program({int8_variable("state/a", 4)}));
  const auto [code, text] = error_of([&] {
    static_cast<void>(context.load(make_program({int8_variable("new", 4), int8_variable("state/a", 8)})));
  });
  EXPECT_EQ(code, ErrorCode::kVariableMismatch);
  EXPECT_CONTAINS(text, "'state/a'");
  EXPECT_CONTAINS(text, "INT8[8]");
  EXPECT_CONTAINS(text, "INT8[4]");
  EXPECT_EQ(context.variables().size(), 1u);  // "new" was rolled back
}

TEST(Variables, PersistentFullNamesNumbersAndTheSmallestMachine) {
  Opened opened;
  Context context = opened.device.create_context();
  const auto [code, text] = error_of([&] {
    static_cast<void>(context.load(make_program({int8_variable("a", 900), int8_variable("b", 1200)})));
  });
  EXPECT_EQ(code, ErrorCode::kPersistentFull);
  EXPECT_CONTAINS(text, "'b' needs 1200 bytes");
  EXPECT_CONTAINS(text, "48 of 960");  // 960 - 912
  EXPECT_CONTAINS(text, "psram_bytes: 4096");
  EXPECT_EQ(opened.device.memory_use().persistent_used, 0u);
  EXPECT_EQ(opened.device.memory_use().dram_used, 0u);
}

// What is written takes two of them, though the one that finds no place takes one.
TEST(Variables, PersistentFullCountsThePlacesOfEachVariable) {
  for (const bool written_first : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context({.double_buffer = true});
    compiler::Variable written = int8_variable("w", 400);
    written.written = true;
    std::vector<compiler::Variable> variables = {int8_variable("r", 1232), written};
    if (written_first) std::swap(variables[0], variables[1]);
    const auto [code, text] = error_of([&] { static_cast<void>(context.load(make_program(variables))); });
    EXPECT_EQ(code, ErrorCode::kPersistentFull);
    EXPECT_CONTAINS(text, "'r' needs 1232 bytes");
    EXPECT_CONTAINS(text, "psram_bytes: 4096");  // 64 + 1232 + 2 * 400 = 2096
  }
  // One that the context holds already, and that will need its second place, too.
  Opened opened;
  Context context = opened.device.create_context({.double_buffer = true});
  const LoadedProgram reader = context.load(make_program({int8_variable("w", 480)}));
  compiler::Variable written = int8_variable("w", 480);
  written.written = true;
  const auto [code, text] = error_of([&] {
    static_cast<void>(context.load(make_program({int8_variable("r", 1040), written})));
  });
  EXPECT_EQ(code, ErrorCode::kPersistentFull);
  EXPECT_CONTAINS(text, "'r' needs 1040 bytes");
  EXPECT_CONTAINS(text, "psram_bytes: 4096");  // 64 + 1040 + 2 * 480 = 2064
}

TEST(Variables, TableFullNamesTheSmallestMachine) {
  Opened opened;
  Context context = opened.device.create_context();
  std::vector<compiler::Variable> five;
  for (int i = 0; i < 5; ++i) five.push_back(int8_variable(std::string(1, static_cast<char>('a' + i)), 4));
  const auto [code, text] = error_of([&] { static_cast<void>(context.load(make_program(five))); });
  EXPECT_EQ(code, ErrorCode::kVariableTableFull);
  EXPECT_CONTAINS(text, "all 4 are taken");
  EXPECT_CONTAINS(text, "var_entries: 8");
  EXPECT_EQ(opened.device.memory_use().variables, 0u);
}

TEST(Variables, ClearedEntryIsFreeInTheTable) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram program =
      context.load(make_program({int8_variable("a", 4, {1, 2, 3, 4}), int8_variable("b", 4)}));
  context.clear("a");
  EXPECT_EQ(opened.mock.persistent()[0], 0);
  EXPECT_EQ(opened.mock.persistent()[4], 0);  // length
  ASSERT_EQ(context.variables().size(), 1u);
  EXPECT_EQ(context.variables()[0].identity, "b");
  EXPECT_EQ(error_of([&] { context.clear("a"); }).first, ErrorCode::kVariableUndeclared);
}

TEST(Variables, NextJobAllocatesClearedVariablesAgainAndPatchesMovedOnes) {
  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram first = context.load(make_program({int8_variable("a", 4)}));
  LoadedProgram second = context.load(make_program({int8_variable("b", 4, {1, 2, 3, 4})}));
  Job job = second.create_job();
  job.set_input("x", int8_value({1, 2, 3, 4}));
  context.clear();
  job.run();  // only "b" is declared, so it moves to entry 0
  ASSERT_EQ(context.variables().size(), 1u);
  EXPECT_EQ(context.variables()[0].index, 0u);
  EXPECT_EQ(context.read_variable("b").bytes, bytes_of({1, 2, 3, 4}));
  const uint64_t commands = second.constant_address(0) + 4096;
  EXPECT_EQ(opened.mock.dram(commands + 4096)[commands + 4 * (8 + 5)], 0);
  EXPECT_EQ(opened.mock.dram(commands + 4096)[commands + 4 * (8 + 7 + 6) + 1], 0);
}

TEST(Variables, WriteChecksTypeAndShapeAndMarksAsWritten) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram program = context.load(make_program({int8_variable("v", 4)}));
  EXPECT_EQ(error_of([&] { context.write_variable("v", int8_value({1})); }).first, ErrorCode::kVariableMismatch);
  EXPECT_EQ(error_of([&] { context.write_variable("u", int8_value({1})); }).first, ErrorCode::kVariableUndeclared);
  context.write_variable("v", int8_value({1, 2, 3, 4}));
  EXPECT_TRUE(context.variables()[0].is_written);
}

TEST(Variables, ClearIsRefusedWhileAJobOfTheContextRuns) {
  Opened opened;
  opened.mock.on_start = [](MockHal&) {};
  Context context = opened.device.create_context();
  Context other = opened.device.create_context();
  LoadedProgram program = context.load(make_program({int8_variable("v", 4)}));
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.start();
  EXPECT_EQ(error_of([&] { context.clear(); }).first, ErrorCode::kWrongOrder);
  EXPECT_EQ(error_of([&] { context.clear("v"); }).first, ErrorCode::kWrongOrder);
  EXPECT_EQ(error_of([&] { static_cast<void>(context.read_variable("v")); }).first, ErrorCode::kWrongOrder);
  other.clear();
  opened.mock.end_job();
  EXPECT_TRUE(job.wait(std::chrono::seconds(1)));
  context.clear();
  EXPECT_TRUE(context.variables().empty());
}

TEST(Variables, SeenIsForgottenBeforeEpochsRepeat) {
  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(make_program({int8_variable("v", 4, {1, 2, 3, 4})}));
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  constexpr size_t kFlags = 10;
  for (int i = 1; i <= 255; ++i) job.run();
  opened.mock.persistent()[kFlags] = 3;  // as a device marks a declared variable
  job.run();
  EXPECT_EQ(opened.mock.get_register(reg::kJobEpoch), 256u);
  EXPECT_EQ(opened.mock.persistent()[kFlags], 1);
}

// A table that fails at the write with this number.
struct FailingTable final : VariableEntries {
  void write_entries(std::span<const Write> entries) override {
    if (--writes_left < 0) throw Error(ErrorCode::kFaultBus, "the table cannot be written.");
    for (const Write& write : entries) contents[write.index] = write.entry;
  }
  std::vector<contract::VariableEntry> read_entries(std::span<const uint32_t> indices) override {
    std::vector<contract::VariableEntry> entries;
    for (const uint32_t index : indices) entries.push_back(contents[index]);
    return entries;
  }

  int writes_left = 0;
  std::array<contract::VariableEntry, 4> contents;
};

TEST(Variables, NothingStaysAllocatedWhenTheTableCannotBeWritten) {
  MockHal hal(small_machine());
  FailingTable table;
  RangeAllocator dram(0, 1 << 20, 4096);
  VariableManager variables(hal, table, small_machine(), dram);
  const std::vector<compiler::Variable> wanted = {int8_variable("a", 4), int8_variable("b", 4, {1, 2, 3, 4})};
  for (int writes = 0; writes < 2; ++writes) {
    table.writes_left = writes;
    EXPECT_EQ(error_of([&] { static_cast<void>(variables.declare(1, wanted, {})); }).first, ErrorCode::kFaultBus);
    EXPECT_EQ(variables.entries_used(), 0u);
    EXPECT_EQ(variables.bytes_used(), 0u);
  }
  table.writes_left = 2;
  EXPECT_EQ(variables.declare(1, wanted, {}), (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace npu::runtime
