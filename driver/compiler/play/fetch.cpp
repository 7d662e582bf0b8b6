// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/play/fetch.h"

#include <utility>

#include "hw/timing/dma_cycles.h"
#include "hw/timing/sequencer_cycles.h"

namespace npu::compiler::play {

Fetch::Fetch(Memory& memory, const contract::Capabilities& capabilities, uint64_t base, uint64_t bytes,
             std::function<timing::UnderWay()> under_way, std::function<void()> arrived)
    : memory_(memory),
      base_(base),
      bytes_(bytes),
      burst_bytes_(capabilities.dma_burst_bytes),
      most_(capabilities.dma_outstanding),
      under_way_(std::move(under_way)),
      arrived_call_(std::move(arrived)) {}

bool Fetch::ready(uint64_t bytes) {
  request();
  return arrived_ - taken_ >= bytes;
}

void Fetch::jump() {
  requested_ = arrived_ = taken_;
  request();
}

void Fetch::request() {
  while (requested_ < bytes_ && owed_ < timing::prefetch_bursts(requested_ - taken_, under_way_(), most_)) {
    const uint64_t length = timing::burst_bytes(base_ + requested_, bytes_ - requested_, burst_bytes_);
    if (requested_ - taken_ + length > timing::kPrefetchBytes) return;
    memory_.submit({base_ + requested_, static_cast<uint32_t>(length), false, static_cast<uint32_t>(length), this},
                   Memory::kFetchRequester);
    requested_ += length;
    ++owed_;
  }
}

void Fetch::burst_done(uint32_t tag, bool) {
  --owed_;
  arrived_ += tag;
  arrived_call_();
}

}  // namespace npu::compiler::play
