// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/play/memory.h"

#include <algorithm>
#include <cmath>

#include "hw/timing/dma_cycles.h"

namespace npu::compiler::play {
namespace {

constexpr uint32_t kGrant = 0, kDone = 1;

}  // namespace

timing::Dram any_dram(const contract::Capabilities& capabilities) {
  timing::Dram dram;
  dram.name = "port";
  dram.bus_bits = 8 * capabilities.dma_port_bytes;
  dram.data_rate_mts = capabilities.clock_mhz;
  dram.latency_ns = 40;
  return dram;
}

Memory::Memory(Moments& moments, const contract::Capabilities& capabilities, const timing::Dram& dram)
    : moments_(moments),
      dram_(timing::make_dram_timing(dram)),
      port_bytes_(capabilities.dma_port_bytes),
      picoseconds_(1e6 / capabilities.clock_mhz) {
  dram_->restart();
}

void Memory::submit(const Burst& burst, size_t requester) {
  waiting_[requester].push_back(burst);
  ++queued_;
  set_grant(moments_.now());  // when all who ask in this cycle have asked
}

void Memory::set_grant(uint64_t cycle) {
  if (grant_at_ <= cycle) return;
  grant_at_ = cycle;
  moments_.set(cycle, *this, kGrant);
}

void Memory::act(uint32_t what) {
  if (what == kGrant) {
    if (grant_at_ == moments_.now()) {
      grant_at_ = ~uint64_t{0};
      grant();
    }
    return;
  }
  const Burst burst = under_way_.front();
  under_way_.pop_front();
  burst.user->burst_done(burst.tag, burst.write);
}

void Memory::grant() {
  while (queued_ > 0) {
    if (request_free_ > moments_.now() + timing::kArbitrateAhead) {
      return set_grant(request_free_ - timing::kArbitrateAhead);
    }
    do {
      last_granted_ = (last_granted_ + 1) % waiting_.size();
    } while (waiting_[last_granted_].empty());
    const Burst burst = waiting_[last_granted_].front();
    waiting_[last_granted_].pop_front();
    --queued_;
    send(burst);
  }
}

// DRAM answers in the order of the requests.
void Memory::send(const Burst& burst) {
  const uint64_t cycles = port_cycles(burst.bytes);
  request_free_ = std::max(moments_.now(), request_free_) + (burst.write ? cycles : 1);
  const auto sent = static_cast<uint64_t>(static_cast<double>(request_free_) * picoseconds_);
  const uint64_t through = dram_->access(sent, burst.address, burst.bytes, burst.write);
  const auto arrived = static_cast<uint64_t>(std::ceil(static_cast<double>(through) / picoseconds_));
  response_free_ = std::max(arrived, response_free_) + (burst.write ? 1 : cycles);
  under_way_.push_back(burst);
  moments_.set(response_free_, *this, kDone);
}

}  // namespace npu::compiler::play
