// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/memory_map.h"

#include <algorithm>

#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {

std::optional<int64_t> MemoryMap::find(int64_t bytes, int64_t first, int64_t last, int64_t alignment) const {
  std::vector<Rectangle> busy;
  for (const Rectangle& r : taken_) {
    if (r.first <= last && first <= r.last) busy.push_back(r);
  }
  std::sort(busy.begin(), busy.end(), [](const Rectangle& a, const Rectangle& b) { return a.low < b.low; });
  int64_t at = 0;
  for (const Rectangle& r : busy) {
    if (r.low >= at + bytes) break;
    at = std::max(at, round_up(r.high, alignment));
  }
  if (at + bytes > size_) return std::nullopt;
  return at;
}

void MemoryMap::take(int64_t address, int64_t bytes, int64_t first, int64_t last) {
  taken_.push_back({address, address + bytes, first, last});
}

int64_t MemoryMap::peak() const {
  int64_t peak = 0;
  for (const Rectangle& r : taken_) peak = std::max(peak, r.high);
  return peak;
}

}  // namespace npu::compiler::backend
