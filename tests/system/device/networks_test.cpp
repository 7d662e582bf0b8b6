// SPDX-License-Identifier: Apache-2.0
// Whole networks on the device, through its firmware: every bit as the reference and as somebody else's golden outputs;
// the same bits in the same cycles again, and again after a reset.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hw/presets/preset.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

enum class Path { kFirmware, kBypass };

// The first invocation that differs in a bit or in its cycles, in words; empty: none.
std::string difference(const std::vector<Invocation>& a, const std::vector<Invocation>& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    for (size_t k = 0; k < a.at(i).outputs.size(); ++k) {
      if (graph::compare(a[i].outputs[k], b.at(i).outputs.at(k)).differing != 0) {
        return fmt::format("output {} of invocation {}", k, i);
      }
    }
    if (a[i].cycles != b[i].cycles) {
      return fmt::format("cycles of invocation {}: {} and {}", i, a[i].cycles, b[i].cycles);
    }
  }
  return {};
}

void run_three_times(const Network& network, const std::string& preset, Path path) {
  platform::PlatformOptions machine = options(preset);
  machine.control_cpu = path == Path::kFirmware;
  runtime::Device device = open_device(machine);
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(network.graph, device.capabilities()));
  runtime::Job job = program.create_job();

  std::vector<Invocation> first = stream(job, network);
  expect_equal(first, reference(network), network.name + " on " + preset + " against the reference");
  if (network.golden) {
    std::vector<std::vector<graph::Value>> golden;
    for (const graph::Value& value : *network.golden) golden.push_back({value});
    expect_equal(first, golden, network.name + " on " + preset + " against the golden outputs");
  }
  for (const Invocation& invocation : first) EXPECT_GT(invocation.cycles, 0U);

  context.clear();
  EXPECT_EQ(difference(first, stream(job, network)), "") << "the second run";
  device.cold_reset();
  // Before the 256th execution of a context the driver writes its entries of the variable table, and the declarations
  // behind that take longer.
  Network last = network;
  last.frames.resize(std::min(last.frames.size(), 255 - 2 * last.frames.size()));
  first.resize(last.frames.size());
  EXPECT_EQ(difference(first, stream(job, last)), "") << "the run after a reset";
}

using NamedNetwork = std::tuple<std::string, std::string>;

std::string test_name(const testing::TestParamInfo<NamedNetwork>& info) {
  return std::get<0>(info.param) + "_on_" + std::get<1>(info.param);
}

class WakeWord : public testing::TestWithParam<NamedNetwork> {
 protected:
  static void run(Path path) {
    const auto network = wake_word(std::get<0>(GetParam()));
    if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
    run_three_times(*network, std::get<1>(GetParam()), path);
  }
};

TEST_P(WakeWord, EveryFrameAsReferenceThreeTimes) { run(Path::kFirmware); }
TEST_P(WakeWord, WithoutFirmwareThreeTimes) { run(Path::kBypass); }

// A buffer of records that is too small costs records, and nothing else.
TEST_P(WakeWord, RunsWithFewerRecordsThanCommands) {
  const auto& [name, preset] = GetParam();
  const auto network = wake_word(name);
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  const Network start{network->name, network->graph, {network->frames.begin(), network->frames.begin() + 3}, {}};
  runtime::Device device = open_device(options(preset));
  runtime::Context context = device.create_context();
  const compiler::Program whole = compiler::compile(network->graph, device.capabilities());
  ASSERT_EQ(whole.event_capacity, whole.command_count);
  runtime::RunResult all;
  std::vector<Invocation> want;
  for (const uint32_t capacity : {whole.command_count, uint32_t{10}, uint32_t{0}}) {
    compiler::Program program = whole;
    program.event_capacity = capacity;
    const runtime::LoadedProgram loaded = context.load(std::move(program));
    runtime::Job job = loaded.create_job();
    context.clear();
    const std::vector<Invocation> got = stream(job, start);
    const runtime::RunResult result = job.result();
    EXPECT_EQ(result.events_lost, whole.command_count - capacity);
    ASSERT_EQ(result.events.size(), capacity);
    if (capacity == whole.command_count) {
      all = result;
      want = got;
      expect_equal(got, reference(start), name + " on " + preset);
    }
    EXPECT_EQ(difference(want, got), "") << capacity << " records";
    EXPECT_TRUE(std::equal(result.events.begin(), result.events.end(), all.events.begin())) << capacity << " records";
  }
}

INSTANTIATE_TEST_SUITE_P(Imported, WakeWord,
                         testing::Combine(testing::ValuesIn(kWakeWords), testing::ValuesIn(presets::preset_names())),
                         test_name);

class ZooNetwork : public testing::TestWithParam<NamedNetwork> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ZooNetwork);

TEST_P(ZooNetwork, AsGoldenThreeTimes) {
  run_three_times(zoo_network(std::get<0>(GetParam())).value(), std::get<1>(GetParam()), Path::kFirmware);
}

#ifdef NPU_ZOO_DIR
INSTANTIATE_TEST_SUITE_P(Zoo, ZooNetwork,
                         testing::Combine(testing::ValuesIn(kZooNetworks), testing::ValuesIn(presets::preset_names())),
                         test_name);
#endif

}  // namespace
}  // namespace npu::test
