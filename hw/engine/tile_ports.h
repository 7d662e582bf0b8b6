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

}  // namespace npu::engine
