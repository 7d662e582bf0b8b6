// SPDX-License-Identifier: Apache-2.0
// The memory ports of a tile at work: timing::PortSchedule says when each of them asks, and demands say for which
// bytes.
//
// What is moved how often follows from the dataflow:
//   MXU weights      every weight once a block of pixels (they sit in the array while the block streams)
//   MXU activations  convolution and matmul: every kernel position inside the input box once a pixel and group of
//                    channels; depthwise: every element once a tile, a line buffer keeps the window
//   MXU parameters   the header once, the entries once a block of pixels
//   MXU results      once
//   VPU              operands once a load, broadcast elements once; a pooling window each input element once a position
//                    that it falls on, a reduction each element once; tables and parameter blocks once, at the start
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/sweep.h"
#include "hw/engine/tile.h"
#include "hw/timing/ports.h"
#include "hw/timing/vpu_ports.h"

namespace npu::engine {

// Of one port. Without `turns` its requests go through one sweep after the other; with them request k is one of sweep
// turns[k modulo their number].
struct PortDemand {
  std::vector<Sweep> sweeps;
  std::vector<uint32_t> turns;
};

struct TilePorts {
  std::unique_ptr<timing::PortSchedule> schedule;
  std::array<PortDemand, timing::kMostPorts> demands;  // by the number of the port's bit
};

// Each demand has as many requests as the schedule makes on its port.
[[nodiscard]] TilePorts tile_ports(const MxuTile& tile, const contract::Capabilities& caps);
[[nodiscard]] TilePorts tile_ports(const EwiseTile& tile, const contract::Capabilities& caps);
// Of a tile whose ports make their sweeps one after the other.
template <class VpuTile>
requires requires(const VpuTile& tile, const contract::Capabilities& caps) { tile.sweeps(caps); }
[[nodiscard]] TilePorts tile_ports(const VpuTile& tile, const contract::Capabilities& caps) {
  TilePorts ports;
  ports.schedule = timing::vpu_ports(tile.command, caps);
  for (const PortSweep& of : tile.sweeps(caps)) {
    ports.demands.at(static_cast<size_t>(std::countr_zero(of.port))).sweeps.push_back(of.sweep);
  }
  return ports;
}
[[nodiscard]] TilePorts tile_ports(const Tile& tile, const contract::Capabilities& caps);

// Goes through the requests of a port.
class DemandWalk {
 public:
  struct Request {
    uint32_t sweep = 0;   // its number
    uint64_t offset = 0;  // of its first byte in the sweep's extent
    uint64_t bytes = 0;   // 0: it has none, or there is no further request
  };

  DemandWalk() = default;
  explicit DemandWalk(const PortDemand& demand) { start(demand); }
  // From the first request of another demand on.
  void start(const PortDemand& demand);
  Request next() {
    if (!turns_.empty()) {
      const uint32_t number = turns_[at_];
      if (++at_ == turns_.size()) at_ = 0;
      return take(places_[number], number);
    }
    while (at_ < places_.size() && places_[at_].left == 0) ++at_;
    if (at_ == places_.size()) return {};
    return take(places_[at_], static_cast<uint32_t>(at_));
  }

 private:
  // total * k / requests for k = 1, 2, ..., without a division each.
  struct Share {
    uint64_t whole = 0, rest = 0, sum = 0;
    [[nodiscard]] uint64_t next(uint64_t requests) {
      sum += rest;
      if (sum < requests) return whole;
      sum -= requests;
      return whole + 1;
    }
  };
  struct Place {
    uint64_t left = 0, requests = 0;  // requests
    uint64_t extent = 0, offset = 0;
    bool once = true;  // one sweep, maybe with gaps
    Share bytes, advance;
  };
  [[nodiscard]] static Request take(Place& place, uint32_t number) {
    if (place.left == 0) return {};
    --place.left;
    Request request{number, place.offset, place.bytes.next(place.requests)};
    if (place.once) {
      request.offset = std::min(request.offset, place.extent - request.bytes);
      place.offset += place.advance.next(place.requests);
      return request;
    }
    // What does not fit behind the last request starts over.
    if (request.offset + request.bytes > place.extent) request.offset = 0;
    place.offset = request.offset + request.bytes;
    return request;
  }

  std::vector<Place> places_;
  std::vector<uint32_t> turns_;
  size_t at_ = 0;  // sweep, or turn
};

}  // namespace npu::engine
