// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "driver/compiler/schedule/cost.h"

namespace npu::compiler::backend {
namespace {

// Fixed cost of a tile: dispatch, tokens, and the pipeline's uneven ends.
constexpr double kTileCycles = 12;

// Tile sizes of one axis worth trying: even cuts into 1, 2, 3, ... tiles, ever coarser.
std::vector<int64_t> cuts(const Axis& axis) {
  std::vector<int64_t> sizes;
  const int64_t units = ceil_div(axis.extent, axis.granule);
  for (int64_t parts = 1; parts <= units; parts += std::max<int64_t>(1, parts / 3)) {
    const int64_t size = std::min(axis.extent, ceil_div(units, parts) * axis.granule);
    if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
  }
  // Below the granule only what must be: the engine is half empty then.
  for (int64_t size = std::min(axis.extent, axis.granule); axis.divisible && size >= 1; size /= 2) {
    if (size < sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

// Ways to cut the axes of one group, as sizes of those axes.
std::vector<std::vector<int64_t>> group_cuts(const std::vector<Axis>& axes, const std::vector<uint32_t>& members) {
  std::vector<std::vector<int64_t>> out;
  std::vector<int64_t> size(members.size());
  for (size_t split = 0; split < members.size(); ++split) {
    for (int64_t cut : cuts(axes[members[split]])) {
      const bool is_whole = cut == axes[members[split]].extent;
      if (is_whole && split > 0) continue;  // the same as one position of the axis outside
      for (size_t i = 0; i < members.size(); ++i) {
        const Axis& axis = axes[members[i]];
        size[i] = i < split ? std::min(axis.extent, axis.granule) : i == split ? cut : axis.extent;
      }
      out.push_back(size);
    }
  }
  return out;
}

class Planner {
 public:
  Planner(const TiledStep& step, std::span<const Home> homes, int64_t available, const Surroundings& around,
          const PlanSettings& settings)
      : step_(step),
        available_(available),
        overlap_(around.overlap),
        settings_(settings),
        capabilities_(settings.capabilities),
        options_(settings.options),
        exposed_(around.exposed),
        loads_channel_(settings.capabilities.dma_channels >= 3 ? 1 : 0),
        counts_(step.axes().size()) {
    make_bundles(homes);
  }

  TilePlan run() {
    search();
    if (!bundles_.empty()) best_.largest = describe(largest_);
    return std::move(best_);
  }

 private:
  // Weighs every tiling.
  void search() {
    const std::vector<Axis>& axes = step_.axes();
    std::vector<std::vector<uint32_t>> groups(2);
    for (uint32_t i = 0; i < axes.size(); ++i) groups[axes[i].group].push_back(i);
    if (bundles_.empty() && overlap_ == 0) {  // nothing to cut for
      for (const Axis& axis : axes) size_.push_back(axis.extent);
      resized();
      order_ = groups[0];
      order_.insert(order_.end(), groups[1].begin(), groups[1].end());
      consider();
      return;
    }
    size_.resize(axes.size());
    const std::vector<std::vector<int64_t>> inner = group_cuts(axes, groups[1]);
    for (const std::vector<int64_t>& first : group_cuts(axes, groups[0])) {
      for (size_t i = 0; i < first.size(); ++i) size_[groups[0][i]] = first[i];
      if (groups[1].empty()) {
        resized();
        order_ = groups[0];
        consider();
        continue;
      }
      for (const std::vector<int64_t>& second : inner) {
        for (size_t i = 0; i < second.size(); ++i) size_[groups[1][i]] = second[i];
        resized();
        for (const bool swapped : {false, true}) {
          order_ = groups[swapped ? 1 : 0];
          order_.insert(order_.end(), groups[swapped ? 0 : 1].begin(), groups[swapped ? 0 : 1].end());
          consider();
          if (count(groups[0]) == 1 || count(groups[1]) == 1) break;  // both orders are the same
        }
      }
    }
  }

  void make_bundles(std::span<const Home> homes) {
    const std::vector<Operand>& operands = step_.operands();
    best_.bundle_of.assign(operands.size(), -1);
    const auto add = [&](Bundle::Kind kind, bool dram, uint32_t operand) {
      best_.bundle_of[operand] = static_cast<int32_t>(bundles_.size());
      bundles_.push_back({kind, dram, operands[operand].axes, {operand}});
    };
    for (uint32_t i = 0; i < operands.size(); ++i) {
      const Operand& o = operands[i];
      const Bundle::Kind moved = o.result ? Bundle::Kind::kStore : Bundle::Kind::kLoad;
      if (o.scratch) {
        add(Bundle::Kind::kScratch, false, i);
        continue;
      }
      switch (homes[i]) {
        case Home::kConstant: {
          if (o.any_memory) break;
          const auto same = std::find_if(bundles_.begin(), bundles_.end(), [&](const Bundle& b) {
            return b.kind == Bundle::Kind::kConstant && b.axes == o.axes;
          });
          if (same == bundles_.end()) {
            add(Bundle::Kind::kConstant, true, i);
          } else {
            best_.bundle_of[i] = static_cast<int32_t>(same - bundles_.begin());
            same->operands.push_back(i);
          }
          break;
        }
        case Home::kDram:
          if (o.direct) {
            direct_.push_back({moved, true, o.axes, {i}});
          } else if (!o.any_memory) {
            add(moved, true, i);
          }
          break;
        case Home::kPersistent:
          if (!o.walkable || (o.result && !o.commits)) add(moved, false, i);
          break;
        case Home::kScratchpad:
          if (!o.walkable && !o.direct) add(moved, false, i);
          break;
      }
    }
  }

  // Whether it is in the scratchpad before the job starts.
  [[nodiscard]] bool stays(const Bundle& bundle) const {
    return bundle.kind == Bundle::Kind::kConstant && options_.resident_constants;
  }

  [[nodiscard]] int64_t count(uint32_t axis) const { return counts_[axis]; }
  [[nodiscard]] int64_t count(const std::vector<uint32_t>& axes) const {
    int64_t product = 1;
    for (uint32_t axis : axes) product *= count(axis);
    return product;
  }

  // Different boxes that a bundle takes.
  [[nodiscard]] int64_t distinct(const Bundle& bundle) const {
    int64_t product = 1;
    for (uint32_t axis = 0; axis < size_.size(); ++axis) {
      if ((bundle.axes >> axis & 1) != 0) product *= count(axis);
    }
    return product;
  }

  // Tiles after each of which another engine can take over what is done.
  [[nodiscard]] int64_t pieces() const {
    int64_t first = 1, second = 1;
    for (uint32_t axis = 0; axis < size_.size(); ++axis)
      (step_.axes()[axis].group == 0 ? first : second) *= count(axis);
    const bool rows_outside = step_.axes()[order_.front()].group == 0;
    return rows_outside || second == 1 ? first : 1;
  }

  // Cycles that one transfer keeps the port busy.
  [[nodiscard]] double move_cycles(const Bundle& bundle) {
    if (bundle.kind == Bundle::Kind::kConstant) return transfer_cycles(1, bundle.slot_bytes, true, capabilities_);
    const uint32_t operand = bundle.operands.front();
    const View& view = *step_.operands()[operand].view;
    tile_.resize(size_.size());
    for (size_t i = 0; i < tile_.size(); ++i) tile_[i] = {0, size_[i]};
    step_.box_of(operand, tile_, box_);
    const bool repeats = step_.operands()[operand].repeats;
    int64_t run = element_size(view);
    for (size_t d = box_.size(); d-- > 0;) {
      const int64_t count = repeats && view.strides[d] == 0 ? 1 : box_[d].count;
      if (count > 1 && view.strides[d] != run) break;
      run *= count;
    }
    // A run that does not end with a slot keeps DRAM busy beyond its end. That counts for many short runs; one long run
    // must not count twice.
    const int64_t bytes = settings_.fetches ? step_.largest_bytes(operand, size_) : bundle.slot_bytes;
    return transfer_cycles(ceil_div(bytes, run), run, bundle.dram, capabilities_);
  }

  // Transfers of a bundle in all.
  [[nodiscard]] int64_t moves(const Bundle& bundle) const {
    int64_t product = 1, moves = 1;
    for (uint32_t axis : order_) {
      product *= count(axis);
      if ((bundle.axes >> axis & 1) != 0 && count(axis) > 1) moves = product;
    }
    return moves;
  }

  // To call when size_ has changed: what depends on it and on no order.
  void resized() {
    for (size_t i = 0; i < size_.size(); ++i) counts_[i] = ceil_div(step_.axes()[i].extent, size_[i]);
    step_cycles_.reset();
  }

  // Weighs the tiling in size_ and order_ against the best so far.
  void consider() {
    const std::vector<Axis>& axes = step_.axes();
    int64_t single = 0, twice = 0;
    uint32_t largest = 0;
    for (uint32_t b = 0; b < bundles_.size(); ++b) {
      Bundle& bundle = bundles_[b];
      bundle.moves = moves(bundle);
      bundle.slot_bytes = 0;
      if (stays(bundle)) continue;
      for (uint32_t operand : bundle.operands) {
        bundle.slot_bytes = round_up(bundle.slot_bytes, kPartAlignment) + step_.largest_bytes(operand, size_);
      }
      bundle.slot_bytes = round_up(bundle.slot_bytes, kSlotAlignment);
      if (bundle.slot_bytes > bundles_[largest].slot_bytes) largest = b;
      single += bundle.slot_bytes;
      twice += bundle.slot_bytes * (bundle.moves > 1 ? 2 : 1);
    }
    for (Bundle& bundle : direct_) {
      bundle.moves = moves(bundle);
      bundle.slot_bytes = step_.largest_bytes(bundle.operands.front(), size_);
    }
    if (best_.least_bytes == 0 || single < best_.least_bytes) {
      best_.least_bytes = single;
      if (!bundles_.empty()) largest_ = {bundles_[largest].kind, bundles_[largest].slot_bytes};
    }
    if (single > available_) return;
    const bool overlapped = options_.double_buffer && twice <= available_;
    const int64_t bytes = overlapped ? twice : single;

    double tiles = 1, work = 1;
    for (size_t i = 0; i < axes.size(); ++i) {
      tiles *= static_cast<double>(count(static_cast<uint32_t>(i)));
      work *= static_cast<double>(axes[i].extent) / static_cast<double>(size_[i]);
    }
    if (!step_cycles_) step_cycles_ = step_.cycles(size_);
    const double compute = *step_cycles_ * work;
    double cycles = compute + tiles * kTileCycles + static_cast<double>(bytes) * settings_.byte_cycles;
    cycles += overlap_ / static_cast<double>(std::min(pieces(), int64_t{capabilities_.fifo_depth}));
    if (best_.fits && cycles >= best_.cycles) return;
    // The port to DRAM is shared, and each channel finishes one transfer before it starts the next.
    double port = 0, first = 0, last = 0, commands = tiles;
    std::array<double, 3> channel{};
    const auto weigh = [&](const Bundle& bundle) {
      if (bundle.kind == Bundle::Kind::kScratch || stays(bundle)) return;
      commands += static_cast<double>(bundle.moves);
      const double once = move_cycles(bundle), latency = transfer_latency(bundle.dram);
      const bool constant = bundle.kind == Bundle::Kind::kConstant;
      // Of a whole tile, in the mean. Runs that are cut short by channels are as many, and cost as much.
      double part = 1;
      for (uint32_t axis = 0; axis < axes.size(); ++axis) {
        if ((bundle.axes >> axis & 1) == 0 || (axes[axis].group == 1 && !constant)) continue;
        part *= static_cast<double>(axes[axis].extent) / static_cast<double>(size_[axis] * count(axis));
      }
      const bool hidden = constant && options_.prefetch;
      double moves = static_cast<double>(bundle.moves);
      if (hidden) moves -= (1 - exposed_) * static_cast<double>(distinct(bundle));  // by earlier steps
      if (bundle.dram) port += once * part * moves;
      const double busy = (once * part + latency) * moves, edge = (once + latency) * (hidden ? exposed_ : 1.0);
      switch (bundle.kind) {
        case Bundle::Kind::kConstant:
          channel[0] += busy;
          first += edge;
          break;
        case Bundle::Kind::kLoad:
          channel[loads_channel_] += busy;
          first += edge;
          break;
        case Bundle::Kind::kStore:
          channel[2] += busy;
          last += edge;
          break;
        case Bundle::Kind::kScratch:
          break;
      }
    };
    for (const Bundle& bundle : bundles_) weigh(bundle);
    for (const Bundle& bundle : direct_) weigh(bundle);
    if (settings_.fetches) port += fetch_cycles(commands, capabilities_);
    const double busiest = std::max({port, channel[0], channel[1], channel[2]});
    if (tiles == 1) {
      cycles += first + last;
    } else if (overlapped) {
      // Bound by compute: the first load is in front of it. Bound by transfers: the last tile is behind them.
      cycles += std::max(first, busiest + compute / tiles - compute) + last;
    } else {
      cycles += channel[0] + channel[1] + channel[2];
    }
    if (best_.fits && cycles >= best_.cycles) return;
    best_.fits = true;
    best_.size = size_;
    best_.order = order_;
    best_.bundles = bundles_;
    for (Bundle& bundle : best_.bundles) bundle.slots = overlapped && bundle.moves > 1 ? 2 : 1;
    best_.bytes = bytes;
    best_.tiles = static_cast<int64_t>(tiles);
    best_.cycles = cycles;
    best_.prologue = first;
  }

  // The largest part of the tiling that takes least memory.
  struct Largest {
    Bundle::Kind kind = Bundle::Kind::kConstant;
    int64_t bytes = 0;
  };

  [[nodiscard]] static std::string describe(const Largest& largest) {
    const auto what = [&]() -> const char* {
      switch (largest.kind) {
        case Bundle::Kind::kConstant:
          return "constants";
        case Bundle::Kind::kLoad:
          return "operands";
        case Bundle::Kind::kStore:
          return "results";
        case Bundle::Kind::kScratch:
          return "rows between fused steps";
      }
      return "?";
    };
    return std::string(what()) + " of " + std::to_string(largest.bytes) + " bytes";
  }

  const TiledStep& step_;
  const int64_t available_;
  const double overlap_;
  const PlanSettings& settings_;
  const contract::Capabilities& capabilities_;
  const ScheduleOptions& options_;
  const double exposed_;
  const size_t loads_channel_;  // 0: the one of the constants
  std::vector<Bundle> bundles_;
  std::vector<Bundle> direct_;  // what the step stores itself: it takes no memory
  std::vector<int64_t> size_;
  std::vector<int64_t> counts_;        // tiles of each axis, for size_
  std::optional<double> step_cycles_;  // of a tile of size_, once it was asked for
  std::vector<uint32_t> order_;
  TilePlan best_;
  Largest largest_;
  Tile tile_;  // scratch
  Box box_;
};

}  // namespace

TilePlan plan_step(const TiledStep& step, std::span<const Home> homes, int64_t available, const Surroundings& around,
                   const PlanSettings& settings) {
  TilePlan plan = Planner(step, homes, available, around, settings).run();
  plan.available = available;
  return plan;
}

Tile first_tile(const TilePlan& plan) {
  Tile tile;
  for (int64_t size : plan.size) tile.push_back({0, size});
  return tile;
}

std::vector<Tile> tiles_of(const TiledStep& step, const TilePlan& plan) {
  const std::vector<Axis>& axes = step.axes();
  Tile tile = first_tile(plan);
  std::vector<Tile> tiles;
  for (;;) {
    tiles.push_back(tile);
    for (size_t i = 0; i < axes.size(); ++i) {  // the last tile of an axis may be smaller
      tiles.back()[i].count = std::min(plan.size[i], axes[i].extent - tile[i].start);
    }
    size_t at = plan.order.size();
    while (at > 0) {
      const uint32_t axis = plan.order[at - 1];
      tile[axis].start += plan.size[axis];
      if (tile[axis].start < axes[axis].extent) break;
      tile[axis].start = 0;
      --at;
    }
    if (at == 0) return tiles;
  }
}

std::vector<int64_t> place_of(const Bundle& bundle, const Tile& tile) {
  std::vector<int64_t> place;
  for (size_t axis = 0; axis < tile.size(); ++axis) {
    if ((bundle.axes >> axis & 1) != 0) place.push_back(tile[axis].start);
  }
  return place;
}

std::vector<int64_t> parts_of(const TiledStep& step, const Bundle& bundle, const Tile& tile) {
  std::vector<int64_t> parts;
  int64_t end = 0;
  for (uint32_t operand : bundle.operands) {
    parts.push_back(round_up(end, kPartAlignment));
    end = parts.back() + step.bytes(operand, tile);
  }
  parts.push_back(end);
  return parts;
}

}  // namespace npu::compiler::backend
