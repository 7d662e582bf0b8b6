// SPDX-License-Identifier: Apache-2.0
// State lives in the persistent SRAM and nowhere else.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <optional>

#include "driver/graph/npy.h"
#include "sim/reference/reference.h"
#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

struct Running {
  runtime::Device device;
  runtime::Context context;
  runtime::LoadedProgram program;
  runtime::Job job;

  explicit Running(const Network& network)
      : device(open_device(options("edge"))),
        context(device.create_context()),
        program(context.load(compiler::compile(network.graph, device.capabilities()))),
        job(program.create_job()) {}

  std::vector<graph::Value> frame(const std::vector<graph::Value>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    static_cast<void>(job.run());
    return job.outputs();
  }
};

class State : public testing::TestWithParam<std::string> {};

TEST_P(State, BytesEqualTheReferenceAfterEveryFrame) {
  const auto network = wake_word(GetParam());
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  Running device(*network);
  reference::Context reference;
  int64_t compared = 0;
  for (const auto& inputs : network->frames) {
    static_cast<void>(device.frame(inputs));
    static_cast<void>(reference::run(network->graph, inputs, reference));
    for (const auto& [identity, state] : reference.variables) {
      const auto difference = graph::compare(device.context.read_variable(identity), state.value);
      ASSERT_EQ(difference.differing, 0) << identity;
      compared += difference.compared;
    }
  }
  EXPECT_GT(compared, 0);
  std::cout << GetParam() << ": 0 of " << compared << " state elements differ\n";
}

// Streams on from the middle of the phrase, after flipping one bit of one byte of a variable, or none.
std::vector<graph::Value> outputs_after_flip(Running& device, const Network& network, const std::string& identity,
                                             std::optional<size_t> byte) {
  const size_t middle = network.frames.size() * 2 / 3;
  device.context.clear();
  for (size_t i = 0; i < middle; ++i) static_cast<void>(device.frame(network.frames[i]));
  if (byte) {
    graph::Value value = device.context.read_variable(identity);
    value.bytes.at(*byte) ^= 0x80;  // the largest change that one bit makes
    device.context.write_variable(identity, value);
  }
  std::vector<graph::Value> outputs;
  for (size_t i = middle; i < network.frames.size(); ++i) outputs.push_back(device.frame(network.frames[i])[0]);
  return outputs;
}

// Only networks that hear their own phrase: the probability of the others stays 0 whatever a single byte does.
class HeardState : public testing::TestWithParam<std::string> {};

TEST_P(HeardState, FlippingOneByteOfEachVariableChangesAnOutput) {
  const auto network = wake_word(GetParam());
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  Running device(*network);
  static_cast<void>(device.frame(network->frames[0]));
  const std::vector<runtime::VariableInfo> variables = device.context.variables();
  ASSERT_FALSE(variables.empty());
  const auto undisturbed = outputs_after_flip(device, *network, "", std::nullopt);
  const auto changes = [&](const std::string& identity, size_t byte) {
    const auto flipped = outputs_after_flip(device, *network, identity, byte);
    int64_t changed = 0;
    for (size_t i = 0; i < undisturbed.size(); ++i) changed += graph::compare(flipped[i], undisturbed[i]).differing;
    return changed;
  };
  for (const runtime::VariableInfo& variable : variables) {
    // A single byte may meet a weight of 0 or a saturated sum, so several are tried, each alone.
    int64_t changed = 0;
    size_t tried = 0;
    for (; tried < 16 && changed == 0; ++tried) changed = changes(variable.identity, variable.bytes * tried / 16);
    EXPECT_GT(changed, 0) << "no output depends on " << variable.identity;
    std::cout << variable.identity << ": byte " << variable.bytes * (tried - 1) / 16 << " flipped, " << changed
              << " outputs changed\n";
  }
}

INSTANTIATE_TEST_SUITE_P(Imported, State, testing::ValuesIn(kWakeWords));
INSTANTIATE_TEST_SUITE_P(Imported, HeardState, testing::Values("okay_nabu", "hey_jarvis"));

#ifdef NPU_ZOO_DIR
class ZooState : public testing::TestWithParam<std::string> {};

TEST_P(ZooState, BytesEqualTheOfficialModelAfterEveryFrame) {
  const Network network = zoo_network(GetParam()).value();
  Running device(network);
  std::vector<std::pair<std::string, graph::NpyArray>> states;  // by variable
  for (const runtime::VariableInfo& variable : device.context.variables()) {
    states.emplace_back(variable.identity, graph::read_npy(std::filesystem::path(NPU_STATE_DIR) / GetParam() /
                                                           (variable.tensor_name + ".npy")));
  }
  ASSERT_FALSE(states.empty());
  int64_t compared = 0;
  for (size_t i = 0; i < network.frames.size(); ++i) {
    static_cast<void>(device.frame(network.frames[i]));
    for (const auto& [identity, steps] : states) {
      const graph::Value got = device.context.read_variable(identity);
      const graph::Value want =
          graph::to_value(graph::slice_axis0(steps, static_cast<int64_t>(i)), got.type, &got.shape, false, identity);
      const auto difference = graph::compare(got, want);
      ASSERT_EQ(difference.differing, 0) << identity << " after frame " << i;
      compared += difference.compared;
    }
  }
  std::cout << GetParam() << ": 0 of " << compared << " state elements differ\n";
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooState,
                         testing::Values("okay_nabu", "hey_jarvis", "lstm_step_int8", "lstm_step_int16x8"));
#endif

}  // namespace
}  // namespace npu::test
