// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/loop_constants.h"

#include <algorithm>
#include <set>

namespace npu::compiler::backend {
namespace {

class Keeper {
 public:
  Keeper(const Residency& residency, Layout& layout, MemoryMap& map)
      : layout_(layout), map_(map), room_(layout.plans.size()) {
    for (size_t s = 0; s < room_.size(); ++s) {
      room_[s] = residency.available(s) - (layout.analysis.steps[s] ? layout.plans[s].bytes : 0);
    }
  }

  void run() {
    for (size_t s = 0; s < layout_.plans.size(); ++s) {
      if (!layout_.analysis.steps[s]) continue;
      for (size_t b = 0; b < layout_.plans[s].bundles.size(); ++b) {
        if (layout_.plans[s].bundles[b].kind == Bundle::Kind::kConstant) keep(s, b);
      }
    }
    std::stable_sort(layout_.kept.begin(), layout_.kept.end(),
                     [](const Kept& a, const Kept& b) { return a.before < b.before; });
  }

 private:
  void keep(size_t s, size_t b) {
    const std::vector<StepRange>& loops = layout_.analysis.flow.loops();
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {  // outer ones first
      if (loop->contains(s) && keep_in(*loop, s, b)) return;
    }
  }

  bool keep_in(const StepRange& loop, size_t s, size_t b) {
    const Bundle& bundle = layout_.plans[s].bundles[b];
    const int64_t count = contents(s, bundle), bytes = count * bundle.slot_bytes;
    const int64_t own = bundle.slots * bundle.slot_bytes;  // that the step has room for in any case
    for (size_t at = loop.first; at <= loop.last; ++at) {
      if (room_[at] + (at == s ? own : 0) < bytes) return false;
    }
    const size_t mark = map_.count();
    const auto first = first_tick(static_cast<int64_t>(loop.first)), last = last_tick(static_cast<int64_t>(loop.last));
    std::vector<int64_t> slots;
    for (int64_t i = 0; i < count; ++i) {
      const auto address = map_.find(bundle.slot_bytes, first, last, kSlotAlignment);
      if (!address) {
        map_.rewind(mark);
        return false;
      }
      map_.take(*address, bundle.slot_bytes, first, last,
                {Holder::Kind::kSlot, static_cast<uint32_t>(s), static_cast<uint32_t>(b), static_cast<uint32_t>(i)});
      slots.push_back(*address);
    }
    for (size_t at = loop.first; at <= loop.last; ++at) room_[at] -= bytes - (at == s ? own : 0);
    layout_.slots[s].resize(layout_.plans[s].bundles.size());
    layout_.slots[s][b] = std::move(slots);
    layout_.kept.push_back({s, b, loop.first});
    return true;
  }

  // How many different contents the bundle has.
  [[nodiscard]] int64_t contents(size_t s, const Bundle& bundle) const {
    std::set<std::vector<int64_t>> places;
    for (const Tile& tile : tiles_of(*layout_.analysis.steps[s], layout_.plans[s])) {
      places.insert(place_of(bundle, tile));
    }
    return static_cast<int64_t>(places.size());
  }

  Layout& layout_;
  MemoryMap& map_;
  std::vector<int64_t> room_;  // by step: bytes that neither buffers nor its own plan nor kept constants take
};

}  // namespace

void keep_loop_constants(const Residency& residency, Layout& layout, MemoryMap& map) {
  if (!layout.analysis.flow.loops().empty()) Keeper(residency, layout, map).run();
}

}  // namespace npu::compiler::backend
