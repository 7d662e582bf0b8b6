// SPDX-License-Identifier: Apache-2.0
// The requests of one port of a tile, in order, as the crossbar takes them: a demand and where its sweeps lie.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hw/engine/tile_ports.h"
#include "hw/timing/crossbar.h"

namespace npu::engine {

class PortRequests {
 public:
  // Where the bytes of a sweep begin.
  struct Place {
    timing::OnChip memory = timing::OnChip::kScratchpad;
    uint64_t address = 0;
    uint64_t* moved = nullptr;  // counts bytes, where it is set
  };

  // place(sweep) is asked of each sweep that moves something.
  template <class F>
  void start(const PortDemand& demand, F place) {
    walk_.start(demand);
    targets_.clear();
    left_ = 0;
    for (const Sweep& sweep : demand.sweeps) {
      left_ += sweep.requests;
      targets_.emplace_back(sweep.bytes == 0 ? Place{} : place(sweep), sweep.access == Access::kWrite);
    }
  }

  // Without bytes where it moves none, and behind the last one.
  [[nodiscard]] timing::MemoryRequest next() {
    if (left_ > 0) --left_;
    const DemandWalk::Request request = walk_.next();
    if (request.bytes == 0) return {};
    const auto& [place, write] = targets_[request.sweep];
    if (place.moved != nullptr) *place.moved += request.bytes;
    return {place.memory, write, place.address + request.offset, request.bytes};
  }
  [[nodiscard]] uint64_t left() const { return left_; }

 private:
  DemandWalk walk_;
  std::vector<std::pair<Place, bool>> targets_;  // by sweep; true: writes
  uint64_t left_ = 0;
};

}  // namespace npu::engine
