// SPDX-License-Identifier: Apache-2.0
// Random numbers of a seed: the same in every process.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <utility>

namespace npu::cosim {

class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed), engine_(seed) {}

  [[nodiscard]] uint64_t seed() const { return seed_; }
  uint64_t bits() { return engine_(); }
  // low .. high, both included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<int64_t>(values.size()) - 1)];
  }
  // Every order is as likely.
  template <class T>
  void shuffle(std::span<T> values) {
    for (size_t last = values.size(); last-- > 1;) {
      std::swap(values[last], values[static_cast<size_t>(between(0, static_cast<int64_t>(last)))]);
    }
  }
  void fill(std::span<uint8_t> bytes) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine_() >> 24);
  }

 private:
  uint64_t seed_;
  std::mt19937_64 engine_;
};

}  // namespace npu::cosim
