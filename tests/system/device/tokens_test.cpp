// SPDX-License-Identifier: Apache-2.0
// Every dependency token of a program is needed, and its loss is found by the order that tokens give: a test removes
// each one in turn and expects a hazard that names the command.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/system/device/bench.h"

namespace npu::test {
namespace {

struct Token {
  size_t word = 0;       // of the stream
  uint32_t shift = 0;    // of the token's byte in it
  uint32_t command = 0;  // index of the command that waits
};

std::vector<Token> tokens_of(const compiler::Program& program) {
  std::vector<Token> tokens;
  uint32_t command = 0;
  for (size_t at = 0; at < program.main_words; ++command) {
    const auto header = contract::Header::decode(std::span(program.commands).subspan(at));
    for (uint32_t queue = 0; queue < contract::kWaitQueues; ++queue) {
      if (header.wait[queue] != 0) tokens.push_back({at + 2 + queue / 4, (queue % 4) * 8, command});
    }
    at += header.words;
  }
  return tokens;
}

class Tokens : public testing::TestWithParam<std::tuple<std::string, std::string, model::Mode>> {};

TEST_P(Tokens, LosingAnyOneIsAHazard) {
  const auto& [name, preset, mode] = GetParam();
  const auto network = wake_word(name);
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  runtime::Device device = open_device(options(preset, mode));
  runtime::Context context = device.create_context();
  const compiler::Program whole = compiler::compile(network->graph, device.capabilities());
  const std::vector<Token> tokens = tokens_of(whole);
  ASSERT_GT(tokens.size(), 5U);

  size_t found = 0;
  for (const Token& token : tokens) {
    compiler::Program damaged = whole;
    damaged.commands[token.word] &= ~(0xFFU << token.shift);
    const runtime::LoadedProgram program = context.load(std::move(damaged));
    runtime::Job job = program.create_job();
    for (size_t i = 0; i < network->frames[0].size(); ++i) job.set_input(i, network->frames[0][i]);
    try {
      static_cast<void>(job.run());
      ADD_FAILURE() << "no hazard without the token of command " << token.command << " at bit " << token.shift;
    } catch (const runtime::FaultError& error) {
      EXPECT_EQ(error.fault().code, contract::ErrorCode::kFaultHazard) << error.what();
      // The lost order can show at the command itself or at a later one that relied on it.
      EXPECT_GE(error.fault().command, token.command) << error.what();
      ++found;
    }
    context.clear();  // a write that the fault stopped has torn its variable
  }
  std::cout << name << " on " << preset << ": " << found << " of " << tokens.size() << " lost tokens found\n";

  // The device is unharmed: the whole program still runs.
  const runtime::LoadedProgram program = context.load(whole);
  runtime::Job job = program.create_job();
  context.clear();
  Network short_stream{network->name, network->graph, {network->frames.begin(), network->frames.begin() + 5}, {}};
  expect_equal(stream(job, short_stream), reference(short_stream), name + " afterwards");
}

INSTANTIATE_TEST_SUITE_P(Imported, Tokens,
                         testing::Combine(testing::ValuesIn(kWakeWords), testing::Values("edge", "nano"),
                                          testing::Values(model::Mode::kFunctional, model::Mode::kTimed)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_on_" + std::get<1>(info.param) +
                                  (std::get<2>(info.param) == model::Mode::kTimed ? "_timed" : "_functional");
                         });

}  // namespace
}  // namespace npu::test
