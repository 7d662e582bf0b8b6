// SPDX-License-Identifier: Apache-2.0
// The driver, the firmware and the model together: a program for sizes within bounds, on machines with and without a
// control CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "driver/runtime/runtime.h"
#include "hw/contract/gen/fields.h"
#include "hw/contract/stream.h"
#include "sim/platform/platform.h"
#include "tests/firmware/sized_stream.h"
#include "tests/unit/compiler/size_rule.h"

namespace npu::firmware_test {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::Value;

constexpr uint32_t kRowBytes = SizedStream::kRowBytes, kRows = SizedStream::kRows;

compiler::Variable make_variable(const std::string& identity, std::vector<uint8_t> initial) {
  compiler::Variable variable;
  variable.identity = variable.tensor_name = identity;
  variable.type = DType::kInt8;
  variable.shape = {static_cast<int64_t>(initial.size())};
  variable.bytes = static_cast<uint32_t>(initial.size());
  variable.hash = compiler::variable_hash(variable.type, variable.shape);
  variable.initial = std::move(initial);
  return variable;
}

// x INT8[1..64, 64] -> y of the same shape; with a variable also v INT8[4], its value.
compiler::Program make_sized(const contract::Capabilities& caps, const SizedStreamOptions& options = {},
                             const std::vector<compiler::Variable>& variables = {}) {
  const SizedStream stream = sized_stream_of(caps, contract::Region::kInput, contract::Region::kOutput, options);
  compiler::Program program;
  program.caps_hash = contract::caps_hash(caps);
  program.commands = stream.words;
  program.main_words = static_cast<uint32_t>(stream.words.size());
  program.command_count = program.event_capacity = stream.commands;
  program.sizes = stream.table;
  program.patches = stream.patches;
  program.variables = variables;
  program.input_bytes = kRows * kRowBytes;
  program.output_bytes = program.input_bytes + 64;
  program.workspace_bytes = 64;
  program.inputs = {{"x", DType::kInt8, {kRows, kRowBytes}, false, 0, kRows * kRowBytes, {0, -1}}};
  program.outputs = {{"y", DType::kInt8, {kRows, kRowBytes}, false, 0, kRows * kRowBytes, {0, -1}}};
  if (!variables.empty()) program.outputs.push_back({"v", DType::kInt8, {4}, false, kRows * kRowBytes, 4, {}});
  compiler::Layer layer;
  layer.name = "copy";
  program.layers = {layer};
  if (options.yields) {
    compiler::Segment segment;
    segment.yield_word = stream.yield_word;
    program.segments = {segment};
  }
  return program;
}

Value rows_of(int64_t rows, uint8_t seed) {
  Value value{DType::kInt8, {rows, kRowBytes}, std::vector<uint8_t>(static_cast<size_t>(rows) * kRowBytes)};
  for (size_t i = 0; i < value.bytes.size(); ++i) value.bytes[i] = static_cast<uint8_t>(seed + 7 * i + i / 256);
  return value;
}

struct Machine {
  const char* preset;
  bool firmware;
  model::Mode mode = model::Mode::kTimed;
};

class SizedDeviceTest : public testing::TestWithParam<Machine> {
 protected:
  explicit SizedDeviceTest(uint32_t log_level = 3) : device(open(log_level)) {}

  static presets::Preset machine() {
    // The slowest control CPU: its watchdog strikes after the fewest instructions.
    if (GetParam().preset == std::string("slow")) {
      return presets::parse_preset("slow", "this test", "base: edge\ncpu_clock_mhz: 10\n");
    }
    return presets::load_preset(GetParam().preset);
  }
  static runtime::Device open(uint32_t log_level) {
    platform::PlatformOptions options;
    options.preset = machine();
    options.mode = GetParam().mode;
    options.control_cpu = GetParam().firmware;
    runtime::DeviceOptions driver;
    driver.bypass_firmware = !GetParam().firmware;
    driver.log_level = log_level;
    return runtime::Device::open(platform::open_tlm_device(options), driver);
  }
  runtime::RunResult run(runtime::Job& job, int64_t rows) {
    SCOPED_TRACE(rows);
    const Value input = rows_of(rows, ++seed);
    job.set_input("x", input);
    runtime::RunResult result = job.run();
    EXPECT_EQ(job.output("y").shape, input.shape);
    EXPECT_EQ(job.output("y").bytes, input.bytes);
    return result;
  }

  runtime::Device device;
  runtime::Context context = device.create_context();
  uint8_t seed = 0;
};

TEST_P(SizedDeviceTest, EverySizeMovesItsBytes) {
  runtime::LoadedProgram program = context.load(make_sized(device.capabilities()));
  runtime::Job job = program.create_job();
  uint64_t whole = 0, half = 0;
  for (const int64_t rows : {64, 64, 1, 32, 33, 32, 5, 63, 64}) {
    const runtime::RunResult result = run(job, rows);
    if (rows == 64) whole = result.cycles;
    if (rows == 32) half = result.cycles;
    EXPECT_EQ(result.counters.get(contract::Queue::kDma0, contract::Counter::kDramRead),
              static_cast<uint64_t>(rows) * kRowBytes);
  }
  for (int64_t rows = 1; rows <= int64_t{kRows}; rows += 3) run(job, rows);
  if (GetParam().mode == model::Mode::kTimed) {
    EXPECT_LT(half, whole);
  }
  if (GetParam().firmware) {
    const std::string log = device.take_firmware_log();
    EXPECT_NE(log.find(": sizes 5\n"), std::string::npos) << log;
  }
}

TEST_P(SizedDeviceTest, WhatIsRefusedChangesNothing) {
  runtime::LoadedProgram program = context.load(make_sized(device.capabilities()));
  runtime::Job job = program.create_job();
  run(job, 40);
  for (const int64_t rows : {0, 65}) {
    try {
      job.set_input("x", rows_of(rows, 1));
      ADD_FAILURE() << rows;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kSizeOutOfBounds);
    }
  }
  run(job, 41);
}

// Its index in the device's table changes, so the driver writes the commands anew, of the largest size.
TEST_P(SizedDeviceTest, AVariableThatMovesKeepsTheSizes) {
  const std::vector<compiler::Variable> variables = {make_variable("v", {1, 2, 3, 4})};
  const SizedStreamOptions options = {.variable_hash = variables[0].hash};
  runtime::LoadedProgram program = context.load(make_sized(device.capabilities(), options, variables));
  runtime::Job job = program.create_job();
  run(job, 20);
  EXPECT_EQ(job.output("v").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  const uint32_t index = context.variables()[0].index;
  context.clear();
  runtime::Context other = device.create_context();
  const std::vector<compiler::Variable> others = {make_variable("w", {5, 6, 7, 8})};
  const SizedStreamOptions other_options = {.variable_hash = others[0].hash};
  runtime::LoadedProgram second = other.load(make_sized(device.capabilities(), other_options, others));
  runtime::Job second_job = second.create_job();
  run(second_job, 50);
  EXPECT_EQ(second_job.output("v").bytes, (std::vector<uint8_t>{5, 6, 7, 8}));
  run(job, 20);
  EXPECT_NE(context.variables()[0].index, index);
  EXPECT_EQ(job.output("v").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  run(second_job, 50);
  run(job, 33);
}

TEST_P(SizedDeviceTest, AResetKeepsIt) {
  runtime::LoadedProgram program = context.load(make_sized(device.capabilities()));
  runtime::Job job = program.create_job();
  run(job, 20);
  device.soft_reset();
  run(job, 20);
  device.cold_reset();
  run(job, 20);
  run(job, 60);
}

// Jobs of two programs that wait for each other, each with another size than before.
TEST_P(SizedDeviceTest, ProgramsTakeTurns) {
  runtime::LoadedProgram first = context.load(make_sized(device.capabilities())),
                         second = context.load(make_sized(device.capabilities(), {.passes = 3}));
  runtime::Job a = first.create_job(), b = second.create_job();
  const bool queue = GetParam().firmware;
  for (int64_t rows = 1; rows <= int64_t{kRows}; rows += 5) {
    const Value in_a = rows_of(rows, 11), in_b = rows_of(int64_t{kRows} + 1 - rows, 23);
    a.set_input("x", in_a);
    b.set_input("x", in_b);
    a.start();
    if (!queue) {
      ASSERT_TRUE(a.wait(std::chrono::hours(1)));
    }
    b.start();
    while (!a.wait(std::chrono::hours(1)) || !b.wait(std::chrono::hours(1))) {
    }
    EXPECT_EQ(a.output("y").bytes, in_a.bytes);
    EXPECT_EQ(b.output("y").bytes, in_b.bytes);
  }
}

// Above 2 GiB there is room enough, below nearly none: commands and table lie there, or nowhere.
using TallDeviceTest = SizedDeviceTest;

TEST_P(TallDeviceTest, TheControlCpuSeesCommandsAndTable) {
  constexpr uint32_t kLeft = 4 << 20;
  const contract::Capabilities& caps = device.capabilities();
  ASSERT_GT(uint64_t{caps.dram_mib} << 20, uint64_t{contract::kCpuDramBytes});
  compiler::Program filler = make_sized(caps), sized = filler;
  filler.sizes = {};
  filler.inputs[0].sizes.clear();
  filler.outputs[0].sizes.clear();
  filler.workspace_bytes = contract::kCpuDramBytes - (1 << 20) - kLeft;  // beside what is shared
  sized.constants.resize(2 * kLeft);                                     // so that it is above
  runtime::LoadedProgram first = context.load(filler), loaded = context.load(sized);
  EXPECT_GE(loaded.constant_address(0), uint64_t{contract::kCpuDramBytes});
  runtime::Job job = loaded.create_job({.poison = false});
  run(job, 64);
  run(job, 20);
  std::vector<runtime::LoadedProgram> more;
  try {
    // Of each only commands and table take room below.
    sized.constants.clear();
    sized.commands.resize(kLeft / 8 / sizeof(uint32_t));
    for (int i = 0; i < 20; ++i) more.push_back(context.load(sized));
    ADD_FAILURE() << "there is no room for so many";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDramFull);
    EXPECT_NE(std::string(error.what()).find("table of sizes"), std::string::npos) << error.what();
  }
  EXPECT_GT(more.size(), 3u);
  runtime::Job last = more.back().create_job({.poison = false});
  run(last, 33);
}

INSTANTIATE_TEST_SUITE_P(Machines, TallDeviceTest, testing::Values(Machine{"server", true}),
                         [](const auto& info) { return std::string(info.param.preset); });

// Tables as large as they may be, of which each kind of row makes up most: what the firmware takes for them.
class LargeTableTest : public SizedDeviceTest {
 protected:
  static constexpr uint32_t kPasses = 700;

  static std::vector<bool> words_with_names(const compiler::Program& program) {
    std::vector<bool> named;
    (void)contract::for_each_command(program.commands, [&](const contract::Header&, std::span<const uint32_t> command) {
      for (size_t word = 0; word < command.size(); ++word) {
        bool names = word == 0;
        for (uint32_t i = 0; contract::known(static_cast<contract::CommandField>(i)); ++i) {
          const auto field = static_cast<contract::CommandField>(i);
          names = names || (contract::info_of(field).names_variable && has_field(command, word, field));
        }
        named.push_back(names);
      }
      return true;
    });
    return named;
  }
  // Words that a rule may be for and that have none get one, which leaves them as they are.
  static void add_rules(compiler::Program& program, size_t words_of_a_rule) {
    std::vector<bool> taken = words_with_names(program);
    for (const auto& rule : program.sizes.rules) {
      for (const uint32_t word : rule.words) taken[word] = true;
    }
    std::map<uint32_t, std::vector<uint32_t>> same;
    uint64_t left = contract::kMostSizeTableBytes - compiler::encoded_bytes(program.sizes);
    const auto flush = [&](uint32_t value, std::vector<uint32_t>& words) {
      const uint64_t bytes = contract::SizeRule::kBytes + contract::SizePiece::kBytes + 4 * words.size();
      if (bytes > left || words.empty()) return;
      left -= bytes;
      program.sizes.rules.push_back(
          compiler::testing::rule_of(0, {{1, 0, static_cast<int32_t>(value)}}, std::move(words)));
      words.clear();
    };
    for (uint32_t word = 0; word < program.main_words; ++word) {
      if (taken[word]) continue;
      std::vector<uint32_t>& words = same[program.commands[word]];
      words.push_back(word);
      if (words.size() == words_of_a_rule) flush(program.commands[word], words);
    }
    for (auto& [value, words] : same) flush(value, words);
  }
  static void add_conditions(compiler::Program& program) {
    while (compiler::encoded_bytes(program.sizes) + 8 <= contract::kMostSizeTableBytes &&
           program.sizes.conditions.size() < contract::kMostSizeConditions) {
      program.sizes.conditions.push_back({contract::SizeRelation::kMultiple, 2, 1, ""});
    }
  }
  // Of numbers that need all 64 bits: (x * 64 * 2^40) / 3 and so on.
  static void add_expressions(compiler::Program& program) {
    using Operation = contract::SizeOperation;
    std::vector<compiler::SizeTable::Expression>& list = program.sizes.expressions;
    const auto next = [&] { return static_cast<uint16_t>(program.sizes.symbols.size() + list.size()); };
    list.push_back({Operation::kConstant, 0, 40});
    list.push_back({Operation::kExp2, static_cast<uint16_t>(next() - 1), 0});
    list.push_back({Operation::kMul, 2, next() - 1});
    const uint16_t large = next() - 1;
    list.push_back({Operation::kConstant, 0, 3});
    const uint16_t three = next() - 1;
    while (next() < contract::kMostSizeValues) list.push_back({Operation::kDivCeil, large, three});
  }
  // What the firmware takes for a job that is the one before again, and for one whose stream has to be written.
  struct Cycles {
    uint64_t again = 0, written = 0;
    uint64_t bound = 0;  // blocking_cycles() of the program
  };
  Cycles measure(const compiler::Program& program) {
    runtime::LoadedProgram loaded = context.load(program);
    runtime::Job job = loaded.create_job({.events = false});
    run(job, kRows);
    Cycles cycles;
    cycles.again = run(job, kRows).times.firmware_cycles;
    if (!program.sizes.empty()) cycles.written = run(job, kRows - 10).times.firmware_cycles;
    cycles.bound = loaded.blocking_cycles();
    return cycles;
  }
  void expect_bound(const std::string& what, const compiler::Program& program, const Cycles& fixed) {
    SCOPED_TRACE(what);
    const Cycles sized = measure(program);
    const contract::Capabilities& caps = device.capabilities();
    const uint64_t more = (sized.written - fixed.again) * caps.clock_mhz / caps.cpu_clock_mhz;
    EXPECT_LT(more, sized.bound - fixed.bound);
    EXPECT_GT(more, (sized.bound - fixed.bound) / 5);  // or the bound says little
    std::cout << GetParam().preset << ", " << what << ": " << compiler::encoded_bytes(program.sizes) << " bytes, "
              << program.sizes.rules.size() << " rules; cycles of the control CPU: " << fixed.again
              << " with fixed sizes, " << sized.again << " with those before, " << sized.written << " with others\n";
  }

  LargeTableTest() : SizedDeviceTest(2) {}
};

TEST_P(LargeTableTest, KeepTheBound) {
  const compiler::Program few = make_sized(device.capabilities(), {.passes = kPasses});
  compiler::Program fixed = few, words = few, groups = few, rules = few, conditions = few, expressions = few;
  fixed.sizes = {};
  fixed.inputs[0].sizes.clear();
  fixed.outputs[0].sizes.clear();
  add_rules(words, 100'000);
  add_rules(groups, 31);
  add_rules(rules, 1);
  add_conditions(conditions);
  add_expressions(expressions);
  const Cycles of_fixed = measure(fixed);
  expect_bound("few words", few, of_fixed);
  expect_bound("many words", words, of_fixed);
  expect_bound("many rules of several words", groups, of_fixed);
  expect_bound("many rules", rules, of_fixed);
  expect_bound("many conditions", conditions, of_fixed);
  expect_bound("many values", expressions, of_fixed);
}

INSTANTIATE_TEST_SUITE_P(Machines, LargeTableTest,
                         testing::Values(Machine{"edge", true}, Machine{"nano", true}, Machine{"server", true},
                                         Machine{"slow", true}),
                         [](const auto& info) { return std::string(info.param.preset); });

INSTANTIATE_TEST_SUITE_P(Machines, SizedDeviceTest,
                         testing::Values(Machine{"edge", true}, Machine{"edge", false}, Machine{"nano", true},
                                         Machine{"edge", true, model::Mode::kFunctional},
                                         Machine{"edge", false, model::Mode::kFunctional}),
                         [](const auto& info) {
                           return std::string(info.param.preset) + (info.param.firmware ? "Firmware" : "Direct") +
                                  (info.param.mode == model::Mode::kTimed ? "" : "Functional");
                         });

}  // namespace
}  // namespace npu::firmware_test
