// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/memory_map.h"

#include <algorithm>

#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {

std::vector<MemoryMap::Rectangle> MemoryMap::busy(int64_t first, int64_t last) const {
  std::vector<Rectangle> busy;
  for (const Rectangle& r : taken_) {
    if (r.first <= last && first <= r.last) busy.push_back(r);
  }
  return busy;
}

std::optional<int64_t> MemoryMap::find(int64_t bytes, int64_t first, int64_t last, int64_t alignment, End end) const {
  if (end == End::kHigh) return find_high(bytes, first, last, alignment);
  std::vector<Rectangle> busy = this->busy(first, last);
  std::sort(busy.begin(), busy.end(), [](const Rectangle& a, const Rectangle& b) { return a.low < b.low; });
  int64_t at = 0;
  for (const Rectangle& r : busy) {
    if (r.low >= at + bytes) break;
    at = std::max(at, round_up(r.high, alignment));
  }
  if (at + bytes > size_) return std::nullopt;
  return at;
}

std::optional<int64_t> MemoryMap::find_high(int64_t bytes, int64_t first, int64_t last, int64_t alignment) const {
  std::vector<Rectangle> busy = this->busy(first, last);
  std::sort(busy.begin(), busy.end(), [](const Rectangle& a, const Rectangle& b) { return a.high > b.high; });
  const auto below = [&](int64_t end) { return end < bytes ? -1 : (end - bytes) / alignment * alignment; };
  int64_t end = size_;
  for (const Rectangle& r : busy) {
    if (below(end) >= r.high) break;
    end = std::min(end, r.low);
  }
  if (end < bytes) return std::nullopt;
  return below(end);
}

MemoryMap::Room MemoryMap::room(int64_t first, int64_t last) const {
  std::vector<Rectangle> busy = this->busy(first, last);
  std::sort(busy.begin(), busy.end(), [](const Rectangle& a, const Rectangle& b) { return a.low < b.low; });
  Room room;
  int64_t most = 0, end = 0;
  for (const Rectangle& r : busy) {
    room.piece = std::max(room.piece, r.low - end);
    end = std::max(end, r.high);
    // The busiest time is when one of them begins, or the first.
    const int64_t tick = std::max(first, r.first);
    int64_t used = 0;
    for (const Rectangle& other : busy) {
      if (other.first <= tick && tick <= other.last) used += other.high - other.low;
    }
    most = std::max(most, used);
  }
  room.piece = std::max(room.piece, size_ - end);
  room.bytes = size_ - most;
  return room;
}

void MemoryMap::take(int64_t address, int64_t bytes, int64_t first, int64_t last, const Holder& holder) {
  taken_.push_back({address, address + bytes, first, last});
  holders_.push_back(holder);
}

std::vector<Taken> MemoryMap::taken() const {
  std::vector<Taken> all;
  all.reserve(taken_.size());
  for (size_t i = 0; i < taken_.size(); ++i) {
    const Rectangle& r = taken_[i];
    all.push_back({r.low, r.high, r.first, r.last, holders_[i]});
  }
  return all;
}

int64_t MemoryMap::peak() const {
  int64_t peak = 0;
  for (const Rectangle& r : taken_) peak = std::max(peak, r.high);
  return peak;
}

}  // namespace npu::compiler::backend
