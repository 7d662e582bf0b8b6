// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/dma_walk.h"

namespace npu::engine {

void ExtentWalk::start(uint64_t base, uint64_t run, const std::array<uint32_t, 5>& count,
                       const std::array<int32_t, 5>& stride) {
  rank_ = 0;
  run_ = run;
  left_ = run;
  for (uint32_t dim = 5; dim-- > 0;) {
    left_ *= count[dim];
    if (count[dim] == 1) continue;
    if (rank_ == 0 && stride[dim] > 0 && static_cast<uint64_t>(stride[dim]) == run_) {
      run_ *= count[dim];
      continue;
    }
    dims_[rank_++] = {count[dim], 0, stride[dim]};
  }
  row_ = address_ = base;
  run_left_ = run_;
}

void ExtentWalk::advance(uint64_t bytes) {
  address_ += bytes;
  run_left_ -= bytes;
  left_ -= bytes;
  if (run_left_ > 0 || left_ == 0) return;
  for (uint32_t dim = 0; dim < rank_; ++dim) {
    Dim& d = dims_[dim];
    row_ += static_cast<uint64_t>(d.stride);
    if (++d.index < d.count) break;
    row_ -= static_cast<uint64_t>(d.stride) * d.count;
    d.index = 0;
  }
  address_ = row_;
  run_left_ = run_;
}

}  // namespace npu::engine
