// SPDX-License-Identifier: Apache-2.0
#include "hw/model/write_coverage.h"

#include <algorithm>

namespace npu::model {

void WriteCoverage::add(uint32_t index, uint64_t low, uint64_t high, const ByteSet& bytes) {
  Place& place = written_[index];
  if (place.written.size() != high - low || place.low != low) {
    place = {low, high - low, std::vector<bool>(high - low)};
  }
  bytes.for_each_run([&](uint64_t first, uint64_t end) {
    for (uint64_t at = std::max(first, low); at < std::min(end, high); ++at) {
      if (place.written[at - low]) continue;
      place.written[at - low] = true;
      --place.left;
    }
    return true;
  });
}

bool WriteCoverage::complete(uint32_t index) {
  const auto place = written_.find(index);
  if (place == written_.end()) return false;
  const bool all = place->second.left == 0;
  written_.erase(place);
  return all;
}

}  // namespace npu::model
