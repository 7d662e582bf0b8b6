// SPDX-License-Identifier: Apache-2.0
// A set of bytes as disjoint ranges: for sets that are few long ranges.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {

class IntervalSet {
 public:
  void add(int64_t low, int64_t high);
  void remove(int64_t low, int64_t high);
  [[nodiscard]] bool contains(int64_t low, int64_t high) const;
  // What of [low, high) is in the set, ascending.
  [[nodiscard]] std::vector<ByteSpan> within(int64_t low, int64_t high) const;
  [[nodiscard]] std::vector<ByteSpan> spans() const;
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  std::map<int64_t, int64_t> ranges_;  // low to high; neighbours that touch are one
  int64_t bytes_ = 0;
};

}  // namespace npu::compiler::backend
