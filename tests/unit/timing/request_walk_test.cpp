// SPDX-License-Identifier: Apache-2.0
// The requests of a port.
#include "hw/timing/request_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace npu::timing::testing {
namespace {

RequestWalk walk_of(const std::vector<RequestWalk::Range>& ranges, const std::vector<uint32_t>& turns = {}) {
  RequestWalk walk;
  walk.clear();
  for (const RequestWalk::Range& range : ranges) walk.add(range);
  walk.take_turns(turns);
  return walk;
}

RequestWalk::Range range(uint64_t address, uint64_t extent, uint64_t bytes, uint64_t requests) {
  return {OnChip::kScratchpad, false, address, extent, bytes, requests};
}

RequestWalk::Range random_range(std::mt19937_64& random) {
  const uint64_t extent = 1 + random() % 400, requests = 1 + random() % 300;
  // No request has more than its extent. Often all of it is moved once.
  const uint64_t bytes = random() % 3 == 0 ? extent : random() % (std::min<uint64_t>(2000, requests * extent) + 1);
  return range(random() % 5000, extent, bytes, requests);
}

TEST(RequestWalk, SharesSumUpAndStayInside) {
  std::mt19937_64 random(101);
  for (int i = 0; i < 3000; ++i) {
    const RequestWalk::Range of = random_range(random);
    RequestWalk walk = walk_of({of});
    uint64_t bytes = 0;
    for (uint64_t k = 0; k < of.requests; ++k) {
      ASSERT_EQ(walk.left(), of.requests - k);
      const MemoryRequest request = walk.next();
      ASSERT_GE(request.address, of.address);
      ASSERT_LE(request.address + request.bytes, of.address + of.extent);
      ASSERT_LE(request.bytes, of.bytes / of.requests + 1);
      bytes += request.bytes;
      ASSERT_EQ(walk.parts()[0].moved(), bytes);
    }
    ASSERT_EQ(bytes, of.bytes);
    ASSERT_EQ(walk.next().bytes, 0u);
  }
}

TEST(RequestWalk, ADenseRangeIsReadOnce) {
  RequestWalk walk = walk_of({range(64, 1000, 1000, 7)});
  uint64_t end = 64;
  for (int k = 0; k < 7; ++k) {
    const MemoryRequest request = walk.next();
    EXPECT_EQ(request.address, end);
    end += request.bytes;
  }
  EXPECT_EQ(end, 1064u);
}

TEST(RequestWalk, TakesTurns) {
  RequestWalk walk = walk_of({range(0, 8, 8, 2), range(100, 16, 16, 4)}, {0, 1, 1});
  std::vector<uint64_t> addresses;
  for (int k = 0; k < 6; ++k) {
    const MemoryRequest request = walk.next();
    EXPECT_EQ(request.bytes, 4u);
    addresses.push_back(request.address);
  }
  EXPECT_EQ(addresses, (std::vector<uint64_t>{0, 100, 104, 4, 108, 112}));
}

// Many at once are visited as one by one: the same bytes in the same order.
TEST(RequestWalk, ManyRequestsAtOnceAreThoseOneByOne) {
  std::mt19937_64 random(102);
  uint64_t joined = 0;
  for (int i = 0; i < 3000; ++i) {
    const RequestWalk::Range of = random_range(random);
    RequestWalk::Part one(of), many(of);
    while (many.left() > 0) {
      const uint64_t requests = 1 + random() % many.left();
      std::vector<uint64_t> singly, at_once;
      const auto note = [](std::vector<uint64_t>& bytes, uint64_t address, uint64_t count) {
        for (uint64_t k = 0; k < count; ++k) bytes.push_back(address + k);
      };
      for (uint64_t k = 0; k < requests; ++k) {
        const RequestWalk::Bytes next = one.take();
        note(singly, next.address, next.bytes);
      }
      uint64_t visits = 0;
      many.take(requests, [&](const RequestWalk::Bytes& next) {
        ++visits;
        note(at_once, next.address, next.bytes);
      });
      joined += requests - visits;
      ASSERT_EQ(singly, at_once) << "case " << i;
      ASSERT_EQ(one.moved(), many.moved());
    }
    ASSERT_EQ(one.left(), 0u);
  }
  EXPECT_GT(joined, 10'000u);
}

}  // namespace
}  // namespace npu::timing::testing
