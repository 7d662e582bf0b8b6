// SPDX-License-Identifier: Apache-2.0
#include "hw/model/shadow.h"

#include <sys/mman.h>

#include <new>

#include "hw/contract/error.h"

namespace npu::model {

Shadow::Shadow(uint64_t bytes) : blocks_count_((bytes + kBlock - 1) / kBlock) {
  void* memory = mmap(nullptr, blocks_count_ * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  blocks_ = static_cast<uint32_t*>(memory);
}

Shadow::~Shadow() { munmap(blocks_, blocks_count_ * sizeof(uint32_t)); }

void Shadow::begin_job(uint32_t first_state) {
  first_state_ = first_state;
  first_split_ += static_cast<uint32_t>(splits_.size());
  splits_.clear();
  free_.clear();
  low_block_ = ~uint64_t{0};
  high_block_ = 0;
  out_of_splits_ = false;
  if (first_split_ + kMaxSplitBlocks >= kSplitFlag) clear();
}

void Shadow::clear() {
  // Untouched pages of an anonymous mapping read as 0 again.
  NPU_CHECK(madvise(blocks_, blocks_count_ * sizeof(uint32_t), MADV_DONTNEED) == 0);
  first_state_ = first_split_ = 1;
}

uint32_t Shadow::allocate(uint32_t state) {
  uint32_t entry = 0;
  if (!free_.empty()) {
    entry = free_.back();
    free_.pop_back();
  } else {
    if (splits_.size() >= kMaxSplitBlocks) return 0;
    entry = kSplitFlag | (first_split_ + static_cast<uint32_t>(splits_.size()));
    splits_.emplace_back();
  }
  split(entry).fill(state);
  return entry;
}

}  // namespace npu::model
