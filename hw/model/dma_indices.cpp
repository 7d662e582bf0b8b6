// SPDX-License-Identifier: Apache-2.0
// The indices of a gather or scatter in a DMA channel: read before any row moves, checked, and made into rows.
#include <cstring>

#include "hw/contract/dma_sides.h"
#include "hw/model/dma_channel.h"

namespace npu::model {

using contract::ErrorCode;
using contract::Space;

// They follow each other, and go into the buffer.
void DmaChannel::start_indices(const IssuedCommand& command) {
  const contract::DmaCommand& dma = command.dma;
  contract::ExtentWalk walk;
  walk.start(command.dma_index.base + dma.index.offset, sizeof(int32_t) * contract::index_count(dma));
  start_source(dma.index, command.dma_index, walk);
  dst_space_ = Space::kNone;
  indices_.clear();
  start_flights(walk.left());
}

// Rows by the indices; a wrong one stops the job.
bool DmaChannel::indices_ok(const IssuedCommand& command) {
  const contract::DmaCommand& dma = command.dma;
  offsets_.clear();
  for (size_t at = 0; at < indices_.size(); at += sizeof(int32_t)) {
    int32_t index = 0;
    std::memcpy(&index, indices_.data() + at, sizeof(index));
    if (index < 0 || static_cast<uint32_t>(index) >= dma.count[contract::kDmaChoices]) {
      Fault fault;
      fault.code = ErrorCode::kIndexOutOfRange;
      fault.command = command.index;
      fault.queue = queue_;
      fault.other = static_cast<uint32_t>(index);
      fault.at(dma.index, dma.index.offset + at);
      machine_.job.fault(fault);
      return false;
    }
    offsets_.push_back(int64_t{index} * contract::row_stride(dma));
  }
  return true;
}

}  // namespace npu::model
