// SPDX-License-Identifier: Apache-2.0
// Programs for sizes within bounds: what the driver asks of inputs, tells the device, and reads back.
#include <cstring>
#include <functional>

#include "driver/compiler/dram_needs.h"
#include "driver/compiler/size_check.h"
#include "driver/compiler/size_table.h"
#include "tests/unit/compiler/size_rule.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using graph::DType;
using Operation = contract::SizeOperation;
using Relation = contract::SizeRelation;

using compiler::testing::rule_of;

constexpr uint32_t kRuleWord = 1;  // of the begin command: its layer, and bits that are reserved

// x INT8[2..16, 4], z INT8[1..16] with as many elements -> y as x, t INT8[2 * z]. The fourth value is x.0 / 2.
compiler::Program sized_program(const std::vector<compiler::Variable>& variables = {}) {
  compiler::Program program = make_program(variables);
  program.inputs = {{"x", DType::kInt8, {16, 4}, false, 0, 64, {0, -1}}, {"z", DType::kInt8, {16}, false, 64, 16, {1}}};
  program.outputs = {{"y", DType::kInt8, {16, 4}, false, 0, 64, {0, -1}},
                     {"t", DType::kInt8, {32}, false, 64, 32, {3}}};
  program.input_bytes = 80;
  program.output_bytes = 96;
  compiler::SizeTable& table = program.sizes;
  table.symbols = {{"x.0", 2, 16}, {"z.0", 1, 16}};
  table.expressions = {{Operation::kConstant, 0, 2}, {Operation::kMul, 1, 2}, {Operation::kQuotient, 0, 2}};
  table.conditions = {{Relation::kEqual, 0, 1, "x.0 must equal z.0, says operator 3 (ADD)"},
                      {Relation::kDefined, 4, 0, "x.0 must be even, says operator 4 (RESHAPE)"}};
  table.results = {0, 3};
  const auto at_most = static_cast<int32_t>(program.commands[kRuleWord]);
  table.rules = {compiler::testing::rule_of(0, {{2, 1, at_most - 16}}, {kRuleWord})};
  return program;
}

graph::Value rows_value(int64_t rows, uint8_t first = 1) {
  graph::Value value{DType::kInt8, {rows, 4}, std::vector<uint8_t>(static_cast<size_t>(4 * rows))};
  for (uint8_t& byte : value.bytes) byte = first++;
  return value;
}

void set_inputs(Job& job, int64_t rows) {
  job.set_input("x", rows_value(rows));
  job.set_input("z", int8_value(std::vector<uint8_t>(static_cast<size_t>(rows), 7)));
}

template <typename Structure>
Structure load_at(MockHal& mock, uint64_t address) {
  return Structure::load(mock.dram(address + Structure::kBytes).data() + address);
}

std::vector<int64_t> values_at(MockHal& mock, uint64_t address, size_t count) {
  std::vector<int64_t> values(count);
  std::memcpy(values.data(), mock.dram(address + 8 * count).data() + address, 8 * count);
  return values;
}

// A device whose pretended firmware computes what a real one does, unless a test changes `results`.
struct Sized : testing::Test {
  Sized() {
    booted.firmware.on_run = [&](const MockFirmware::Run& run) {
      job = run.job;
      if (job.size_table != 0) answer();
      booted.firmware.complete(run);
    };
  }
  void answer() {
    header = load_at<contract::JobSizes>(booted.mock, job.sizes);
    sizes = values_at(booted.mock, job.sizes + contract::JobSizes::kBytes, header.symbols);
    const uint64_t at = job.sizes + contract::JobSizes::kBytes + 8 * uint64_t{header.symbols};
    before = values_at(booted.mock, at, 2);
    const std::vector<int64_t> right = {sizes[0], 2 * sizes[1]};
    const std::vector<int64_t>& said = results.empty() ? right : results;
    std::memcpy(booted.mock.dram(at + 16).data() + at, said.data(), 8 * said.size());
    for (uint32_t i = 0; i < 96; ++i) {
      booted.mock.dram(job.region_base[4] + 96)[job.region_base[4] + i] = static_cast<uint8_t>(100 + i);
    }
  }

  Booted booted;
  Context context = booted.device.create_context();
  contract::Job job;
  contract::JobSizes header;
  std::vector<int64_t> sizes, before, results;
};

TEST_F(Sized, AJobBringsItsSizes) {
  const compiler::Program program = sized_program();
  LoadedProgram loaded = context.load(program);
  Job run = loaded.create_job();
  for (const int64_t rows : {16, 2, 6}) {
    SCOPED_TRACE(rows);
    set_inputs(run, rows);
    run.run();
    EXPECT_EQ(sizes, (std::vector<int64_t>{rows, rows}));
    EXPECT_EQ(header.version, 1u);
    EXPECT_EQ(header.hash, compiler::hash_of(compiler::encode(program.sizes)));
    // No result of a run before stands there.
    EXPECT_EQ(before, std::vector<int64_t>(2, INT64_MIN));
    EXPECT_EQ(run.output("y").shape, (graph::Shape{rows, 4}));
    EXPECT_EQ(run.output("t").shape, (graph::Shape{2 * rows}));
    EXPECT_EQ(run.output("y").bytes.size(), static_cast<size_t>(4 * rows));
    EXPECT_EQ(run.output("y").bytes[1], 101);
    EXPECT_EQ(run.output("t").bytes.size(), static_cast<size_t>(2 * rows));
    EXPECT_EQ(run.output("t").bytes[0], 164);
  }
  EXPECT_NE(job.region_flags[0], 0u) << "jobs with another table have another number";
  EXPECT_EQ(job.size_table % 8, 0u);
  const std::vector<uint8_t> table = compiler::encode(program.sizes);
  const auto& memory = booted.mock.dram(job.size_table + table.size());
  EXPECT_TRUE(std::equal(table.begin(), table.end(), memory.begin() + static_cast<ptrdiff_t>(job.size_table)));
  LoadedProgram again = context.load(program);
  Job second = again.create_job();
  const uint32_t first_number = job.region_flags[0];
  set_inputs(second, 4);
  second.run();
  EXPECT_NE(job.region_flags[0], first_number);
}

// The job stays who it is: its function, its inputs, and what became of the last execution.
TEST_F(Sized, AJobRunsTheProgramOfItsSizes) {
  compiler::Program few = sized_program();
  for (compiler::SizeTable::Symbol& symbol : few.sizes.symbols) symbol.most = 8;
  few.sizes.rules = {rule_of(0, {{2, 1, static_cast<int32_t>(few.commands[kRuleWord]) - 8}}, {kRuleWord})};
  for (std::vector<compiler::Port>* ports : {&few.inputs, &few.outputs}) {
    for (compiler::Port& port : *ports) {
      port.shape.front() /= 2;
      port.bytes /= 2;
    }
  }
  LoadedProgram large = context.load(sized_program()), small = context.load(few);
  Job run = large.create_job();
  set_inputs(run, 16);
  run.run();
  const contract::Job first = job;
  run.change_program(small);
  EXPECT_EQ(run.output("y").shape, (graph::Shape{16, 4})) << "nothing has run since";
  EXPECT_EQ(error_of([&] { run.start(); }).first, ErrorCode::kSizeOutOfBounds);
  EXPECT_EQ(run.output("y").shape, (graph::Shape{16, 4}));
  set_inputs(run, 8);
  run.run();
  EXPECT_NE(job.size_table, first.size_table);
  EXPECT_EQ(run.output("y").shape, (graph::Shape{8, 4}));
  run.change_program(large);
  run.run();
  EXPECT_EQ(job.size_table, first.size_table);
  EXPECT_EQ(sizes, (std::vector<int64_t>{8, 8})) << "inputs stay set";
  run.start();
  EXPECT_EQ(error_of([&] { large.require_idle(); }).first, ErrorCode::kWrongOrder);
  EXPECT_NO_THROW(small.require_idle());
  EXPECT_EQ(error_of([&] { run.change_program(small); }).first, ErrorCode::kWrongOrder);
  while (!run.wait(std::chrono::seconds(1))) {
  }
  EXPECT_NO_THROW(large.require_idle());
  Context elsewhere = booted.device.create_context();
  EXPECT_EQ(error_of([&] { run.change_program(elsewhere.load(few)); }).first, ErrorCode::kBadOption);
  EXPECT_EQ(error_of([&] { run.change_program(context.load(make_program())); }).first, ErrorCode::kBadOption);
  run.run();
  EXPECT_EQ(job.size_table, first.size_table);
}

TEST_F(Sized, AJobOfFixedSizesBringsNone) {
  LoadedProgram loaded = context.load(make_program());
  Job run = started(loaded);
  run.run();
  EXPECT_EQ(job.size_table, 0u);
  EXPECT_EQ(job.sizes, 0u);
  EXPECT_EQ(job.region_flags[0], 0u);
}

// Only the bytes of the actual shapes move; what a larger input has left is gone.
TEST_F(Sized, OnlyTheBytesOfTheSizesMove) {
  LoadedProgram loaded = context.load(sized_program());
  Job run = loaded.create_job();
  set_inputs(run, 16);
  run.run();
  set_inputs(run, 4);
  booted.mock.clear_log();
  run.run();
  uint64_t read = 0, written = 0;
  for (const MockHal::Access& access : booted.mock.log()) {
    const bool out = access.address >= job.region_base[4] && access.address < job.region_base[4] + 96;
    const bool in = access.address >= job.region_base[3] && access.address < job.region_base[3] + 80;
    if (access.kind == MockHal::Kind::kReadMemory && out) read += access.size;
    if (access.kind == MockHal::Kind::kWriteMemory && in) written += access.size;
  }
  EXPECT_EQ(read, 4 * 4 + 2 * 4u);
  EXPECT_EQ(written, 4 * 4 + 4u);
  const auto& memory = booted.mock.dram(job.region_base[3] + 80);
  EXPECT_EQ(memory[job.region_base[3] + 15], 16);
  EXPECT_EQ(memory[job.region_base[3] + 16], 0xa5);
  EXPECT_EQ(memory[job.region_base[3] + 63], 0xa5);
  EXPECT_EQ(memory[job.region_base[3] + 64], 7);
}

TEST_F(Sized, InputsMustFitTheirPort) {
  LoadedProgram loaded = context.load(sized_program());
  Job run = loaded.create_job();
  const auto refusal = [&](const graph::Value& value) { return error_of([&] { run.set_input("x", value); }); };
  for (const int64_t rows : {0, 1, 17}) {
    const auto [code, text] = refusal(rows_value(rows));
    EXPECT_EQ(code, ErrorCode::kSizeOutOfBounds);
    EXPECT_CONTAINS(text, "dimension 0 of input 'x' is " + std::to_string(rows));
    EXPECT_CONTAINS(text, "compiled for 2 to 16");
  }
  graph::Value wrong = rows_value(4);
  wrong.shape = {4, 4, 1};
  EXPECT_EQ(refusal(wrong).first, ErrorCode::kBadInput);
  wrong.shape = {8, 2};
  const auto [code, text] = refusal(wrong);
  EXPECT_EQ(code, ErrorCode::kBadInput);
  EXPECT_CONTAINS(text, "input 'x' takes INT8[2..16, 4], not INT8[8, 2] in 16 bytes");
  wrong = rows_value(4);
  wrong.bytes.pop_back();
  EXPECT_EQ(refusal(wrong).first, ErrorCode::kBadInput);
  wrong = rows_value(4);
  wrong.type = DType::kInt16;
  EXPECT_EQ(refusal(wrong).first, ErrorCode::kBadInput);
  const auto [unset, unset_text] = error_of([&] { run.start(); });
  EXPECT_EQ(unset, ErrorCode::kBadInput);
  EXPECT_CONTAINS(unset_text, "input 'x' (INT8[2..16, 4]) was not set");
  set_inputs(run, 4);
  run.run();
}

// Nothing is sent, and the job can be started with other inputs.
TEST_F(Sized, SizesMustFitEachOther) {
  LoadedProgram loaded = context.load(sized_program());
  Job run = loaded.create_job();
  set_inputs(run, 4);
  run.run();
  run.set_input("z", int8_value(std::vector<uint8_t>(5, 7)));
  booted.mock.clear_log();
  const auto [code, text] = error_of([&] { run.start(); });
  EXPECT_EQ(code, ErrorCode::kSizeMismatch);
  EXPECT_EQ(text, "x.0 must equal z.0, says operator 3 (ADD): they are 4 and 5.");
  EXPECT_TRUE(booted.mock.log().empty());
  set_inputs(run, 5);
  const auto [odd, odd_text] = error_of([&] { run.start(); });
  EXPECT_EQ(odd, ErrorCode::kSizeMismatch);
  EXPECT_EQ(odd_text, "x.0 must be even, says operator 4 (RESHAPE): it is undefined.");
  EXPECT_TRUE(booted.mock.log().empty());
  set_inputs(run, 6);
  run.run();
  EXPECT_EQ(sizes, (std::vector<int64_t>{6, 6}));
}

// Where no condition demands it, either: the fourth value is x.0 / 2.
TEST_F(Sized, WhatWordsFollowFromIsDefined) {
  compiler::Program program = sized_program();
  program.sizes.conditions.pop_back();
  compiler::Program of_rules = program, of_results = program;
  const auto at_most = static_cast<int32_t>(program.commands[kRuleWord]);
  of_rules.sizes.rules = {rule_of(4, {{1, 1, at_most - 8}}, {kRuleWord})};
  of_results.sizes.results = {0, 4};
  for (const compiler::Program& wrong : {of_rules, of_results}) {
    LoadedProgram loaded = context.load(wrong);
    Job run = loaded.create_job();
    set_inputs(run, 5);
    booted.mock.clear_log();
    const auto [code, text] = error_of([&] { run.start(); });
    EXPECT_EQ(code, ErrorCode::kContractMismatch);
    EXPECT_CONTAINS(text, "value 4 of its sizes is undefined");
    EXPECT_TRUE(booted.mock.log().empty());
  }
}

TEST_F(Sized, InputsOfOneSizeMustAgree) {
  compiler::Program program = sized_program();
  program.sizes.symbols.resize(1);
  program.sizes.symbols[0].least = 2;
  program.sizes.expressions = {{Operation::kConstant, 0, 2}, {Operation::kMul, 0, 1}};
  program.sizes.conditions.clear();
  program.sizes.results = {0, 2};
  program.inputs[1].sizes = {0};
  program.outputs[1].sizes = {2};
  LoadedProgram loaded = context.load(program);
  Job run = loaded.create_job();
  set_inputs(run, 4);
  run.set_input("z", int8_value(std::vector<uint8_t>(5, 7)));
  const auto [code, text] = error_of([&] { run.start(); });
  EXPECT_EQ(code, ErrorCode::kSizeMismatch);
  EXPECT_CONTAINS(text, "dimension 0 of input 'z' is 5, but dimension 0 of input 'x' is 4; they are the same size.");
  // A dimension that follows from another one.
  program.inputs[1].sizes = {2};
  program.inputs[1].shape = {32};
  program.inputs[1].bytes = 32;
  program.input_bytes = 96;
  LoadedProgram derived = context.load(program);
  Job other = derived.create_job();
  other.set_input("x", rows_value(4));
  other.set_input("z", int8_value(std::vector<uint8_t>(5, 7)));
  const auto [derived_code, derived_text] = error_of([&] { other.start(); });
  EXPECT_EQ(derived_code, ErrorCode::kSizeMismatch);
  EXPECT_CONTAINS(derived_text, "dimension 0 of input 'z' is 5, but by the other sizes it must be 8.");
}

TEST_F(Sized, AnOutputWithoutRoomIsRefused) {
  compiler::Program program = sized_program();
  program.outputs[1].shape = {20};
  program.outputs[1].bytes = 20;
  LoadedProgram loaded = context.load(program);
  Job run = loaded.create_job();
  set_inputs(run, 10);
  run.run();
  set_inputs(run, 12);
  const auto [code, text] = error_of([&] { run.start(); });
  EXPECT_EQ(code, ErrorCode::kContractMismatch);
  EXPECT_CONTAINS(text, "output 't' would be INT8[24], which has no room");
}

TEST_F(Sized, DeviceAndDriverMustAgree) {
  LoadedProgram loaded = context.load(sized_program());
  Job run = loaded.create_job();
  set_inputs(run, 4);
  results = {4, 9};
  const auto [code, text] = error_of([&] { run.run(); });
  EXPECT_EQ(code, ErrorCode::kFaultSizes);
  EXPECT_CONTAINS(text, "the device says that value 3 of the job's sizes is 9, but it is 8");
  results = {INT64_MIN, INT64_MIN};  // it wrote nothing
  EXPECT_EQ(error_of([&] { run.run(); }).first, ErrorCode::kFaultSizes);
  results.clear();
  run.run();
}

// What the driver did not find, the firmware does.
TEST_F(Sized, TheFirmwaresRefusalsHaveWords) {
  LoadedProgram loaded = context.load(sized_program());
  Job run = loaded.create_job();
  set_inputs(run, 4);
  const auto refusal = [&](ErrorCode code, uint32_t other) {
    booted.firmware.on_run = [this, code, other](const MockFirmware::Run& request) {
      contract::RingCompletion completion;
      completion.code = static_cast<uint32_t>(code);
      completion.fault_other = other;
      booted.firmware.complete(request, completion);
    };
    try {
      run.run();
    } catch (const FaultError& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(error.fault().other, other);
      EXPECT_FALSE(error.fault().layer) << "it is about no command";
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_CONTAINS(refusal(ErrorCode::kSizeOutOfBounds, 1), "size 'z.0' is not within 1 to 16");
  EXPECT_CONTAINS(refusal(ErrorCode::kSizeMismatch, 1), "x.0 must be even, says operator 4 (RESHAPE)");
  EXPECT_CONTAINS(refusal(ErrorCode::kFaultPatch, 0),
                  "rule 0 of its sizes is for a word that the stream does not have");
  for (const ErrorCode code : {ErrorCode::kFaultSizes, ErrorCode::kSizeOutOfBounds, ErrorCode::kSizeMismatch}) {
    EXPECT_CONTAINS(refusal(code, 77), "are damaged");
  }
}

// Another index in the table of variables: the commands are those of the largest sizes again, and the firmware is told.
TEST_F(Sized, CommandsThatAreWrittenAnewAreNotCurrent) {
  const compiler::Program program = sized_program({int8_variable("v", 4, {1, 2, 3, 4})});
  LoadedProgram loaded = context.load(program);
  Job run = loaded.create_job();
  set_inputs(run, 4);
  run.run();
  const uint64_t flag = job.size_table + 28;
  const uint32_t current = 1;
  std::memcpy(booted.mock.dram(flag + 4).data() + flag, &current, 4);  // as the firmware does
  const auto find = [&](uint64_t address) {
    const auto& log = booted.mock.log();
    return std::find_if(log.begin(), log.end(), [&](const MockHal::Access& access) {
      return access.kind == MockHal::Kind::kWriteMemory && access.address == address;
    });
  };
  booted.mock.clear_log();
  run.run();
  EXPECT_EQ(find(flag), booted.mock.log().end());
  EXPECT_EQ(find(job.commands), booted.mock.log().end());
  context.clear();
  Context other = booted.device.create_context();
  LoadedProgram taker = other.load(with_variable("w"));
  booted.mock.clear_log();
  run.run();
  ASSERT_NE(find(job.commands), booted.mock.log().end());
  ASSERT_NE(find(flag), booted.mock.log().end());
  EXPECT_LT(find(flag), find(job.commands));
  EXPECT_EQ(booted.mock.dram(flag + 4)[flag], 0);
}

// Without a control CPU the driver writes the stream, where the sizes are others.
TEST(SizedDirectTest, TheDriverWritesTheStream) {
  Opened opened;
  Context context = opened.device.create_context();
  const compiler::Program program = sized_program({int8_variable("v", 4, {1, 2, 3, 4})});
  LoadedProgram loaded = context.load(program);
  Job run = loaded.create_job();
  uint64_t commands = 0;
  std::vector<uint32_t> seen;
  opened.mock.on_start = [&](MockHal& mock) {
    commands = mock.get_register(contract::reg::kCommandBaseLo);
    seen.resize(program.main_words);
    std::memcpy(seen.data(), mock.dram(commands + 4 * seen.size()).data() + commands, 4 * seen.size());
    mock.end_job();
  };
  const auto writes = [&] {
    size_t count = 0;
    for (const MockHal::Access& access : opened.mock.log()) {
      count += access.kind == MockHal::Kind::kWriteMemory && access.address == commands ? 1 : 0;
    }
    return count;
  };
  set_inputs(run, 4);
  run.run();
  for (const auto& [rows, written] : {std::pair(4, 0), std::pair(16, 1), std::pair(6, 1), std::pair(6, 0)}) {
    SCOPED_TRACE(rows);
    set_inputs(run, rows);
    opened.mock.clear_log();
    run.run();
    EXPECT_EQ(writes(), static_cast<size_t>(written));
    std::vector<uint32_t> expected(program.commands.begin(), program.commands.begin() + program.main_words);
    expected[kRuleWord] -= static_cast<uint32_t>(16 - rows);
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(run.output("t").shape, (graph::Shape{2 * rows}));
  }
  // The index of the variable changes: both the driver's, and that of the sizes.
  context.clear();
  Context other = opened.device.create_context();
  LoadedProgram taker = other.load(with_variable("w"));
  run.run();
  EXPECT_EQ(seen[kRuleWord], program.commands[kRuleWord] - 10);
  EXPECT_NE(seen, std::vector<uint32_t>(program.commands.begin(), program.commands.begin() + program.main_words));
}

TEST(SizedNeedsTest, TableAndCommandsAreSeen) {
  const compiler::Program program = sized_program();
  const compiler::DramNeeds with = compiler::needs_of(program, true), without = compiler::needs_of(program, false);
  EXPECT_EQ(with.sizes, compiler::encode(program.sizes).size() + 16);
  EXPECT_EQ(without.sizes, 0u);
  EXPECT_EQ(with.total(), without.total() + compiler::kDramPage);
  EXPECT_EQ(with.tables(), 2 * compiler::kDramPage);
  EXPECT_CONTAINS(with.describe(), ", table of sizes " + std::to_string(with.sizes));
  EXPECT_EQ(without.describe().find("sizes"), std::string::npos);
}

// What the firmware may take for the sizes counts where a more urgent job waits.
TEST_F(Sized, BlockingCountsWhatTheFirmwareTakes) {
  compiler::Program program = sized_program();
  const uint64_t few = context.load(program).blocking_cycles();
  EXPECT_GT(few, context.load(make_program()).blocking_cycles());
  program.sizes.expressions.resize(100, {Operation::kAdd, 0, 1});
  EXPECT_GT(context.load(program).blocking_cycles(), few);
}

struct SizeDamage {
  const char* name;
  std::function<void(compiler::Program&)> damage;
  const char* words;
};

class DamagedSizes : public testing::TestWithParam<SizeDamage> {};

TEST_P(DamagedSizes, AreRefused) {
  compiler::Program program = sized_program({int8_variable("v", 4)});
  EXPECT_EQ(compiler::find_size_damage(program), "");
  GetParam().damage(program);
  EXPECT_CONTAINS(compiler::find_size_damage(program), GetParam().words);
  Opened opened;
  Context context = opened.device.create_context();
  const auto [code, text] = error_of([&] { static_cast<void>(context.load(program)); });
  EXPECT_EQ(code, ErrorCode::kContractMismatch);
  EXPECT_CONTAINS(text, "the program is damaged: ");
  EXPECT_CONTAINS(text, GetParam().words);
}

using Damaged = compiler::Program;

INSTANTIATE_TEST_SUITE_P(
    Damages, DamagedSizes,
    testing::Values(
        SizeDamage{"NoSymbols",
                   [](Damaged& p) {
                     p.sizes.symbols.clear();
                     for (auto* ports : {&p.inputs, &p.outputs}) {
                       for (compiler::Port& port : *ports) port.sizes.clear();
                     }
                   },
                   "it has rules of sizes, but no sizes"},
        SizeDamage{"NothingButPorts", [](Damaged& p) { p.sizes = {}; }, "a dimension of input 'x' is value 0"},
        SizeDamage{"TooManySymbols", [](Damaged& p) { p.sizes.symbols.resize(17); }, "it has 17 sizes"},
        SizeDamage{"TooManyValues", [](Damaged& p) { p.sizes.expressions.resize(127); }, "129 values"},
        SizeDamage{"TooManyConditions",
                   [](Damaged& p) { p.sizes.conditions.resize(contract::kMostSizeConditions + 1); }, "8193 conditions"},
        SizeDamage{"TooManyResults", [](Damaged& p) { p.sizes.results.resize(129); }, "129 results"},
        SizeDamage{"TooLarge", [](Damaged& p) { p.sizes.rules[0].words.resize(contract::kMostSizeTableBytes / 4, 1); },
                   "more than a device takes"},
        SizeDamage{"NoLeast", [](Damaged& p) { p.sizes.symbols[0].least = 0; }, "size 'x.0' has the bounds 0 and 16"},
        SizeDamage{"BoundsTheWrongWay", [](Damaged& p) { p.sizes.symbols[1].least = 17; },
                   "size 'z.0' has the bounds 17 and 16"},
        SizeDamage{"MoreThanRoom", [](Damaged& p) { p.sizes.symbols[1].most = 17; },
                   "dimension 0 of input 'z' has room for 16, but may be 17"},
        SizeDamage{"UnknownOperation",
                   [](Damaged& p) { p.sizes.expressions[1].operation = static_cast<Operation>(13); },
                   "expression 1 of its sizes has operation 13"},
        SizeDamage{"OperandOfItself", [](Damaged& p) { p.sizes.expressions[1].a = 3; },
                   "expression 1 of its sizes takes value 3"},
        SizeDamage{"OperandOfALaterOne", [](Damaged& p) { p.sizes.expressions[1].immediate = 3; },
                   "expression 1 of its sizes takes value 3"},
        SizeDamage{"NegativeOperand", [](Damaged& p) { p.sizes.expressions[1].immediate = -1; },
                   "expression 1 of its sizes takes value -1"},
        SizeDamage{"UnknownRelation", [](Damaged& p) { p.sizes.conditions[1].relation = static_cast<Relation>(5); },
                   "condition 1 of its sizes has relation 5"},
        SizeDamage{"ConditionOfNothing", [](Damaged& p) { p.sizes.conditions[0].right = 5; },
                   "condition 0 of its sizes is of values 0 and 5"},
        SizeDamage{"ResultOfNothing", [](Damaged& p) { p.sizes.results[1] = 5; }, "a result of its sizes is value 5"},
        SizeDamage{"RuleOfNothing", [](Damaged& p) { p.sizes.rules[0].second = 5; },
                   "rule 0 of its sizes is of value 5"},
        SizeDamage{"NoPieces", [](Damaged& p) { p.sizes.rules[0].pieces.clear(); }, "rule 0 of its sizes has 0 pieces"},
        SizeDamage{"PiecesInDisorder",
                   [](Damaged& p) { p.sizes.rules[0].pieces.push_back(p.sizes.rules[0].pieces[0]); },
                   "the pieces of rule 0 of its sizes are not in order"},
        SizeDamage{"BehindTheCommands", [](Damaged& p) { p.sizes.rules[0].words.push_back(p.main_words); },
                   "behind the commands"},
        SizeDamage{"TwiceTheSameWord", [](Damaged& p) { p.sizes.rules[0].words.push_back(kRuleWord); },
                   "rule 0 of its sizes is for word 1, where it does not belong"},
        SizeDamage{"AWordOfAPatch",
                   [](Damaged& p) {
                     const uint32_t word = p.patches[0].word;
                     p.sizes.rules.push_back(rule_of(2, {{0, 0, static_cast<int32_t>(p.commands[word])}}, {word}));
                   },
                   "where it does not belong"},
        SizeDamage{"AWordThatMayNameAVariable",
                   [](Damaged& p) {
                     // The region of the copy's destination.
                     const uint32_t word = p.patches[1].word + 2;
                     p.sizes.rules.push_back(rule_of(2, {{0, 0, static_cast<int32_t>(p.commands[word])}}, {word}));
                   },
                   "where it does not belong"},
        SizeDamage{"AWordThatNamesACommand",
                   [](Damaged& p) {
                     p.sizes.rules.push_back(rule_of(2, {{0, 0, static_cast<int32_t>(p.commands[0])}}, {0}));
                   },
                   "rule 1 of its sizes is for word 0, where it does not belong"},
        SizeDamage{"AnotherWordAtMost", [](Damaged& p) { p.sizes.rules[0].pieces[0].addend += 1; },
                   "rules of its sizes make word 1"},
        SizeDamage{"PortOfAnotherRank", [](Damaged& p) { p.inputs[0].sizes.pop_back(); },
                   "input 'x' has 2 dimensions, and sizes of 1"},
        SizeDamage{"OutputOfNothing", [](Damaged& p) { p.outputs[1].sizes[0] = 5; },
                   "a dimension of output 't' is value 5"},
        SizeDamage{"NegativeDimension", [](Damaged& p) { p.outputs[1].sizes[0] = -2; },
                   "a dimension of output 't' is value -2"},
        SizeDamage{"ASizeThatNoInputHas", [](Damaged& p) { p.inputs[1].sizes.clear(); },
                   "no input says how large size 'z.0' is"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace npu::runtime
