// SPDX-License-Identifier: Apache-2.0
#include "hw/contract/dma_walk.h"

namespace npu::contract {

void ExtentWalk::start(uint64_t base, const DmaSide& side, std::span<const int64_t> offsets) {
  rank_ = row_rank_ = 0;
  run_ = side.run;
  left_ = side.run;
  for (uint32_t dim = 5; dim-- > 0;) {
    left_ *= side.count[dim];
    const bool chooses = side.indexed && dim < kDmaRowDims;
    const int64_t stride = side.stride[dim];
    if (side.count[dim] == 1) continue;
    if (rank_ == 0 && !chooses && stride > 0 && static_cast<uint64_t>(stride) == run_) {
      run_ *= side.count[dim];
      continue;
    }
    dims_[rank_++] = {side.count[dim], 0, stride};
    if (!chooses) ++row_rank_;
  }
  offsets_ = offsets;
  row_ = 0;
  run_address_ = address_ = base;
  if (!offsets_.empty()) address_ += static_cast<uint64_t>(offsets_[row_]);
  run_left_ = run_;
}

void ExtentWalk::advance(uint64_t bytes) {
  address_ += bytes;
  run_left_ -= bytes;
  left_ -= bytes;
  if (run_left_ > 0 || left_ == 0) return;
  for (uint32_t dim = 0; dim < rank_; ++dim) {
    Dim& d = dims_[dim];
    run_address_ += static_cast<uint64_t>(d.stride);
    if (dim == row_rank_) ++row_;  // what is within the row has ended
    if (++d.index < d.count) break;
    run_address_ -= static_cast<uint64_t>(d.stride) * d.count;
    d.index = 0;
  }
  address_ = run_address_;
  if (!offsets_.empty()) address_ += static_cast<uint64_t>(offsets_[row_]);
  run_left_ = run_;
}

}  // namespace npu::contract
