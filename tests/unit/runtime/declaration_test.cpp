// SPDX-License-Identifier: Apache-2.0
// What declarations of several programs and contexts make of variables, and that refused ones leave nothing behind.
#include <algorithm>

#include "hw/contract/gen/registers.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

std::vector<uint8_t> filled(uint32_t bytes, uint8_t value) { return std::vector<uint8_t>(bytes, value); }

compiler::Program program_with(uint8_t initial) { return make_program({int8_variable("v", 4, filled(4, initial))}); }

void run(LoadedProgram& program) {
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.run();
}

uint64_t entry_writes(const MockHal& mock) {
  return static_cast<uint64_t>(std::count_if(mock.log().begin(), mock.log().end(), [](const auto& access) {
    return access.kind == MockHal::Kind::kWriteRegister && access.address == contract::reg::kVarIndex;
  }));
}

TEST(InitialValues, AreThoseOfTheProgramThatRunsFirst) {
  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram first = context.load(program_with(100)), second = context.load(program_with(7));
  EXPECT_EQ(context.read_variable("v").bytes, filled(4, 100));  // so far
  run(second);
  EXPECT_EQ(context.read_variable("v").bytes, filled(4, 7));
  run(first);
  EXPECT_EQ(context.read_variable("v").bytes, filled(4, 7));
  opened.mock.clear_log();
  run(second);
  run(first);
  EXPECT_EQ(entry_writes(opened.mock), 0u);
  // After a clear once more.
  context.clear();
  run(first);
  EXPECT_EQ(context.read_variable("v").bytes, filled(4, 100));
}

TEST(InitialValues, NoneOfTheProgramThatRunsFirstIsNoneForAll) {
  for (const bool zero_init : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context({.zero_init = zero_init});
    LoadedProgram first = context.load(program_with(100)), second = context.load(make_program({int8_variable("v", 4)}));
    run(second);
    EXPECT_EQ(context.variables()[0].is_written, zero_init);
    if (zero_init) {
      EXPECT_EQ(context.read_variable("v").bytes, filled(4, 0));
    }
    run(first);
    EXPECT_EQ(context.variables()[0].is_written, zero_init);
  }
}

TEST(InitialValues, EndWithTheFirstWriteOfTheHost) {
  for (const bool restore : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context();
    const LoadedProgram first = context.load(program_with(100));
    LoadedProgram second = context.load(program_with(7));
    if (restore) {
      context.restore(context.snapshot());
    } else {
      context.write_variable("v", int8_value(filled(4, 100)));
    }
    run(second);
    EXPECT_EQ(context.read_variable("v").bytes, filled(4, 100));
  }
}

TEST(InitialValues, EqualOnesAreNotWrittenAgain) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram first = context.load(program_with(7));
  LoadedProgram second = context.load(program_with(7));
  opened.mock.clear_log();
  run(second);
  EXPECT_EQ(entry_writes(opened.mock), 0u);
}

// As the reference has it: what this job declares behind the read is too late.
TEST(InitialValues, ComeTooLateForAReadBeforeTheDeclaration) {
  for (const bool zero_init : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context({.zero_init = zero_init});
    compiler::Program early = program_with(7);
    early.variables[0].read_first = true;
    LoadedProgram second = context.load(early), first = context.load(program_with(100));
    for (int i = 0; i < 2; ++i) {
      try {
        run(second);
        ADD_FAILURE() << "ran";
      } catch (const Error& error) {
        EXPECT_EQ(contract::name(error.code()), contract::name(ErrorCode::kVariableUndeclared));
        EXPECT_NE(std::string(error.what()).find("variable 'v' is used before its declaration"), std::string::npos)
            << error.what();
      }
    }
    run(first);
    EXPECT_NO_THROW(run(second));
    EXPECT_EQ(context.read_variable("v").bytes, filled(4, 100));
    context.clear();
    EXPECT_THROW(run(second), Error);
    context.write_variable("v", int8_value(filled(4, 3)));
    EXPECT_NO_THROW(run(second));
  }
}

TEST(Refused, LoadLeavesVariablesWhereTheyWere) {
  Booted booted;
  for (const bool in_dram : {false, true}) {
    Context context = booted.device.create_context({.double_buffer = !in_dram});
    compiler::Variable small = int8_variable("x", 200, filled(200, 7));
    small.in_dram = in_dram;
    const LoadedProgram first = context.load(make_program({small}));
    const MemoryUse before = booted.device.memory_use();
    small.written = true;  // so that it gets two places, or moves into the persistent SRAM
    small.in_dram = false;
    const auto [code, text] = error_of([&] {
      static_cast<void>(context.load(make_program({small, int8_variable("new", 16), int8_variable("large", 900)})));
    });
    EXPECT_EQ(code, ErrorCode::kPersistentFull);
    EXPECT_CONTAINS(text, "'large'");
    EXPECT_EQ(booted.device.memory_use().persistent_used, before.persistent_used);
    EXPECT_EQ(booted.device.memory_use().dram_used, before.dram_used);
    ASSERT_EQ(context.variables().size(), 1u);
    const VariableInfo info = context.variables()[0];
    EXPECT_FALSE(info.double_buffered);
    EXPECT_EQ(info.in_dram, in_dram);
    EXPECT_EQ(context.read_variable("x").bytes, filled(200, 7));
    // It is not taken for written, either.
    small.written = false;
    small.in_dram = in_dram;
    const LoadedProgram again = context.load(make_program({small}));
    EXPECT_FALSE(context.variables()[0].double_buffered);
    EXPECT_EQ(booted.device.memory_use().persistent_used, before.persistent_used);
  }
}

TEST(Refused, RestoreLeavesNothingOfEarlierPrograms) {
  Booted booted;
  Context context = booted.device.create_context();
  const LoadedProgram small = context.load(make_program({int8_variable("c", 16)}));
  const LoadedProgram first = context.load(make_program({int8_variable("a", 600)}));
  const Snapshot saved = context.snapshot();
  context.clear();
  const LoadedProgram second = context.load(make_program({int8_variable("b", 600)}));
  Snapshot both = saved;
  both.variables.insert(both.variables.begin() + 1, context.snapshot().variables.at(0));
  const MemoryUse before = booted.device.memory_use();
  EXPECT_EQ(error_of([&] { context.restore(both); }).first, ErrorCode::kPersistentFull);
  EXPECT_EQ(booted.device.memory_use().variables, before.variables);
  EXPECT_EQ(booted.device.memory_use().persistent_used, before.persistent_used);
  ASSERT_EQ(context.variables().size(), 1u);
  EXPECT_EQ(context.variables()[0].identity, "b");
}

// Ends the job with two wrong bits in an entry of the table.
void fail_at_entry(MockHal& mock, uint32_t index) {
  namespace reg = contract::reg;
  mock.set_register(reg::kFaultOther, index);
  mock.set_register(reg::kFaultAddressHi, static_cast<uint32_t>(contract::Region::kVariable) | index << 8);
  mock.end_job_with_fault(ErrorCode::kFaultEcc);
}

TEST(DamagedEntry, StopsOthersOnce) {
  Opened opened;
  Context a = opened.device.create_context(), b = opened.device.create_context();
  LoadedProgram pa = a.load(program_with(9)), pb = b.load(make_program());
  run(pa);
  const auto well = opened.mock.on_start;
  opened.mock.wrong_words = {0};
  opened.mock.on_start = [](MockHal& mock) { fail_at_entry(mock, 0); };
  const auto [code, text] = error_of([&] { run(pb); });
  EXPECT_EQ(code, ErrorCode::kFaultEcc);
  EXPECT_CONTAINS(text, "'v' of context 1");
  EXPECT_CONTAINS(text, "run the job again");
  opened.mock.on_start = well;
  run(pb);
  EXPECT_TRUE(opened.mock.wrong_words.empty());
  EXPECT_TRUE(a.variables().at(0).torn);
  const auto [torn, why] = error_of([&] { static_cast<void>(a.read_variable("v")); });
  EXPECT_EQ(torn, ErrorCode::kVariableTorn);
  EXPECT_CONTAINS(why, "the table entry of variable 'v' had two wrong bits");
  a.write_variable("v", int8_value(filled(4, 3)));
  EXPECT_EQ(a.read_variable("v").bytes, filled(4, 3));
}

TEST(DamagedEntry, IsToldByTheOwnersJob) {
  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(program_with(9));
  opened.mock.wrong_words = {8};
  const auto well = opened.mock.on_start;
  opened.mock.on_start = [](MockHal& mock) { fail_at_entry(mock, 0); };
  const auto [code, text] = error_of([&] { run(program); });
  EXPECT_EQ(code, ErrorCode::kFaultEcc);
  EXPECT_CONTAINS(text, "variable 'v' has two wrong bits");
  opened.mock.on_start = [](MockHal& mock) {
    mock.set_register(contract::reg::kFaultOther, 0);
    mock.end_job_with_fault(ErrorCode::kVariableTorn);
  };
  const auto [torn, why] = error_of([&] { run(program); });
  EXPECT_EQ(torn, ErrorCode::kVariableTorn);
  EXPECT_CONTAINS(why, "its table entry had two wrong bits");
  context.clear("v");
  opened.mock.on_start = well;
  run(program);
  EXPECT_EQ(context.read_variable("v").bytes, filled(4, 9));
}

TEST(DamagedEntry, FoundByTheHostOrAScrubIsMended) {
  Booted booted;
  Context a = booted.device.create_context(), b = booted.device.create_context();
  const LoadedProgram pa = a.load(program_with(9));
  LoadedProgram pb = b.load(make_program());
  for (const bool scrub : {false, true}) {
    booted.mock.wrong_words = {0};
    if (scrub) {
      EXPECT_EQ(booted.device.scrub().damaged, std::vector<std::string>{"v"});
    } else {
      EXPECT_EQ(error_of([&] { static_cast<void>(a.variables()); }).first, ErrorCode::kFaultEcc);
    }
    run(pb);
    EXPECT_TRUE(booted.mock.wrong_words.empty());
    EXPECT_TRUE(a.variables().at(0).torn);
    a.write_variable("v", int8_value(filled(4, 3)));
    EXPECT_FALSE(a.variables().at(0).torn);
  }
}

}  // namespace
}  // namespace npu::runtime
