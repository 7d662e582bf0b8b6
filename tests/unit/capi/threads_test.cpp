// SPDX-License-Identifier: Apache-2.0
// The rules for threads that npu.h states; meant to be run with the thread sanitizer, too.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/unit/capi/firmware_fixture.h"

namespace npu::test {
namespace {

// A context, program and job each, all on one device.
void use_own_context(npu_device* device, const std::vector<uint8_t>& file, uint32_t priority, std::atomic<int>& done) {
  ErrorBox error;
  auto options = sized<npu_context_options>();
  options.priority = priority;
  npu_context* context = nullptr;
  npu_program* program = nullptr;
  npu_job* job = nullptr;
  ASSERT_OK(error, npu_context_create(device, &options, &context, error.out()));
  ASSERT_OK(error, npu_program_load_memory(context, file.data(), file.size(), "sum", &program, error.out()));
  ASSERT_OK(error, npu_job_create(program, nullptr, &job, error.out()));
  const int8_t input[4] = {1, 2, 3, static_cast<int8_t>(priority)};
  for (int i = 0; i < 5; ++i) {
    uint8_t output[4] = {};
    ASSERT_OK(error, npu_job_set_input(job, 0, input, sizeof input, error.out()));
    ASSERT_OK(error, npu_job_run(job, error.out()));
    ASSERT_OK(error, npu_job_output(job, 0, output, sizeof output, error.out()));
    EXPECT_EQ(std::count(output, output + 4, 7), 4);
    int8_t state[4] = {};
    EXPECT_OK(error, npu_context_read_variable(context, "sum/state", state, sizeof state, error.out()));
    ++done;
  }
  npu_job_destroy(job);
  npu_program_destroy(program);
  npu_context_destroy(context);
}

TEST(Threads, ContextsInSeveralThreads) {
  FirmwareBench bench;
  ASSERT_EQ(bench.open(), NPU_OK) << bench.error.message();
  const std::vector<uint8_t> file = running_sum();
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { use_own_context(bench.device, file, i, done); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 20);
}

TEST(Threads, CancelFromAnotherThread) {
  FirmwareBench bench;
  bench.open_all();
  bench.firmware.on_run = [](const runtime::MockFirmware::Run&) {};  // never ends by itself
  ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out()));
  std::thread waiting([&] {
    ErrorBox error;
    EXPECT_EQ(npu_job_wait(bench.job, NPU_WAIT_FOREVER, nullptr, error.out()), NPU_STATUS_JOB_CANCELLED)
        << error.message();
  });
  EXPECT_EQ(npu_job_cancel(bench.job, nullptr), NPU_OK);
  waiting.join();
}

TEST(Threads, OneJobOfSeveralThreads) {
  Bench bench;
  bench.set_input();
  std::atomic<int> ran = 0;
  const auto use = [&] {
    for (int i = 0; i < 20; ++i) {
      ErrorBox error;
      // Another thread may have started it: that is an answer, not a race.
      const npu_status status = npu_job_run(bench.job, error.out());
      if (status == NPU_OK) {
        ++ran;
      } else {
        EXPECT_EQ(status, NPU_STATUS_WRONG_ORDER) << error.message();
      }
      uint8_t output[4] = {};
      const npu_status copied = npu_job_output(bench.job, 0, output, sizeof output, nullptr);
      if (copied == NPU_OK) {
        EXPECT_EQ(std::count(output, output + 4, 7), 4);
      } else {
        EXPECT_EQ(copied, NPU_STATUS_WRONG_ORDER);
      }
      auto result = sized<npu_job_result>();
      (void)npu_job_get_result(bench.job, &result, nullptr);
    }
  };
  std::thread first(use), second(use);
  first.join();
  second.join();
  EXPECT_GT(ran, 0);
}

TEST(Threads, QuestionsWhileAJobRuns) {
  Bench bench;
  bench.mock->on_start = [](runtime::MockHal&) {};  // never ends
  bench.set_input();
  ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out()));
  std::atomic<bool> stop = false;
  std::thread waiting([&] {
    ErrorBox error;
    while (!stop) {
      const npu_status status = npu_job_wait(bench.job, 100'000, nullptr, error.out());
      if (status == NPU_OK) continue;
      EXPECT_EQ(status, NPU_STATUS_WRONG_ORDER) << error.message();  // the reset below
      return;
    }
  });
  for (int i = 0; i < 50; ++i) {
    auto use = sized<npu_memory_use>();
    EXPECT_EQ(npu_device_memory_use(bench.device, &use, nullptr), NPU_OK);
    uint64_t count = 0;
    EXPECT_EQ(npu_job_commands_done(bench.job, &count, nullptr), NPU_OK);
    auto info = sized<npu_tensor_info>();
    EXPECT_EQ(npu_program_input(bench.program, 0, &info, nullptr), NPU_OK);
  }
  EXPECT_EQ(npu_device_soft_reset(bench.device, nullptr), NPU_OK);
  stop = true;
  waiting.join();
}

}  // namespace
}  // namespace npu::test
