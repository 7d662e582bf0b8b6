// SPDX-License-Identifier: Apache-2.0
// How a program hears of completions without waiting for a job: the file descriptor, and functions that are called.
#include <poll.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/unit/capi/firmware_fixture.h"

namespace npu::test {
namespace {

using runtime::MockFirmware;

constexpr int kPollPatience = 20'000;  // milliseconds

// Whether it is readable within the time; a wrong descriptor is not.
bool descriptor_is_readable(int fd, int milliseconds) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, milliseconds) == 1 && entry.revents == POLLIN;
}

class CompletionTest : public testing::Test {
 protected:
  CompletionTest() {
    bench.open_all();
    bench.mock->sleeps = true;
  }
  int descriptor() {
    int fd = -1;
    EXPECT_OK(bench.error, npu_device_fd(bench.device, &fd, bench.error.out()));
    return fd;
  }
  void start() { ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out())); }

  FirmwareBench bench;
};

TEST_F(CompletionTest, TheDescriptorIsReadableUntilTheCompletionIsCollected) {
  const int fd = descriptor();
  EXPECT_EQ(descriptor(), fd);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(descriptor_is_readable(fd, 0));
    start();
    // The caller does not wait for the job: the library lets the device run.
    ASSERT_TRUE(descriptor_is_readable(fd, kPollPatience));
    EXPECT_TRUE(descriptor_is_readable(fd, 0)) << "it follows the level, not the edge";
    bool ended = false;
    ASSERT_OK(bench.error, npu_job_wait(bench.job, 0, &ended, bench.error.out()));
    EXPECT_TRUE(ended);
    EXPECT_FALSE(descriptor_is_readable(fd, 0));
  }
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  EXPECT_FALSE(descriptor_is_readable(fd, 0)) << "npu_job_run() has told it";
}

TEST_F(CompletionTest, AJobThatEndsBadlyIsACompletionToo) {
  const int fd = descriptor();
  bench.firmware.on_run = [](const MockFirmware::Run&) {};  // never ends by itself
  start();
  EXPECT_FALSE(descriptor_is_readable(fd, 20));
  ASSERT_OK(bench.error, npu_job_cancel(bench.job, bench.error.out()));
  ASSERT_TRUE(descriptor_is_readable(fd, kPollPatience));
  EXPECT_FAILS(bench.error, NPU_STATUS_JOB_CANCELLED, npu_job_wait(bench.job, 0, nullptr, bench.error.out()));
  EXPECT_FALSE(descriptor_is_readable(fd, 0));
  start();
  ASSERT_OK(bench.error, npu_device_soft_reset(bench.device, bench.error.out()));
  ASSERT_TRUE(descriptor_is_readable(fd, kPollPatience));
  EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_wait(bench.job, 0, nullptr, bench.error.out()));
  EXPECT_FALSE(descriptor_is_readable(fd, 0));
}

TEST_F(CompletionTest, StartingAgainAndDestroyingCollect) {
  const int fd = descriptor();
  start();
  ASSERT_TRUE(descriptor_is_readable(fd, kPollPatience));
  bench.firmware.on_run = [](const MockFirmware::Run&) {};
  start();
  EXPECT_FALSE(descriptor_is_readable(fd, 0));
  ASSERT_OK(bench.error, npu_job_cancel(bench.job, bench.error.out()));
  ASSERT_TRUE(descriptor_is_readable(fd, kPollPatience));
  npu_job_destroy(bench.job);
  bench.job = nullptr;
  EXPECT_FALSE(descriptor_is_readable(fd, 0));
}

// A completion that was there before anybody asked for the descriptor.
TEST_F(CompletionTest, TheDescriptorShowsWhatEndedBefore) {
  start();
  ASSERT_OK(bench.error, npu_device_soft_reset(bench.device, bench.error.out()));  // ends the job
  EXPECT_TRUE(descriptor_is_readable(descriptor(), 0));
}

struct Calls {
  std::atomic<int> count = 0;
  std::promise<std::thread::id> done;
  std::future<std::thread::id> end = done.get_future();
  static constexpr int kWanted = 5;

  // Collects the job and starts it again, in the function that tells its end.
  static void again(void* user, npu_job* job) {
    Calls& calls = *static_cast<Calls*>(user);
    bool ended = false;
    EXPECT_EQ(npu_job_wait(job, 0, &ended, nullptr), NPU_OK);
    EXPECT_TRUE(ended);
    uint8_t output[4] = {};
    EXPECT_EQ(npu_job_output(job, 0, output, sizeof output, nullptr), NPU_OK);
    EXPECT_EQ(output[0], 7);
    if (++calls.count < kWanted) {
      EXPECT_EQ(npu_job_start(job, nullptr), NPU_OK);
    } else {
      calls.done.set_value(std::this_thread::get_id());
    }
  }
};

TEST_F(CompletionTest, AFunctionIsCalledOnceAnEndAndMayStartTheJobAgain) {
  Calls calls;
  ASSERT_OK(bench.error, npu_job_on_complete(bench.job, Calls::again, &calls, bench.error.out()));
  start();
  ASSERT_EQ(calls.end.wait_for(std::chrono::milliseconds(kPollPatience)), std::future_status::ready);
  EXPECT_NE(calls.end.get(), std::this_thread::get_id());
  EXPECT_EQ(calls.count, Calls::kWanted);
  // Also for a caller that waits itself; and none is called when the next one has replaced it.
  ASSERT_OK(bench.error, npu_job_on_complete(bench.job, nullptr, nullptr, bench.error.out()));
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  EXPECT_EQ(calls.count, Calls::kWanted);
}

TEST_F(CompletionTest, DestroyingWaitsForTheFunctionThatRuns) {
  struct Slow {
    std::promise<void> entered;
    std::atomic<bool> left = false;
  } slow;
  const auto function = [](void* user, npu_job*) {
    auto& self = *static_cast<Slow*>(user);
    self.entered.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    self.left = true;
  };
  ASSERT_OK(bench.error, npu_job_on_complete(bench.job, function, &slow, bench.error.out()));
  start();
  ASSERT_EQ(slow.entered.get_future().wait_for(std::chrono::milliseconds(kPollPatience)), std::future_status::ready);
  npu_job_destroy(bench.job);
  bench.job = nullptr;
  EXPECT_TRUE(slow.left);
}

// The last handles go in a function: the library's thread takes the device with it.
TEST_F(CompletionTest, AFunctionMayDestroyEverything) {
  struct Last {
    FirmwareBench* bench;
    std::promise<void> done;
  } last{&bench, {}};
  const auto function = [](void* user, npu_job* job) {
    auto& self = *static_cast<Last*>(user);
    npu_job_destroy(job);
    npu_program_destroy(self.bench->program);
    npu_context_destroy(self.bench->context);
    npu_device_destroy(self.bench->device);
    self.done.set_value();
  };
  ASSERT_OK(bench.error, npu_job_on_complete(bench.job, function, &last, bench.error.out()));
  start();
  ASSERT_EQ(last.done.get_future().wait_for(std::chrono::milliseconds(kPollPatience)), std::future_status::ready);
  bench.job = nullptr;
  bench.program = nullptr;
  bench.context = nullptr;
  bench.device = nullptr;
}

TEST_F(CompletionTest, MisuseIsRefused) {
  int fd = 5;
  EXPECT_FAILS(bench.error, NPU_STATUS_BAD_OPTION, npu_device_fd(nullptr, &fd, bench.error.out()));
  EXPECT_EQ(fd, 5);
  EXPECT_FAILS(bench.error, NPU_STATUS_BAD_OPTION, npu_device_fd(bench.device, nullptr, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_BAD_OPTION,
               npu_job_on_complete(nullptr, Calls::again, nullptr, bench.error.out()));
}

}  // namespace
}  // namespace npu::test
