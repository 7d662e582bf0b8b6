// SPDX-License-Identifier: Apache-2.0
// The FIFO against a queue, under every pair of willing and unwilling sides.
#include "rtl/verilated/fifo.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "tests/block/stream.h"

namespace npu::rtl::test {
namespace {

TEST(FifoCell, IsAQueueUnderRandomBackPressure) {
  const std::unique_ptr<Fifo> block = make_fifo();
  const uint64_t first = seed(606);
  std::mt19937_64 random(first);
  Buckets buckets("fifo", first);
  std::deque<uint8_t> queue;
  for (unsigned percent : {20, 50, 80, 100}) {
    for (unsigned other : {20, 50, 80, 100}) {
      Throttle source(random(), percent), sink(random(), other);
      for (int cycle = 0; cycle < 500; ++cycle) {
        const bool offers = source.next(), takes = sink.next();
        const auto entry = static_cast<uint8_t>(random());
        block->set_ready(takes);
        block->set_input(offers, entry);
        const auto where = [&] { return fmt::format("sides {} and {}, cycle {}", percent, other, cycle); };
        const bool ready = block->ready(), valid = block->valid();
        buckets.compare(
            ready, queue.size() < Fifo::kDepth, [] { return "room"; }, where);
        buckets.compare(
            valid, !queue.empty(), [] { return "an entry"; }, where);
        if (valid && !queue.empty()) {
          buckets.compare(
              block->data(), queue.front(), [] { return "data"; }, where);
          if (takes) queue.pop_front();
        }
        if (offers && ready) queue.push_back(entry);
        block->tick();
      }
    }
  }
}

}  // namespace
}  // namespace npu::rtl::test
