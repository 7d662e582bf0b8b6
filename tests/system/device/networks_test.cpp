// Whole networks on the device: every bit as the reference and as somebody else's golden outputs; the same bits and
// cycles again, and again after a reset.
#include <gtest/gtest.h>

#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

void run_three_times(const Network& network, const std::string& preset) {
  runtime::Device device = open_device(options(preset));
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(network.graph, device.capabilities()));
  runtime::Job job = program.create_job();

  const std::vector<Invocation> first = stream(job, network);
  expect_equal(first, reference(network), network.name + " on " + preset + " against the reference");
  if (network.golden) {
    std::vector<std::vector<graph::Value>> golden;
    for (const graph::Value& value : *network.golden) golden.push_back({value});
    expect_equal(first, golden, network.name + " on " + preset + " against the golden outputs");
  }
  for (const Invocation& invocation : first) EXPECT_GT(invocation.cycles, 0U);

  context.clear();
  EXPECT_TRUE(stream(job, network) == first) << "the second run differs from the first";
  device.cold_reset();
  EXPECT_TRUE(stream(job, network) == first) << "the run after a reset differs from the first";
}

using NamedNetwork = std::tuple<std::string, std::string>;

std::string test_name(const testing::TestParamInfo<NamedNetwork>& info) {
  return std::get<0>(info.param) + "_on_" + std::get<1>(info.param);
}

class WakeWord : public testing::TestWithParam<NamedNetwork> {};

TEST_P(WakeWord, EveryFrameAsReferenceThreeTimes) {
  const auto network = wake_word(std::get<0>(GetParam()));
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  run_three_times(*network, std::get<1>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Imported, WakeWord,
                         testing::Combine(testing::ValuesIn(kWakeWords), testing::Values("edge", "nano")), test_name);

class ZooNetwork : public testing::TestWithParam<NamedNetwork> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ZooNetwork);

TEST_P(ZooNetwork, AsGoldenThreeTimes) {
  run_three_times(zoo_network(std::get<0>(GetParam())).value(), std::get<1>(GetParam()));
}

#ifdef NPU_ZOO_DIR
INSTANTIATE_TEST_SUITE_P(Zoo, ZooNetwork,
                         testing::Combine(testing::ValuesIn(kZooNetworks), testing::Values("edge", "nano")), test_name);
#endif

}  // namespace
}  // namespace npu::test
