// SPDX-License-Identifier: Apache-2.0
// Requests from one thread to another and back.
#include "hw/model/hand_over.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace npu::model::testing {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

TEST(HandOverTest, AnswersShortAndLongRequestsInTurn) {
  HandOver hand_over;
  int request = 0, sum = 0;
  constexpr int kRequests = 200;
  std::thread server([&] {
    for (int i = 0; i < kRequests; ++i) {
      hand_over.receive();
      if (request % 50 == 0) std::this_thread::sleep_for(milliseconds(5));  // long enough to sleep for
      sum += request;
      hand_over.answer();
    }
  });
  for (int i = 1; i <= kRequests; ++i) {
    request = i;
    hand_over.call();
    EXPECT_EQ(sum, i * (i + 1) / 2);
  }
  server.join();
}

TEST(HandOverTest, KeepsDeadlinesWhileItSpinsAndWhileItSleeps) {
  HandOver hand_over;
  std::atomic<bool> late = false;
  std::thread server([&] {
    hand_over.receive();
    while (!late) std::this_thread::sleep_for(milliseconds(1));
    hand_over.answer();
  });
  hand_over.post();
  EXPECT_FALSE(hand_over.await_answer(Clock::now()));
  const auto deadline = Clock::now() + milliseconds(5);
  EXPECT_FALSE(hand_over.await_answer(deadline));
  EXPECT_GE(Clock::now(), deadline);
  late = true;
  hand_over.await_answer();
  EXPECT_TRUE(hand_over.await_answer(Clock::now()));
  server.join();
}

}  // namespace
}  // namespace npu::model::testing
