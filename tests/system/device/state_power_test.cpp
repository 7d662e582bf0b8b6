// SPDX-License-Identifier: Apache-2.0
// What becomes of variables when power or bits fail, from the public API down to the memory of the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <random>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/gen/registers.h"
#include "sim/reference/reference.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using contract::PsramPower;
namespace reg = contract::reg;

constexpr int64_t kWidth = 128;

// y = x + sum, which becomes the new sum; and a window of the last 4 x, moved on by one. Both are written by several
// kinds of commands.
graph::Graph two_variables() {
  using namespace graph;
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 1, kWidth});
  const TensorId sum = b.variable("sum", DType::kInt32, {1, 1, kWidth}, std::vector<double>(kWidth, 1));
  const TensorId window = b.variable("window", DType::kInt8, {1, 4, kWidth}, std::vector<double>(4 * kWidth, 2));
  const TensorId total = b.add(b.read(sum), b.cast(x, DType::kInt32));
  b.write(sum, total);
  const TensorId moved = b.concat({b.slice(b.read(window), {0, 1, 0}, {1, 3, kWidth}), x}, 1);
  b.write(window, moved);
  b.output(total, "y");
  b.output(moved, "z");
  Graph graph = b.build();
  validate(graph);
  return graph;
}

std::vector<std::vector<graph::Value>> frames(int count) {
  std::mt19937 random(7);
  std::vector<std::vector<graph::Value>> all;
  for (int i = 0; i < count; ++i) {
    graph::Value value{graph::DType::kInt8, {1, 1, kWidth}, {}};
    for (int64_t k = 0; k < kWidth; ++k) value.bytes.push_back(static_cast<uint8_t>(random()));
    all.push_back({value});
  }
  return all;
}

struct Stream {
  runtime::Context context;
  runtime::LoadedProgram program;
  runtime::Job job;
  std::vector<std::vector<graph::Value>> inputs = frames(6), want;

  Stream(runtime::Device& device, const graph::Graph& graph, const runtime::ContextOptions& options = {},
         const compiler::ScheduleOptions& schedule = {})
      : context(device.create_context(options)),
        program(context.load(compiler::compile(graph, device.capabilities(), {schedule}))),
        job(program.create_job()),
        want(reference({"", graph, inputs, std::nullopt})) {}

  void run(size_t frame) {
    job.set_input(0, inputs.at(frame)[0]);
    static_cast<void>(job.run());
  }
  // Elements compared; all must be equal.
  int64_t expect(size_t frame) {
    run(frame);
    int64_t compared = 0;
    for (size_t i = 0; i < want[frame].size(); ++i) {
      const graph::Difference difference = graph::compare(job.outputs()[i], want[frame][i]);
      EXPECT_EQ(difference.differing, 0) << "frame " << frame << ", output " << i;
      compared += difference.compared;
    }
    return compared;
  }
};

const runtime::SnapshotVariable& find(const runtime::Snapshot& snapshot, const std::string& identity) {
  return *std::find_if(snapshot.variables.begin(), snapshot.variables.end(),
                       [&](const auto& variable) { return variable.identity == identity; });
}

void flip(runtime::Device& device, uint64_t byte, std::initializer_list<uint32_t> bits) {
  device.write_register(reg::kTestFlipAddress, static_cast<uint32_t>(byte / 8 * 8));
  for (const uint32_t bit : bits) device.write_register(reg::kTestFlipBit, bit);
}

TEST(StatePower, RetentionBetweenFramesChangesNothing) {
  const graph::Graph graph = two_variables();
  runtime::Device device = open_device(options("edge"));
  Stream a(device, graph), b(device, graph, {.double_buffer = true}), c(device, graph, {}, {.state_in_dram = true});
  int64_t compared = 0;
  for (size_t frame = 0; frame < 6; ++frame) {
    for (Stream* stream : {&a, &b, &c}) {
      compared += stream->expect(frame);
      device.set_persistent_power(PsramPower::kRetention);
      EXPECT_EQ(code_of([&] { static_cast<void>(stream->context.variables()); }), ErrorCode::kFaultPower);
    }
  }
  device.set_persistent_power(PsramPower::kOn);
  EXPECT_TRUE(runtime::diff(a.context.snapshot(), b.context.snapshot()).empty());
  EXPECT_TRUE(runtime::diff(a.context.snapshot(), c.context.snapshot()).empty());
  std::cout << "0 of " << compared << " elements differ\n";
}

TEST(StatePower, OffIsALossForEachContextThatHasVariables) {
  const graph::Graph graph = two_variables();
  runtime::Device device = open_device(options("edge"));
  Stream a(device, graph), b(device, graph);
  a.expect(0);
  a.expect(1);
  b.expect(0);
  const runtime::Snapshot saved = a.context.snapshot();
  int told = 0;
  a.context.on_state_lost([&](const runtime::StateLoss& loss) {
    EXPECT_EQ(loss.identities, (std::vector<std::string>{"sum", "window"}));
    ++told;
  });
  device.set_persistent_power(PsramPower::kOff);
  EXPECT_EQ(told, 1);
  std::string text;
  for (Stream* stream : {&a, &b}) {
    EXPECT_TRUE(stream->context.state_lost());
    EXPECT_EQ(code_of([&] { stream->run(2); }, &text), ErrorCode::kPowerLost);
    EXPECT_NE(text.find("'sum', 'window'"), std::string::npos) << text;
    EXPECT_EQ(code_of([&] { static_cast<void>(stream->context.read_variable("sum")); }), ErrorCode::kPowerLost);
  }
  b.context.acknowledge_loss();
  int64_t compared = b.expect(0);  // from the initial values, and the device has power again
  EXPECT_EQ(code_of([&] { a.run(2); }), ErrorCode::kPowerLost);
  a.context.acknowledge_loss();
  a.context.restore(saved);
  compared += a.expect(2);
  compared += b.expect(1);
  std::cout << "0 of " << compared << " elements differ\n";
}

// Without control CPU, so that nothing but the driver looks at the memory.
platform::PlatformOptions bare() {
  platform::PlatformOptions machine = options("edge");
  machine.control_cpu = false;
  return machine;
}

TEST(StatePower, ALossThatNobodyAskedForIsFoundByEveryCall) {
  const graph::Graph graph = two_variables();
  runtime::Device device = open_device(bare());
  Stream sram(device, graph), dram(device, graph, {}, {.state_in_dram = true});
  int64_t compared = 0;
  int losses = 0;
  for (Stream* stream : {&sram, &dram}) {
    runtime::Context& context = stream->context;
    const compiler::Program& program = stream->program.program();
    compared += stream->expect(0);
    const runtime::Snapshot saved = context.snapshot();
    const graph::Value sum = context.read_variable("sum");
    context.clear();
    const std::vector<std::function<void()>> calls = {
        [&] { static_cast<void>(context.variables()); },
        [&] { static_cast<void>(context.read_variable("sum")); },
        [&] { context.write_variable("sum", sum); },
        [&] { static_cast<void>(context.snapshot()); },
        [&] { context.restore(saved); },
        [&] { context.clear("sum"); },
        [&] { context.clear(); },
        [&] { static_cast<void>(context.load(program)); },
        [&] { stream->run(0); },
    };
    for (const std::function<void()>& call : calls) {
      compared += stream->expect(0);
      device.write_register(reg::kPsramPower, static_cast<uint32_t>(PsramPower::kOff));
      device.write_register(reg::kPsramPower, static_cast<uint32_t>(PsramPower::kOn));
      std::string text;
      EXPECT_EQ(code_of(call, &text), ErrorCode::kPowerLost) << losses;
      EXPECT_NE(text.find("'sum', 'window'; call acknowledge_loss()"), std::string::npos) << text;
      ++losses;
      sram.context.acknowledge_loss();
      dram.context.acknowledge_loss();
    }
    // One after the other before any job has run.
    const runtime::LoadedProgram again = context.load(program);
    context.write_variable("sum", sum);
    device.write_register(reg::kPsramPower, static_cast<uint32_t>(PsramPower::kOff));
    device.write_register(reg::kPsramPower, static_cast<uint32_t>(PsramPower::kOn));
    EXPECT_EQ(code_of([&] { stream->run(0); }), ErrorCode::kPowerLost);
    context.acknowledge_loss();
    compared += stream->expect(0);
    context.clear();
  }
  std::cout << losses << " losses found; 0 of " << compared << " elements differ\n";
}

TEST(StatePower, RetentionThatNobodyAskedForIsEndedByTheNextJob) {
  const graph::Graph graph = two_variables();
  runtime::Device device = open_device(bare());
  Stream stream(device, graph);
  int64_t compared = 0;
  for (size_t frame = 0; frame < 6; ++frame) {
    device.write_register(reg::kPsramPower, static_cast<uint32_t>(PsramPower::kRetention));
    EXPECT_EQ(device.persistent_power(), PsramPower::kRetention);
    EXPECT_EQ(code_of([&] { static_cast<void>(stream.context.read_variable("sum")); }), ErrorCode::kFaultPower);
    compared += stream.expect(frame);
  }
  std::cout << "0 of " << compared << " elements differ\n";
}

// Power breaks down after every number of bytes that a frame can write, between 1 and all of them.
class BrokenPower : public testing::TestWithParam<bool> {};

TEST_P(BrokenPower, TearsVariablesUnlessTheyHaveTwoPlaces) {
  const bool double_buffer = GetParam();
  const graph::Graph graph = two_variables();
  runtime::Device device = open_device(options("edge"));
  Stream stream(device, graph, {.double_buffer = double_buffer});
  stream.expect(0);
  const runtime::Snapshot before = stream.context.snapshot();
  stream.expect(1);
  const runtime::Snapshot after = stream.context.snapshot();
  uint64_t bytes = 0;
  for (const compiler::Variable& variable : stream.program.program().variables) bytes += variable.written_bytes;
  ASSERT_GT(bytes, 0u);
  int64_t torn = 0, old = 0, fresh = 0, compared = 0;
  for (uint64_t written = 1; written <= bytes; written += 13) {
    stream.context.restore(before);
    device.write_register(reg::kTestBrownout, static_cast<uint32_t>(written));
    ASSERT_EQ(code_of([&] { stream.run(1); }), ErrorCode::kFaultPower) << "after " << written << " bytes";
    bool any = false;
    for (const runtime::VariableInfo& info : stream.context.variables()) {
      EXPECT_EQ(info.double_buffered, double_buffer);
      any |= info.torn;
      if (info.torn) {
        std::string text;
        EXPECT_EQ(code_of([&] { static_cast<void>(stream.context.read_variable(info.identity)); }, &text),
                  ErrorCode::kVariableTorn);
        EXPECT_NE(text.find("'" + info.identity + "'"), std::string::npos) << text;
        ++torn;
        continue;
      }
      const std::vector<uint8_t> got = stream.context.read_variable(info.identity).bytes;
      const bool is_old = got == find(before, info.identity).bytes, is_new = got == find(after, info.identity).bytes;
      EXPECT_TRUE(is_old || is_new) << info.identity << " after " << written << " bytes";
      old += static_cast<int64_t>(is_old);
      fresh += static_cast<int64_t>(is_new);
    }
    // A job that reads a torn one says so, too.
    EXPECT_EQ(code_of([&] { stream.run(1); }), any ? ErrorCode::kVariableTorn : ErrorCode::kOk);
    stream.context.restore(before);
    compared += stream.expect(1);
  }
  std::cout << torn << " torn, " << old << " old, " << fresh << " new; 0 of " << compared << " elements differ\n";
  EXPECT_GT(old, 0);
  if (double_buffer) {
    EXPECT_EQ(torn, 0);
    EXPECT_GT(fresh, 0);
  } else {
    EXPECT_GT(torn, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Device, BrokenPower, testing::Bool(),
                         [](const auto& info) { return info.param ? "TwoPlaces" : "OnePlace"; });

// Where variables lie, and in how many places, changes no bit.
class Places : public testing::TestWithParam<std::tuple<std::string, bool, bool>> {};

TEST_P(Places, OutputsEqualTheReference) {
  const auto& [name, double_buffer, in_dram] = GetParam();
  const auto network = wake_word(name);
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  runtime::Device device = open_device(options("edge", model::Mode::kFunctional));
  runtime::Context context = device.create_context({.double_buffer = double_buffer});
  const compiler::ScheduleOptions schedule{.state_in_dram = in_dram};
  runtime::LoadedProgram program = context.load(compiler::compile(network->graph, device.capabilities(), {schedule}));
  for (const runtime::VariableInfo& info : context.variables()) {
    EXPECT_EQ(info.in_dram, in_dram) << info.identity;
    EXPECT_EQ(info.double_buffered, double_buffer) << info.identity;
  }
  runtime::Job job = program.create_job();
  expect_equal(stream(job, *network), reference(*network), name);
}

INSTANTIATE_TEST_SUITE_P(Imported, Places,
                         testing::Combine(testing::ValuesIn(kWakeWords), testing::Bool(), testing::Bool()),
                         [](const auto& info) {
                           return std::get<0>(info.param) + (std::get<1>(info.param) ? "_twice" : "_once") +
                                  (std::get<2>(info.param) ? "_in_dram" : "_in_sram");
                         });

TEST(StateEcc, SingleWrongBitsArePutRightAndCounted) {
  const graph::Graph graph = two_variables();
  runtime::Device device = open_device(options("edge"));
  Stream stream(device, graph);
  int64_t compared = stream.expect(0);
  std::mt19937 random(11);
  const auto bit = [&] { return static_cast<uint32_t>(random() % 72); };
  uint32_t flips = 0;
  for (const runtime::VariableInfo& info : stream.context.variables()) {
    for (uint32_t word = 0; word < info.bytes / 8; ++word, ++flips) flip(device, info.offset + 8 * word, {bit()});
    flip(device, uint64_t{info.index} * 16, {bit()});
    ++flips;
  }
  compared += stream.expect(1);
  const runtime::ScrubResult scrub = device.scrub();
  EXPECT_EQ(scrub.uncorrectable, 0u);
  EXPECT_TRUE(scrub.damaged.empty());
  const runtime::EccCounts counts = device.ecc_counts();
  EXPECT_EQ(counts.uncorrectable, 0u);
  EXPECT_GT(counts.corrected, 0u);
  EXPECT_LE(counts.corrected, flips);
  EXPECT_EQ(device.scrub().corrected, 0u);
  for (size_t frame = 2; frame < 6; ++frame) compared += stream.expect(frame);
  std::cout << flips << " flips, " << counts.corrected << " corrected, the others written over; 0 of " << compared
            << " elements differ\n";
}

TEST(StateEcc, DoubleWrongBitsAreNamedAndMendedByClearing) {
  const graph::Graph graph = two_variables();
  runtime::Device device = open_device(options("edge"));
  Stream stream(device, graph), other(device, graph);
  int64_t compared = stream.expect(0) + other.expect(0);
  const std::vector<runtime::VariableInfo> variables = stream.context.variables();
  for (const runtime::VariableInfo& info : variables) {
    for (const uint32_t byte : {info.bytes / 2, info.bytes - 1}) {  // the oldest of the window is never read
      flip(device, info.offset + byte, {3, 40});
      std::string text;
      EXPECT_EQ(code_of([&] { stream.run(1); }, &text), ErrorCode::kFaultEcc) << info.identity << ", byte " << byte;
      EXPECT_NE(text.find("variable '" + info.identity + "'"), std::string::npos) << text;
      EXPECT_EQ(code_of([&] { static_cast<void>(stream.context.read_variable(info.identity)); }, &text),
                ErrorCode::kFaultEcc);
      EXPECT_NE(text.find("variable '" + info.identity + "'"), std::string::npos) << text;
      const runtime::ScrubResult scrub = device.scrub();
      EXPECT_EQ(scrub.damaged, std::vector<std::string>{info.identity + " (context 1)"});
      EXPECT_EQ(scrub.uncorrectable, 1u);
      compared += other.expect(1);  // goes on undisturbed
      stream.context.clear();
      EXPECT_EQ(device.scrub().uncorrectable, 0u);
      compared += stream.expect(0);  // from the initial values
      other.context.clear();
      compared += other.expect(0);
    }
  }
  std::cout << "0 of " << compared << " elements differ\n";
}

TEST(StateEcc, ADamagedTableEntryIsNamedAndMendedByClearing) {
  const graph::Graph graph = two_variables();
  runtime::Device device = open_device(options("edge"));
  Stream stream(device, graph);
  int64_t compared = stream.expect(0);
  for (const uint32_t word : {0u, 8u}) {
    const runtime::VariableInfo info = stream.context.variables().at(1);
    flip(device, uint64_t{info.index} * 16 + word, {1, 2});
    std::string text;
    EXPECT_EQ(code_of([&] { stream.run(1); }, &text), ErrorCode::kFaultEcc);
    EXPECT_NE(text.find("variable '" + info.identity + "'"), std::string::npos) << text;
    EXPECT_EQ(code_of([&] { static_cast<void>(stream.context.variables()); }, &text), ErrorCode::kFaultEcc);
    EXPECT_NE(text.find("variable '" + info.identity + "'"), std::string::npos) << text;
    stream.context.clear();
    compared += stream.expect(0);
  }
  // A free entry has no owner: it is mended before the next job.
  flip(device, uint64_t{device.capabilities().var_entries - 1} * 16, {1, 2});
  EXPECT_EQ(code_of([&] { stream.run(1); }), ErrorCode::kFaultEcc);
  compared += stream.expect(1);
  std::cout << "0 of " << compared << " elements differ\n";
}

}  // namespace
}  // namespace npu::test
