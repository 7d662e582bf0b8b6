// SPDX-License-Identifier: Apache-2.0
// Nothing goes around the firmware: without its dispatch function no job runs.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/system/firmware/patch.h"
#include "tests/system/firmware/streams.h"

namespace npu::test {
namespace {

using contract::ErrorCode;

TEST(Dispatch, WithAnEbreakInItEveryJobFails) {
  const auto network = wake_word("okay_nabu");
  if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(options("edge")),
                                                 options_with(image_with("npu_dispatch", kEbreak)));
  runtime::Context context = device.create_context();
  const runtime::LoadedProgram program = context.load(compiler::compile(network->graph, device.capabilities()));
  constexpr int kJobs = 3;  // the driver starts the firmware again after each
  for (int i = 0; i < kJobs; ++i) {
    runtime::Job job = program.create_job();
    job.set_input(0, network->frames[0][0]);
    try {
      static_cast<void>(job.run());
      ADD_FAILURE() << "job " << i << " ran without dispatch";
    } catch (const runtime::FaultError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kFaultFirmware) << error.what();
      EXPECT_NE(std::string(error.what()).find("npu_dispatch"), std::string::npos) << error.what();
      if (i == 0) std::cout << error.what() << "\n";
    }
    EXPECT_THROW(static_cast<void>(job.outputs()), Error);
  }
  std::cout << kJobs << " of " << kJobs << " jobs failed\n";
}

}  // namespace
}  // namespace npu::test
