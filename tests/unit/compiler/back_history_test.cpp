// SPDX-License-Identifier: Apache-2.0
// What accesses wait for, beside a record of each single byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "driver/compiler/schedule/history.h"

namespace npu::compiler::backend {
namespace {

using contract::Queue;

// The last accesses to each byte, one by one.
class PlainHistory {
 public:
  explicit PlainHistory(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {}

  void access(int64_t low, int64_t high, bool write, Queue queue, int32_t count, QueueCounts& need) {
    for (int64_t at = low; at < high; ++at) {
      Byte& byte = bytes_.at(static_cast<size_t>(at));
      join(need, byte.writer);
      if (write) {
        join(need, byte.readers);
        byte = {};
        byte.writer[queue] = count;
      } else {
        byte.readers[queue] = count;
      }
    }
  }

 private:
  struct Byte {
    QueueCounts writer, readers;
  };
  std::vector<Byte> bytes_;
};

TEST(History, AWriterWaitsForReadersAndAReaderForTheWriter) {
  History history;
  const auto need = [&](int64_t low, int64_t high, bool write, Queue queue, int32_t count) {
    QueueCounts counts;
    history.access(low, high, write, queue, count, counts);
    return counts;
  };
  EXPECT_EQ(need(0, 100, true, Queue::kMxu, 1)[Queue::kMxu], 0) << "it was never touched";
  EXPECT_EQ(need(40, 60, false, Queue::kVpu, 1)[Queue::kMxu], 1);
  EXPECT_EQ(need(0, 40, true, Queue::kDma0, 1)[Queue::kVpu], 0) << "beside what is read";
  EXPECT_EQ(need(59, 61, true, Queue::kDma0, 2)[Queue::kVpu], 1);
  const QueueCounts all = need(0, 100, false, Queue::kVpu, 2);
  EXPECT_EQ(all[Queue::kDma0], 2);
  EXPECT_EQ(all[Queue::kMxu], 1);
  EXPECT_EQ(need(10, 10, true, Queue::kDma0, 3)[Queue::kVpu], 0) << "no byte";
  EXPECT_EQ(need(10, 11, true, Queue::kDma0, 3)[Queue::kVpu], 2);
}

// Enough boundaries for many chunks; some accesses are of one run after the other, as tiles have them, some cover most
// of what is before them.
TEST(History, AgreesWithOneOfSingleBytes) {
  constexpr int64_t kBytes = 6000;
  std::mt19937_64 random(20'264);
  const auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int64_t compared = 0;
  for (int round = 0; round < 6; ++round) {
    History history;
    PlainHistory plain(kBytes);
    QueueCounts issued;
    for (int command = 0; command < 400; ++command) {
      const auto queue = contract::kQueuesOfEngines.at(
          static_cast<size_t>(between(0, static_cast<int64_t>(contract::kQueuesOfEngines.size()) - 1)));
      const int32_t count = ++issued[queue];
      const bool write = between(0, 2) == 0, wide = between(0, 19) == 0;
      const int64_t runs = wide ? 1 : between(1, 300), run = wide ? between(1, 4000) : between(1, 4);
      const int64_t stride = run + between(0, 15);
      int64_t low = between(0, kBytes - 1);
      for (int64_t r = 0; r < runs && low < kBytes; ++r, low += stride) {
        const int64_t high = std::min(low + run, kBytes);
        QueueCounts found, expected;
        history.access(low, high, write, queue, count, found);
        plain.access(low, high, write, queue, count, expected);
        for (const Queue q : contract::kQueuesOfEngines) {
          ASSERT_EQ(found[q], expected[q])
              << "round " << round << ", command " << command << ", bytes " << low << " to " << high;
        }
        ++compared;
      }
    }
  }
  RecordProperty("compared", static_cast<int>(compared));
  EXPECT_GT(compared, 100'000);
}

}  // namespace
}  // namespace npu::compiler::backend
