// SPDX-License-Identifier: Apache-2.0
// Networks that stream: after every one of many steps, outputs and variables are those of the reference.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "tests/system/device/bench.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

constexpr int kSteps = 64;
constexpr uint32_t kSeed = 11;

class Streams : public testing::TestWithParam<std::string> {
 protected:
  runtime::Device device_ = open_device(options(GetParam()));
  std::mt19937 random_{kSeed};

  // With all variables where the compiler wants them, and compiled as if all were in DRAM.
  void stream(const graph::Graph& graph, const std::string& name) {
    for (const bool in_dram : {false, true}) {
      compiler::Options options;
      options.schedule.state_in_dram = in_dram;
      SideBySide both(device_);
      const size_t program = both.load(graph, options);
      for (int step = 0; step < kSteps && !HasFailure(); ++step) both.step(program, random_inputs(graph, random_));
      both.report(name + " on " + GetParam() + (in_dram ? ", state in DRAM" : ""));
    }
  }
};

TEST_P(Streams, GruStepInt8) {
  stream(gru_step({}, Precision::kInt8, kSeed), "GRU int8");
  stream(gru_step({33, 64}, Precision::kInt8, kSeed + 1), "GRU int8, 64 units");
}

TEST_P(Streams, GruStepInt16x8) {
  stream(gru_step({}, Precision::kInt16x8, kSeed), "GRU int16x8");
  stream(gru_step({33, 64}, Precision::kInt16x8, kSeed + 1), "GRU int16x8, 64 units");
}

TEST_P(Streams, AttentionStep) {
  stream(attention_step({16, 16, 1}, kSeed), "attention over 16 rows of 16");
  stream(attention_step({24, 32, 2}, kSeed), "two layers of attention over 24 rows of 32");
}

// Windows and layers grow until they take many times the persistent SRAM: some variables then live in DRAM.
TEST_P(Streams, AttentionGrowsUntilItSpills) {
  const auto room = static_cast<int64_t>(device_.memory_use().persistent_bytes);
  bool fitted = false, spilled_some = false;
  for (const AttentionSizes& sizes : {AttentionSizes{16, 16, 1}, AttentionSizes{48, 16, 2}, AttentionSizes{64, 32, 2},
                                      AttentionSizes{128, 32, 4}, AttentionSizes{256, 32, 8}}) {
    SideBySide both(device_);
    const graph::Graph graph = attention_step(sizes, kSeed);
    const size_t program = both.load(graph);
    for (int step = 0; step < 24 && !HasFailure(); ++step) both.step(program, random_inputs(graph, random_));
    size_t spilled = 0, variables = 0;
    for (const runtime::VariableInfo& info : both.context().variables()) {
      spilled += info.in_dram ? 1 : 0;
      ++variables;
    }
    EXPECT_EQ(spilled > 0, attention_state_bytes(sizes) > room);
    fitted |= spilled == 0;
    spilled_some |= spilled > 0 && spilled < variables;
    both.report(GetParam() + ": " + std::to_string(attention_state_bytes(sizes)) + " bytes of state, " +
                std::to_string(spilled) + " of " + std::to_string(variables) + " variables in DRAM");
  }
  EXPECT_TRUE(fitted);
  EXPECT_TRUE(spilled_some);
}

// Encoder and decoder in one context, in turns of random length; each sees what the other wrote.
TEST_P(Streams, EncoderAndDecoderShareVariables) {
  const Pair pair = encoder_decoder(12, 16, kSeed);
  SideBySide both(device_);
  const size_t encoder = both.load(pair.encoder), decoder = both.load(pair.decoder);
  for (int step = 0; step < 2 * kSteps && !HasFailure(); ++step) {
    const bool encode = random_() % 2 == 0;
    both.step(encode ? encoder : decoder, random_inputs(encode ? pair.encoder : pair.decoder, random_));
  }
  EXPECT_EQ(both.context().variables().size(), 3U) << "one memory and one count for both, and the decoder's own";
  both.report("encoder and decoder on " + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Machines, Streams, testing::Values("edge", "nano"),
                         [](const auto& info) { return info.param; });

#ifdef NPU_ZOO_DIR
class ExportedLstm : public testing::TestWithParam<std::tuple<std::string, std::string, bool>> {};

// The frames of the export, against its golden outputs as well, and then random ones.
TEST_P(ExportedLstm, ManySteps) {
  const auto& [name, preset, in_dram] = GetParam();
  const Network network = zoo_network(name).value();
  runtime::Device device = open_device(options(preset));
  SideBySide both(device);
  compiler::Options options;
  options.schedule.state_in_dram = in_dram;
  const size_t program = both.load(network.graph, options);
  std::mt19937 random(kSeed);
  int64_t golden = 0, differing = 0;
  for (size_t step = 0; step < network.frames.size() + kSteps && !HasFailure(); ++step) {
    const bool exported = step < network.frames.size();
    both.step(program, exported ? network.frames[step] : random_inputs(network.graph, random));
    if (exported) {
      const auto difference = graph::compare(both.outputs(program).at(0), network.golden->at(step));
      EXPECT_EQ(difference.differing, 0) << "golden output " << step;
      golden += difference.compared;
      differing += difference.differing;
    }
  }
  both.report(name + " on " + preset + (in_dram ? ", state in DRAM" : ""));
  EXPECT_GT(golden, 0);
  std::cout << differing << " of " << golden << " elements differ from the golden outputs\n";
}

INSTANTIATE_TEST_SUITE_P(Zoo, ExportedLstm,
                         testing::Combine(testing::Values("lstm_step_int8", "lstm_step_int16x8"),
                                          testing::Values("edge", "nano"), testing::Bool()),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_on_" + std::get<1>(info.param) +
                                  (std::get<2>(info.param) ? "_in_dram" : "");
                         });
#endif

}  // namespace
}  // namespace npu::test
