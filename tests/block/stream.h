// SPDX-License-Identifier: Apache-2.0
// Driving the valid/ready ports of a block: gaps on both sides, mismatches in buckets, seeds in every message.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>

namespace npu::rtl::test {

// A seed that NPU_SEED replaces, told with every failure.
inline uint64_t seed(uint64_t standard) {
  const char* given = std::getenv("NPU_SEED");
  return given == nullptr ? standard : std::stoull(given);
}

// Says in how many of 100 cycles one side of a handshake is willing.
class Throttle {
 public:
  Throttle(uint64_t seed, unsigned percent) : random_(seed), percent_(percent) {}
  bool next() { return percent_ >= 100 || random_() % 100 < percent_; }

 private:
  std::mt19937_64 random_;
  unsigned percent_;
};

// Counts comparisons, and sorts mismatches by what they have in common.
class Buckets {
 public:
  explicit Buckets(std::string what, uint64_t seed) : what_(std::move(what)), seed_(seed) {}
  ~Buckets() {
    std::printf("%s: seed %llu, %llu elements compared, %llu differ\n", what_.c_str(),
                static_cast<unsigned long long>(seed_), static_cast<unsigned long long>(compared_),
                static_cast<unsigned long long>(differing_));
  }
  Buckets(const Buckets&) = delete;
  Buckets& operator=(const Buckets&) = delete;

  // `bucket` and `detail` are called only for a mismatch.
  template <class Bucket, class Detail>
  void compare(int64_t got, int64_t wanted, Bucket bucket, Detail detail) {
    ++compared_;
    if (got == wanted) return;
    ++differing_;
    if (counts_[bucket()]++ == 0) {
      ADD_FAILURE() << what_ << ", seed " << seed_ << ", first of bucket '" << bucket() << "': " << detail() << ": got "
                    << got << ", wanted " << wanted;
    }
  }
  [[nodiscard]] uint64_t compared() const { return compared_; }

 private:
  std::string what_;
  uint64_t seed_;
  uint64_t compared_ = 0, differing_ = 0;
  std::map<std::string, uint64_t> counts_;
};

}  // namespace npu::rtl::test
