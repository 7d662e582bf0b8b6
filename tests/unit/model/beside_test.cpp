// SPDX-License-Identifier: Apache-2.0
// The thread beside the simulation's.
#include "hw/model/beside.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace npu::model::testing {
namespace {

TEST(BesideTest, WorkIsDoneWhenItHasBeenWaitedFor) {
  Beside beside;
  uint64_t sum = 0;
  for (uint64_t i = 1; i <= 2000; ++i) {
    beside.start([&sum, i] { sum += i; });
    beside.wait();
    ASSERT_EQ(sum, i * (i + 1) / 2);
  }
}

TEST(BesideTest, SleepsAndWakes) {
  Beside beside;
  int done = 0;
  for (int i = 0; i < 3; ++i) {
    beside.start([&done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++done;
    });
    beside.wait();
    EXPECT_EQ(done, i + 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(BesideTest, EndsBehindWorkThatWasNotWaitedFor) {
  std::atomic<bool> done = false;
  {
    Beside beside;
    beside.start([&done] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace npu::model::testing
