// SPDX-License-Identifier: Apache-2.0
// What becomes of a job whose sizes change: before its first start, between programs, in flight, in several threads.
#include <poll.h>

#include <array>
#include <atomic>
#include <future>
#include <iostream>
#include <thread>

#include "tests/system/capi/sized_bench.h"

namespace npu::test {
namespace {

constexpr int kPatience = 60'000;  // milliseconds

// Sizes of several programs, one after the other.
const std::vector<Sizes> kTenSizes = {{300}, {1}, {17}, {1}, {299}, {2}, {150}, {1}, {64}, {300}};

bool is_readable(int fd, int milliseconds) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, milliseconds) == 1 && entry.revents == POLLIN;
}

class SizedJobs : public testing::Test {
 protected:
  void expect_no_result(npu_job* job) {
    uint64_t count = 1;
    EXPECT_OK(bench.error, npu_job_commands_done(job, &count, bench.error.out()));
    EXPECT_EQ(count, 0u);
    auto info = sized<npu_tensor_info>();
    auto result = sized<npu_job_result>();
    std::array<uint8_t, 16> bytes{};
    EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_output_info(job, 0, &info, bench.error.out()));
    EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER,
                 npu_job_output(job, 0, bytes.data(), bytes.size(), bench.error.out()));
    EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_get_result(job, &result, bench.error.out()));
    EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER,
                 npu_job_counter(job, NPU_JOB_QUEUE_ALL, NPU_JOB_COUNTER_BUSY, &count, bench.error.out()));
  }
  // A job that the device must not begin for a long time.
  npu_job* waiting_job() {
    auto later = sized<npu_job_options>();
    EXPECT_OK(bench.error, npu_device_time(simulated_device(), &later.not_before, bench.error.out()));
    later.not_before += 1'000'000'000;
    npu_job* job = nullptr;
    EXPECT_OK(bench.error, npu_job_create(bench.program, &later, &job, bench.error.out()));
    return job;
  }

  const OpenNetwork network = open_rows(300);
  SizedBench bench{network};
  std::mt19937 random{1};
};

TEST_F(SizedJobs, HaveNoResultBeforeTheFirstStart) {
  expect_no_result(bench.job);
  EXPECT_OK(bench.error, npu_job_cancel(bench.job, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_wait(bench.job, 0, nullptr, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_BAD_INPUT, npu_job_start(bench.job, bench.error.out()));
  EXPECT_NE(bench.error.message().find("input 'x' (INT8[1..300, 4]) was not set"), std::string::npos)
      << bench.error.message();
  EXPECT_GT(bench.run({3}, random), 0);
}

TEST_F(SizedJobs, OfSizesThatDoNotFitEachOtherDoNotRun) {
  bench.run({5}, random);
  std::vector<graph::Value> values = bench.inputs({300}, random), others = bench.inputs({1}, random);
  values[1] = others[1];
  ASSERT_EQ(bench.set_inputs(values), NPU_OK);
  EXPECT_FAILS(bench.error, NPU_STATUS_SIZE_MISMATCH, npu_job_run(bench.job, bench.error.out()));
  EXPECT_NE(bench.error.message().find("is 300"), std::string::npos) << bench.error.message();
  // Nothing ran, so the results are still those before.
  auto info = sized<npu_tensor_info>();
  ASSERT_OK(bench.error, npu_job_output_info(bench.job, 0, &info, bench.error.out()));
  EXPECT_EQ(info.shape[0], 5);
  // The other input stays set.
  values = bench.inputs({300}, random);
  values[1].bytes = bench.inputs({300}, random)[1].bytes;
  ASSERT_EQ(bench.set_inputs(values), NPU_OK);
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  bench.compare(bench.outputs(bench.job), bench.reference({300}, values));
}

TEST_F(SizedJobs, TakeTheLargestWithoutAShape) {
  const std::vector<graph::Value> values = bench.inputs({300}, random);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_FAILS(bench.error, NPU_STATUS_BAD_INPUT,
                 npu_job_set_input(bench.job, i, values[i].bytes.data(), 4, bench.error.out()));
    EXPECT_NE(bench.error.message().find("npu_job_set_input_shape"), std::string::npos) << bench.error.message();
    ASSERT_OK(bench.error,
              npu_job_set_input(bench.job, i, values[i].bytes.data(), values[i].bytes.size(), bench.error.out()));
  }
  ASSERT_OK(bench.error, npu_job_run(bench.job, bench.error.out()));
  EXPECT_EQ(bench.compare(bench.outputs(bench.job), bench.reference({300}, values)), 1200);
}

TEST_F(SizedJobs, ShareOneProgramWhateverTheirSizes) {
  npu_job* const waiting = waiting_job();
  ASSERT_EQ(bench.set_inputs(waiting, bench.inputs({300}, random)), NPU_OK);
  ASSERT_OK(bench.error, npu_job_start(waiting, bench.error.out()));
  ASSERT_EQ(bench.set_inputs(bench.inputs({1}, random)), NPU_OK);
  EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_start(bench.job, bench.error.out()));
  // Nor can a job start again, with sizes of another program.
  ASSERT_EQ(bench.set_inputs(waiting, bench.inputs({1}, random)), NPU_OK);
  EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER, npu_job_start(waiting, bench.error.out()));
  ASSERT_OK(bench.error, npu_job_cancel(waiting, bench.error.out()));
  EXPECT_FAILS(bench.error, NPU_STATUS_JOB_CANCELLED,
               npu_job_wait(waiting, NPU_WAIT_FOREVER, nullptr, bench.error.out()));
  bench.run({1}, random);
  npu_job_destroy(waiting);
}

TEST_F(SizedJobs, AreCancelledAndDestroyedInFlight) {
  npu_job* waiting = waiting_job();
  for (const Sizes& sizes : kTenSizes) {
    ASSERT_EQ(bench.set_inputs(waiting, bench.inputs(sizes, random)), NPU_OK);
    ASSERT_OK(bench.error, npu_job_start(waiting, bench.error.out()));
    bool ended = true;
    EXPECT_OK(bench.error, npu_job_wait(waiting, 0, &ended, bench.error.out()));
    EXPECT_FALSE(ended);
    ASSERT_OK(bench.error, npu_job_cancel(waiting, bench.error.out()));
    EXPECT_FAILS(bench.error, NPU_STATUS_JOB_CANCELLED,
                 npu_job_wait(waiting, NPU_WAIT_FOREVER, nullptr, bench.error.out()));
    expect_no_result(waiting);
    bench.run(sizes, random);
  }
  for (const Sizes& sizes : kTenSizes) {
    ASSERT_EQ(bench.set_inputs(waiting, bench.inputs(sizes, random)), NPU_OK);
    ASSERT_OK(bench.error, npu_job_start(waiting, bench.error.out()));
    npu_job_destroy(waiting);
    bench.run(sizes, random);
    waiting = waiting_job();
  }
  // A job keeps its program.
  ASSERT_EQ(bench.set_inputs(waiting, bench.inputs({1}, random)), NPU_OK);
  ASSERT_OK(bench.error, npu_job_start(waiting, bench.error.out()));
  npu_job_destroy(std::exchange(bench.job, nullptr));
  npu_program_destroy(std::exchange(bench.program, nullptr));
  npu_context_destroy(std::exchange(bench.context, nullptr));
  npu_job_destroy(waiting);
}

TEST_F(SizedJobs, ShowTheirEndsOnTheDescriptor) {
  int fd = -1;
  ASSERT_OK(bench.error, npu_device_fd(simulated_device(), &fd, bench.error.out()));
  for (const Sizes& sizes : kTenSizes) {
    const std::vector<graph::Value> values = bench.inputs(sizes, random);
    ASSERT_EQ(bench.set_inputs(values), NPU_OK);
    // The end before was not collected: starting again, with another program, does that.
    ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out()));
    ASSERT_TRUE(is_readable(fd, kPatience));
    bench.compare(bench.outputs(bench.job), bench.reference(sizes, values));
  }
  bool ended = false;
  EXPECT_OK(bench.error, npu_job_wait(bench.job, 0, &ended, bench.error.out()));
  EXPECT_TRUE(ended);
  EXPECT_FALSE(is_readable(fd, 0));
}

// Starts its job again in the function that tells its end, with sizes of another program each time.
struct Again {
  SizedBench& bench;
  std::mt19937 random{7};
  size_t count = 0;
  std::vector<graph::Value> values{};
  std::promise<void> done{};

  void start() {
    values = bench.inputs(kTenSizes[count], random);
    ASSERT_EQ(bench.set_inputs(values), NPU_OK) << bench.error.message();
    ASSERT_OK(bench.error, npu_job_start(bench.job, bench.error.out()));
  }
  static void ended(void* user, npu_job* job) {
    Again& self = *static_cast<Again*>(user);
    EXPECT_OK(self.bench.error, npu_job_wait(job, 0, nullptr, self.bench.error.out()));
    self.bench.compare(self.bench.outputs(job), self.bench.reference(kTenSizes[self.count], self.values));
    if (++self.count < kTenSizes.size()) return self.start();
    self.done.set_value();
  }
};

TEST_F(SizedJobs, TellTheirEndsToOneFunction) {
  Again again{bench};
  ASSERT_OK(bench.error, npu_job_on_complete(bench.job, Again::ended, &again, bench.error.out()));
  again.start();
  ASSERT_EQ(again.done.get_future().wait_for(std::chrono::milliseconds(kPatience)), std::future_status::ready);
  ASSERT_OK(bench.error, npu_job_on_complete(bench.job, nullptr, nullptr, bench.error.out()));
  bench.run({1}, random);
  bench.run({300}, random);
  EXPECT_EQ(again.count, kTenSizes.size()) << "no function is called any more";
}

// Two threads, each with a job of the same program, which only one of them can have in flight.
TEST(SizedThreads, ShareAProgram) {
  const OpenNetwork network = open_tables(12);
  SizedBench bench(network);
  std::atomic<int64_t> compared = 0;
  const auto use = [&](uint32_t seed) {
    ErrorBox error;
    std::mt19937 random(seed);
    npu_job* job = nullptr;
    ASSERT_OK(error, npu_job_create(bench.program, nullptr, &job, error.out()));
    for (int ran = 0; ran < 10;) {
      const Sizes sizes = random_sizes(network, random);
      std::vector<uint8_t> x(static_cast<size_t>(4 * sizes[0]));
      for (uint8_t& byte : x) byte = static_cast<uint8_t>(random());
      const std::array<int64_t, 2> shape = {4, sizes[0]};
      ASSERT_OK(error, npu_job_set_input_shape(job, 0, shape.data(), 2, x.data(), x.size(), error.out()));
      npu_status status = npu_job_run(job, error.out());
      if (status == NPU_STATUS_WRONG_ORDER) {
        std::this_thread::yield();
        continue;
      }
      ASSERT_EQ(status, NPU_OK) << error.message();
      ++ran;
      for (size_t k = 0; k < 2; ++k) {
        auto info = sized<npu_tensor_info>();
        ASSERT_OK(error, npu_job_output_info(job, k, &info, error.out()));
        ASSERT_EQ(info.bytes, x.size());
        std::vector<uint8_t> y(info.bytes);
        ASSERT_OK(error, npu_job_output(job, k, y.data(), y.size(), error.out()));
        // The columns of the table that it was mixed with, the first or the last ones: rows of 64 columns that go up by
        // 17 an element, modulo 11 steps.
        for (size_t i = 0; i < y.size(); ++i) {
          const size_t row = i / static_cast<size_t>(sizes[0]), column = i % static_cast<size_t>(sizes[0]);
          const size_t at = 64 * row + column + (k == 0 ? 0 : 64 - static_cast<size_t>(sizes[0]));
          EXPECT_EQ(y[i] ^ x[i], static_cast<uint8_t>(-90 + 17 * static_cast<int>(at % 11)));
        }
        compared += static_cast<int64_t>(y.size());
      }
      auto info = sized<npu_program_info>();
      EXPECT_OK(error, npu_program_get_info(bench.program, &info, error.out()));
    }
    npu_job_destroy(job);
  };
  std::thread first(use, 1), second(use, 2);
  first.join();
  second.join();
  std::cout << "0 differing of " << compared << " elements in two threads\n";
}

// Two threads that bring sizes to one job, and look at it.
TEST(SizedThreads, ShareAJob) {
  const OpenNetwork network = open_rows(300);
  SizedBench bench(network);
  std::atomic<int> ran = 0;
  const auto use = [&](uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 20; ++i) {
      ErrorBox error;
      const int64_t rows = random_sizes(network, random)[0];
      const std::vector<uint8_t> data(static_cast<size_t>(4 * rows));
      const std::array<int64_t, 2> shape = {rows, 4};
      for (size_t k = 0; k < 2; ++k) {
        EXPECT_OK(error, npu_job_set_input_shape(bench.job, k, shape.data(), 2, data.data(), data.size(), error.out()));
      }
      // Another thread may have started it, replaced an input, or cancelled it: these are answers, not races.
      const npu_status status = npu_job_run(bench.job, error.out());
      if (status == NPU_OK) ++ran;
      EXPECT_TRUE(status == NPU_OK || status == NPU_STATUS_WRONG_ORDER || status == NPU_STATUS_SIZE_MISMATCH ||
                  status == NPU_STATUS_JOB_CANCELLED)
          << error.message();
      if (i % 8 == 7) static_cast<void>(npu_job_cancel(bench.job, nullptr));
      uint64_t count = 0;
      EXPECT_OK(error, npu_job_commands_done(bench.job, &count, error.out()));
      std::vector<uint8_t> y(1200);
      const npu_status copied = npu_job_output(bench.job, 0, y.data(), data.size(), error.out());
      EXPECT_TRUE(copied == NPU_OK || copied == NPU_STATUS_WRONG_ORDER || copied == NPU_STATUS_BAD_INPUT)
          << error.message();
    }
  };
  std::thread first(use, 1), second(use, 2);
  first.join();
  second.join();
  EXPECT_GT(ran, 0);
  std::cout << ran << " of 40 invocations ran\n";
}

}  // namespace
}  // namespace npu::test
