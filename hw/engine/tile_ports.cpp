// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/tile_ports.h"

#include <algorithm>
#include <bit>

#include "hw/contract/overloaded.h"
#include "hw/contract/uop_fields.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/mxu_ports.h"
#include "hw/timing/vpu_cycles.h"
#include "hw/timing/vpu_ports.h"

namespace npu::engine {

namespace {

using contract::Capabilities;
using contract::MxuMode;
using contract::UopRole;
using timing::ceil_div;

// Blocks of an MXU tile are lumped into at most so many parts, each with the part of the input that it touches.
constexpr uint64_t kParts = 8;

PortDemand& demand(TilePorts& ports, timing::Ports port) {
  return ports.demands.at(static_cast<size_t>(std::countr_zero(port)));
}

// total * part / whole, exact, for part <= whole < 2^32 and any total.
uint64_t share(uint64_t total, uint64_t part, uint64_t whole) {
  return total / whole * part + total % whole * part / whole;
}

uint64_t activation_bytes(const MxuTile& tile, const timing::MxuLoops& loops) {
  const contract::MxuCommand& command = tile.command;
  const uint64_t positions = taps_inside(command.out_h, command.stride_y, command.pad_top, command.kernel_h,
                                         command.dilation_y, command.in_h) *
                             taps_inside(command.out_w, command.stride_x, command.pad_left, command.kernel_w,
                                         command.dilation_x, command.in_w);
  const uint64_t once = positions * command.in_c * tile.src_bytes;
  if (command.mode != MxuMode::kDepthwise) return once * loops.groups;
  const uint64_t box = static_cast<uint64_t>(tile.rows.size() * tile.cols.size()) * command.in_c * tile.src_bytes;
  return std::min(once, box);
}

// The part of the input box that pixels first .. last of the tile can touch.
Extent activation_extent(const MxuTile& tile, uint64_t first, uint64_t last) {
  const contract::MxuCommand& command = tile.command;
  MxuTile part = tile;
  part.rows = used_range(static_cast<int64_t>(first / command.out_w), static_cast<int64_t>(last / command.out_w),
                         command.stride_y, command.pad_top, command.kernel_h, command.dilation_y, command.in_h);
  // Pixels that see only padding still get their share of the tile's bytes: charge them to the whole box.
  return extent_of(part.reads_input() ? part.src_box() : tile.src_box());
}

// Blocks first .. end of a tile, and the pixels that are theirs; those that are computed side by side count as one.
struct Part {
  uint64_t blocks, first_pixel, end_pixel;
  [[nodiscard]] uint64_t pixels() const { return end_pixel - first_pixel; }
};

class MxuDemands {
 public:
  MxuDemands(const MxuTile& tile, const Capabilities& caps, TilePorts& ports)
      : tile_(tile), loops_(timing::mxu_loops(tile.command, caps)), ports_(ports) {}

  void add() {
    constexpr uint64_t kHeader = contract::ParameterHeader::kBytes;
    sweep(timing::kMxuParameters, tile_.command.params, {0, kHeader}, kHeader, ceil_div(kHeader, loops_.port_bytes));
    const uint64_t parts = std::min(loops_.blocks, kParts);
    for (uint64_t p = 0; p < parts; ++p) {
      const uint64_t first = share(loops_.blocks, p, parts), end = share(loops_.blocks, p + 1, parts);
      const uint64_t end_pixel = p + 1 == parts ? loops_.pixels : end * loops_.block_pixels;
      add({end - first, first * loops_.block_pixels, end_pixel});
    }
  }

 private:
  void sweep(timing::Ports port, const contract::Address& base, const Extent& extent, uint64_t bytes,
             uint64_t requests) {
    const Access access = port == timing::kMxuResults ? Access::kWrite : Access::kRead;
    demand(ports_, port).sweeps.push_back({access, base, extent, bytes, requests});
  }

  void add(const Part& part) {
    const contract::MxuCommand& command = tile_.command;
    const Box weights = tile_.weight_box();
    sweep(timing::kMxuWeights, command.weights, extent_of(weights), part.blocks * weights.run * weights.count[3],
          part.blocks * loops_.weight_requests());

    const uint64_t entries = uint64_t{command.out_c} * contract::ParameterEntry::kBytes;
    sweep(timing::kMxuParameters, command.params, {contract::ParameterHeader::kBytes, entries}, part.blocks * entries,
          part.blocks * loops_.parameter_requests());

    add_activations(part);

    if (tile_.adds()) {
      const Extent added = extent_of(tile_.residual_box());
      const uint64_t low = share(added.bytes, part.first_pixel, loops_.pixels);
      const uint64_t high = share(added.bytes, part.end_pixel, loops_.pixels);
      sweep(timing::kMxuResidual, command.residual_src, {added.low + static_cast<int64_t>(low), high - low},
            part.pixels() * loops_.side_by_side * command.out_c * tile_.dst_bytes, part.pixels() * loops_.groups);
    }

    const Extent results = extent_of(tile_.dst_box());
    const uint64_t from = share(results.bytes, part.first_pixel, loops_.pixels);
    const uint64_t to = share(results.bytes, part.end_pixel, loops_.pixels);
    sweep(timing::kMxuResults, command.dst, {results.low + static_cast<int64_t>(from), to - from},
          part.pixels() * loops_.side_by_side * command.out_c * tile_.dst_bytes, part.pixels() * loops_.groups);
  }

  void add_activations(const Part& part) {
    const uint64_t requests = part.pixels() * loops_.groups * loops_.steps;
    if (!tile_.reads_input()) return sweep(timing::kMxuActivations, tile_.command.src, {}, 0, requests);
    const uint64_t side_by_side = loops_.side_by_side;
    const Extent extent = activation_extent(tile_, part.first_pixel * side_by_side, part.end_pixel * side_by_side - 1);
    const uint64_t input = activation_bytes(tile_, loops_);
    const uint64_t bytes = share(input, part.end_pixel, loops_.pixels) - share(input, part.first_pixel, loops_.pixels);
    // Windows of pixels side by side overlap, but no request has more bytes than there are.
    sweep(timing::kMxuActivations, tile_.command.src, extent, std::min(bytes, requests * extent.bytes), requests);
  }

  const MxuTile& tile_;
  const timing::MxuLoops loops_;
  TilePorts& ports_;
};

}  // namespace

TilePorts tile_ports(const MxuTile& tile, const Capabilities& caps) {
  TilePorts ports;
  ports.schedule = timing::mxu_ports(tile.command, caps);
  if (!ports.schedule->done()) MxuDemands(tile, caps, ports).add();
  return ports;
}

TilePorts tile_ports(const EwiseTile& tile, const Capabilities& caps) {
  const contract::VpuEwiseCommand& command = tile.command;
  const uint64_t vectors = ceil_div(tile.elements, caps.vpu_lanes);
  TilePorts ports;
  ports.schedule = timing::vpu_ports(command, caps);
  for (size_t i = 0; i < command.operands.size(); ++i) {
    const uint64_t rows = timing::table_rows_of(command.operands[i].bytes, caps);
    if (rows == 0) continue;
    const Sweep sweep = tile.uses[i].blob ? sweep_of(tile.box(i), Access::kRead, tile.box(i).run, rows)
                                          : Sweep{Access::kRead, {}, {}, 0, rows};
    demand(ports, timing::kVpuParameters).sweeps.push_back(sweep);
  }
  for (const contract::Uop& uop : command.uops) {
    const contract::NamedOperand operand = operand_of(uop);
    const bool stores = operand.role == UopRole::kStored;
    if (!stores && operand.role != UopRole::kLoaded) continue;
    PortDemand& port = demand(ports, stores ? timing::kVpuWrite : timing::kVpuRead);
    const uint64_t passes = timing::uop_passes(uop, command.operands[operand.index].type, caps);
    const Box box = tile.box(operand.index);
    port.turns.insert(port.turns.end(), passes, static_cast<uint32_t>(port.sweeps.size()));
    port.sweeps.push_back(
        sweep_of(box, stores ? Access::kWrite : Access::kRead, distinct_bytes(box), vectors * passes));
  }
  return ports;
}

Sweep sweep_of(const Box& box, Access access, uint64_t bytes, uint64_t requests) {
  return {access, box.base, extent_of(box), bytes, requests};
}

uint64_t distinct_bytes(const Box& box) {
  uint64_t bytes = box.run;
  for (size_t d = 0; d < box.count.size(); ++d) bytes *= box.stride[d] == 0 ? 1 : box.count[d];
  return bytes;
}

Extent extent_of(const Box& box) {
  Extent extent = {box.offset, box.run};
  for (size_t i = 0; i < box.count.size(); ++i) {
    const int64_t span = static_cast<int64_t>(box.count[i] - 1) * box.stride[i];
    extent.low += std::min<int64_t>(span, 0);
    extent.bytes += static_cast<uint64_t>(std::abs(span));
  }
  return extent;
}

TilePorts tile_ports(const Tile& tile, const Capabilities& caps) {
  return std::visit([&](const auto& known) { return tile_ports(known, caps); }, tile);
}

}  // namespace npu::engine
