// SPDX-License-Identifier: Apache-2.0
// What must not change a bit (latency), and what must (damage).
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

// Each seed is a process of its own, because SystemC elaborates once.
class Latency : public testing::TestWithParam<std::tuple<std::string, std::string, uint64_t>> {};

TEST_P(Latency, RandomExtraCyclesChangeNoBit) {
  const auto& [name, preset, seed] = GetParam();
  const auto network = wake_word(name);
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  platform::PlatformOptions jittery = options(preset);
  jittery.jitter_seed = seed;
  jittery.jitter_max_cycles = 2000;
  std::cout << "seed " << seed << "\n";
  runtime::Device device = open_device(jittery);
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(network->graph, device.capabilities()));
  runtime::Job job = program.create_job();
  expect_equal(stream(job, *network), reference(*network), name + " on " + preset + " with random latency");
}

INSTANTIATE_TEST_SUITE_P(Imported, Latency,
                         testing::Combine(testing::ValuesIn(kWakeWords), testing::Values("edge", "nano"),
                                          testing::Values(1U, 2U, 3U, 4U)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_on_" + std::get<1>(info.param) + "_seed_" +
                                  std::to_string(std::get<2>(info.param));
                         });

TEST(Damage, OneWeightByteMakesTheCheckFail) {
  const auto network = wake_word("okay_nabu");
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  runtime::Device device = open_device(options("edge"));
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(network->graph, device.capabilities()));
  runtime::Job job = program.create_job();
  const auto want = reference(*network);
  ASSERT_EQ(differing(stream(job, *network), want), 0);

  // Not every byte of the constants matters (padding, weights of channels that a clamp silences), most do.
  constexpr uint32_t kSeed = 20;
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<uint64_t> offsets(0, program.program().constants.size() - 1);
  int noticed = 0;
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t address = program.constant_address(offsets(random));
    uint8_t byte = 0;
    device.read_memory(address, {&byte, 1});
    const uint8_t flipped = byte ^ 0x40;
    device.write_memory(address, {&flipped, 1});
    context.clear();
    try {
      noticed += differing(stream(job, *network), want) > 0 ? 1 : 0;
    } catch (const runtime::FaultError&) {
      ++noticed;  // a damaged parameter (a shift, say) may be refused outright
    }
    device.write_memory(address, {&byte, 1});
  }
  std::cout << "seed " << kSeed << ": " << noticed << " of " << kTries << " damaged bytes noticed\n";
  EXPECT_GE(noticed, kTries / 2);
  context.clear();
  EXPECT_EQ(differing(stream(job, *network), want), 0) << "the damage was not undone";
}

TEST(Modes, FunctionalGivesTheSameBitsWithoutTime) {
  const auto network = wake_word("hey_jarvis");
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  runtime::Device device = open_device(options("edge", model::Mode::kFunctional));
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(network->graph, device.capabilities()));
  runtime::Job job = program.create_job();
  const std::vector<Invocation> got = stream(job, *network);
  expect_equal(got, reference(*network), "functional mode");
  for (const Invocation& invocation : got) EXPECT_EQ(invocation.cycles, 0U);
}

}  // namespace
}  // namespace npu::test
