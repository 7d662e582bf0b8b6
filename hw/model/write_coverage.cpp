// SPDX-License-Identifier: Apache-2.0
#include "hw/model/write_coverage.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace npu::model {

void WriteCoverage::begin_job() {
  written_.clear();
  unknown_.clear();
}

void WriteCoverage::add(uint32_t index, const ByteSet& bytes) {
  Ranges& ranges = written_[index];
  bytes.for_each_run([&](uint64_t first, uint64_t end) {
    add(ranges, first, end);
    return true;
  });
}

void WriteCoverage::add(Ranges& ranges, uint64_t first, uint64_t end) {
  auto next = ranges.upper_bound(first);
  if (next != ranges.begin() && std::prev(next)->second >= first) --next;
  while (next != ranges.end() && next->first <= end) {
    first = std::min(first, next->first);
    end = std::max(end, next->second);
    next = ranges.erase(next);
  }
  ranges.emplace_hint(next, first, end);
}

bool WriteCoverage::complete(uint32_t index, uint64_t low, uint64_t high) {
  const Ranges ranges = std::move(written_[index]);
  written_.erase(index);
  if (unknown_.erase(index) > 0) return true;
  const auto behind = ranges.upper_bound(low);
  return behind != ranges.begin() && std::prev(behind)->second >= high;
}

}  // namespace npu::model
