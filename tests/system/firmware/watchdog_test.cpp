// SPDX-License-Identifier: Apache-2.0
// Firmware that loops after it has worked for a while: found within the watchdog's time, and everybody goes on.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/system/firmware/damage.h"
#include "tests/system/firmware/patch.h"
#include "tests/system/firmware/streams.h"

namespace npu::test {
namespace {

using contract::ErrorCode;

// The function that handles a fault loops, so that jobs run well until one faults.
TEST(Watchdog, StopsFirmwareThatLoopsAndTheDriverStartsItAgain) {
  auto network = wake_word("okay_nabu"), other_network = wake_word("hey_jarvis");
  if (!network || !other_network) GTEST_SKIP() << "not imported: the Python environment is missing";
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(options("edge")),
                                                 options_with(image_with("npu_fault_end", kJumpToItself)));
  Streamer other(device, *other_network), same(device, *network);
  other.run(30);
  same.run(10);
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram bad =
      context.load(beyond_its_output(compiler::compile(network->graph, device.capabilities())));
  runtime::Job job = bad.create_job();
  job.set_input(0, network->frames[0][0]);
  const uint64_t before = device.time();
  uint64_t took = 0;
  try {
    static_cast<void>(job.run());
    FAIL() << "a job that faults ended well";
  } catch (const runtime::FaultError& error) {
    took = device.time() - before;
    std::cout << error.what() << "\nreported after " << took << " device cycles\n";
    EXPECT_EQ(error.code(), ErrorCode::kFaultFirmware) << error.what();
    EXPECT_NE(std::string(error.what()).find("npu_fault_end"), std::string::npos) << error.what();
  }
  // docs/architecture/firmware.md: 1 ms without wfi or a new write; the job itself and the new start come on top.
  const uint64_t millisecond = uint64_t{device.capabilities().clock_mhz} * 1000;
  EXPECT_GE(took, millisecond);
  EXPECT_LE(took, millisecond + millisecond / 2);

  same.run(10);
  other.run(30);
  same.expect_reference("around a stop of the firmware");
  other.expect_reference("in another context, around a stop of the firmware");
}

}  // namespace
}  // namespace npu::test
