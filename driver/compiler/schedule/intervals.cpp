// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/intervals.h"

#include <algorithm>
#include <iterator>

namespace npu::compiler::backend {

void IntervalSet::add(int64_t low, int64_t high) {
  auto it = ranges_.upper_bound(low);
  if (it != ranges_.begin() && std::prev(it)->second >= low) {
    --it;
    if (it->second >= high) return;
    // Most bytes come in rising order: the range before grows.
    auto next = std::next(it);
    bytes_ += high - it->second;
    it->second = high;
    while (next != ranges_.end() && next->first <= high) {
      bytes_ -= std::min(high, next->second) - next->first;
      it->second = std::max(it->second, next->second);
      next = ranges_.erase(next);
    }
    return;
  }
  while (it != ranges_.end() && it->first <= high) {
    bytes_ -= it->second - it->first;
    high = std::max(high, it->second);
    it = ranges_.erase(it);
  }
  ranges_.emplace_hint(it, low, high);
  bytes_ += high - low;
}

void IntervalSet::remove(int64_t low, int64_t high) {
  auto it = ranges_.upper_bound(low);
  if (it != ranges_.begin() && std::prev(it)->second > low) --it;
  while (it != ranges_.end() && it->first < high) {
    const auto [first, end] = *it;
    bytes_ -= std::min(high, end) - std::max(low, first);
    if (first < low) {
      it->second = low;
      ++it;
    } else {
      it = ranges_.erase(it);
    }
    if (end > high) {
      ranges_.emplace_hint(it, high, end);
      return;
    }
  }
}

bool IntervalSet::contains(int64_t low, int64_t high) const {
  const auto it = ranges_.upper_bound(low);
  return it != ranges_.begin() && std::prev(it)->second >= high;
}

std::vector<ByteSpan> IntervalSet::within(int64_t low, int64_t high) const {
  std::vector<ByteSpan> out;
  auto it = ranges_.upper_bound(low);
  if (it != ranges_.begin() && std::prev(it)->second > low) --it;
  for (; it != ranges_.end() && it->first < high; ++it) {
    out.push_back({std::max(low, it->first), std::min(high, it->second)});
  }
  return out;
}

std::vector<ByteSpan> IntervalSet::spans() const {
  std::vector<ByteSpan> out;
  out.reserve(ranges_.size());
  for (const auto& [low, high] : ranges_) out.push_back({low, high});
  return out;
}

}  // namespace npu::compiler::backend
