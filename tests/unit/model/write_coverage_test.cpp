// SPDX-License-Identifier: Apache-2.0
// Which bytes of a variable are written, against a map of single bytes.
#include "hw/model/write_coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace npu::model {
namespace {

ByteSet bytes(uint64_t low, uint64_t run, uint64_t count = 1, uint64_t stride = 0) {
  ByteSet set;
  set.low = low;
  set.run = run;
  set.rank = 1;
  set.dims[0] = {count, stride};
  set.high = low + (count - 1) * stride + run;
  return set;
}

TEST(WriteCoverage, NothingIsWrittenAtFirst) {
  WriteCoverage coverage;
  EXPECT_FALSE(coverage.complete(3));
  coverage.add(3, 0, 16, bytes(0, 16));
  EXPECT_FALSE(coverage.complete(4));
  EXPECT_TRUE(coverage.complete(3));
  EXPECT_FALSE(coverage.complete(3)) << "that was another write";
  coverage.add(3, 0, 16, bytes(0, 16));
  coverage.declared(3);
  EXPECT_FALSE(coverage.complete(3));
}

TEST(WriteCoverage, PartsOfAPlaceAddUp) {
  WriteCoverage coverage;
  coverage.add(3, 0, 16, bytes(0, 8));
  coverage.add(3, 0, 16, bytes(4, 8));
  EXPECT_FALSE(coverage.complete(3));
  coverage.add(3, 0, 16, bytes(0, 8));
  coverage.add(3, 0, 16, bytes(8, 8));
  EXPECT_TRUE(coverage.complete(3));
}

TEST(WriteCoverage, EqualsAMapOfBytes) {
  std::mt19937 random(1);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  constexpr uint64_t kLow = 8, kHigh = 56;
  int covered = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    WriteCoverage coverage;
    std::vector<bool> written(64);
    for (uint64_t n = 1 + below(40); n > 0; --n) {
      const uint64_t run = 1 + below(8), stride = run + below(4), count = 1 + below(3);
      const uint64_t low = below(written.size() - (count - 1) * stride - run);
      coverage.add(0, kLow, kHigh, bytes(low, run, count, stride));
      for (uint64_t i = 0; i < count; ++i) {
        for (uint64_t at = 0; at < run; ++at) written[low + i * stride + at] = true;
      }
    }
    const bool want = std::all_of(written.begin() + kLow, written.begin() + kHigh, [](bool byte) { return byte; });
    covered += want ? 1 : 0;
    ASSERT_EQ(coverage.complete(0), want) << "trial " << trial;
  }
  EXPECT_GT(covered, 100);
  EXPECT_LT(covered, 3900);
}

}  // namespace
}  // namespace npu::model
