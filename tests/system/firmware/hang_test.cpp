// SPDX-License-Identifier: Apache-2.0
// An engine that never completes: the job ends in time and says who waits for whom, and no other context notices.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/system/firmware/streams.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using contract::Queue;
namespace reg = contract::reg;

class Hang : public testing::TestWithParam<std::string> {};

Queue queue_named(const std::string& name) {
  return name == "mxu" ? Queue::kMxu : name == "vpu" ? Queue::kVpu : Queue::kDma0;
}

TEST_P(Hang, IsNamedAndTheNextJobRuns) {
  auto network = wake_word("okay_nabu"), other_network = wake_word("hey_jarvis");
  if (!network || !other_network) GTEST_SKIP() << "not imported: the Python environment is missing";
  const std::string& engine = GetParam();
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(options("edge")));
  Streamer other(device, *other_network);
  other.run(40);

  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(network->graph, device.capabilities()));
  constexpr uint64_t kLimit = 100'000;
  constexpr uint32_t kCommand = 8;  // the hook takes the first of the queue from there on
  runtime::Job job = program.create_job({.cycle_limit = kLimit});
  job.set_input(0, network->frames[0][0]);
  device.write_register(reg::kTestHangCommand, kCommand);
  device.write_register(reg::kTestHang, reg::kTestHangEnableMask | static_cast<uint32_t>(queue_named(engine))
                                                                       << reg::kTestHangQueueLsb);
  const uint64_t before = device.time();
  try {
    static_cast<void>(job.run());
    FAIL() << "a job with an engine that hangs ended well";
  } catch (const runtime::FaultError& error) {
    const std::string text = error.what();
    std::cout << text << "\n";
    EXPECT_EQ(error.code(), ErrorCode::kFaultTimeout) << text;
    EXPECT_EQ(error.fault().queue, queue_named(engine)) << text;
    EXPECT_GE(error.fault().command, kCommand) << text;
    EXPECT_NE(text.find(engine), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(error.fault().command)), std::string::npos) << text;
    EXPECT_NE(text.find("waits for"), std::string::npos) << text;
  }
  // docs/architecture/firmware.md: the limit plus 1,000, and what the firmware takes around the job.
  const uint64_t took = device.time() - before;
  std::cout << "reported after " << took << " device cycles, limit " << kLimit << "\n";
  EXPECT_GE(took, kLimit);
  EXPECT_LE(took, kLimit + 1000 + 30'000);

  context.clear();
  Network part{network->name, network->graph, {network->frames.begin(), network->frames.begin() + 10}, {}};
  runtime::Job next = program.create_job();
  expect_equal(stream(next, part), reference(part), part.name + " after the hang");
  other.run(40);
  other.expect_reference("in another context, around the hang");
}

INSTANTIATE_TEST_SUITE_P(Engines, Hang, testing::Values("mxu", "vpu", "dma0"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace npu::test
