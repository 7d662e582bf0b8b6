// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "driver/compiler/room.h"
#include "driver/compiler/schedule/chains.h"
#include "driver/compiler/schedule/memory_map.h"
#include "driver/compiler/schedule/residency.h"
#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

constexpr int64_t kRestSteps = 3;
constexpr int64_t kStepsAhead = 16;  // how many steps before its own a constant may be loaded

class LayoutMaker {
 public:
  LayoutMaker(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
              const Tuning& tuning)
      : module_(module),
        options_(options),
        layout_(begin(analyse(module, capabilities, options))),
        settings_{capabilities, options, tuning.exposed, tuning.fetches},
        tuning_(tuning),
        residency_(std::make_unique<Residency>(module, layout_.analysis, settings_)) {}

  Layout run() {
    residency_->choose();
    if (options_.double_buffer && form_chains(module_, settings_, *residency_, layout_.analysis)) {
      residency_ = std::make_unique<Residency>(module_, layout_.analysis, settings_);
      residency_->choose();
    }
    while (!place()) {
    }
    layout_.homes = residency_->homes();
    place_dram();
    return std::move(layout_);
  }

 private:
  static Layout begin(Analysis&& analysis) {
    Layout layout;
    layout.analysis = std::move(analysis);
    return layout;
  }

  [[nodiscard]] const Lifetime& life(BufferId buffer) const { return layout_.analysis.lifetimes[buffer]; }
  [[nodiscard]] const TiledStep* step(size_t s) const { return layout_.analysis.steps[s].get(); }

  // Gives every resident buffer and every tile buffer an address; false when homes had to change and it must start
  // again.
  bool place() {
    MemoryMap map(settings_.capabilities.spm_bytes);
    if (!place_buffers(map)) return false;
    const size_t steps = module_.steps.size();
    layout_.plans.assign(steps, {});
    layout_.slots.assign(steps, {});
    layout_.groups.clear();
    for (size_t s = 0; s < steps; ++s) {
      if (step(s) == nullptr) continue;
      layout_.plans[s] = make_plan(s, residency_->available(s));
      if (!layout_.plans[s].fits) return make_room(s);
    }
    if (options_.prefetch && joining_) place_groups(map);
    for (size_t s = 0; s < steps; ++s) {
      if (step(s) == nullptr || place_step(s, map)) continue;
      if (layout_.groups.empty()) return make_room(s);
      joining_ = false;  // joined constants may be what is in the way
      return false;
    }
    layout_.scratchpad_peak = map.peak();
    return true;
  }

  TilePlan make_plan(size_t s, int64_t available) {
    return plan_step(*step(s), residency_->operand_homes(s), available, layout_.analysis.overlap[s], settings_);
  }

  // Those that must be on the chip come first, then long-lived and large ones.
  bool place_buffers(MemoryMap& map) {
    layout_.scratchpad.assign(module_.buffers.size(), -1);
    std::vector<BufferId> order;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      if (residency_->resident(b)) order.push_back(b);
    }
    const auto area = [&](BufferId b) { return residency_->footprint(b) * (life(b).last - life(b).first + 1); };
    std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
      const bool first = module_.buffers[a].on_chip, second = module_.buffers[b].on_chip;
      return first != second ? first : area(a) > area(b);
    });
    // With memory to spare, bytes rest for some steps before others use them: a late reader delays no other step.
    bool spare = true;
    for (size_t s = 0; s < module_.steps.size(); ++s) spare &= residency_->available(s) > map.size() / 2;
    const int64_t slack = spare ? kRestSteps : 0;
    for (BufferId b : order) {
      const int64_t bytes = residency_->footprint(b);
      auto address = map.find(bytes, life(b).first - slack, life(b).last + slack, kBufferAlignment);
      if (!address) address = map.find(bytes, life(b).first, life(b).last, kBufferAlignment);
      if (!address) {
        if (module_.buffers[b].on_chip) fail_control();
        residency_->move_to_dram(b);
        return false;
      }
      layout_.scratchpad[b] = *address;
      map.take(*address, bytes, life(b).first, life(b).last);
    }
    return true;
  }

  [[noreturn]] static void fail_control() {
    throw NoRoom(contract::ErrorCode::kScratchpadFull,
                 "the conditions and counters of the network's control flow do not fit into the scratchpad");
  }

  // Free memory is in too small pieces: takes the largest buffer out that lives in the step. False: start again.
  bool make_room(size_t s) {
    BufferId largest = 0;
    int64_t bytes = 0;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      if (residency_->can_leave(b, s) && residency_->footprint(b) > bytes) {
        bytes = residency_->footprint(b);
        largest = b;
      }
    }
    if (bytes == 0) residency_->fail(s);
    residency_->move_to_dram(largest);
    return false;
  }

  // Joins constants that are loaded once and whose steps follow each other, as far as memory allows.
  void place_groups(MemoryMap& map) {
    const int64_t limit = tuning_.group_cycles * settings_.capabilities.dma_port_bytes;
    Group group;
    const auto close = [&] {
      if (group.members.size() > 1) place_group(group, map);
      group = {};
    };
    for (size_t s = 0; s < module_.steps.size(); ++s) {
      if (layout_.analysis.flow.is_control(s)) close();
      if (step(s) == nullptr) continue;
      for (size_t b = 0; b < layout_.plans[s].bundles.size(); ++b) {
        const Bundle& bundle = layout_.plans[s].bundles[b];
        if (bundle.kind != Bundle::Kind::kConstant) continue;
        if (bundle.moves > 1 || bundle.slot_bytes > limit) {
          close();
          continue;
        }
        if (group.bytes + bundle.slot_bytes > limit || !room_for(group, s, bundle.slot_bytes)) close();
        group.members.push_back({s, b, group.bytes});
        group.bytes += bundle.slot_bytes;
      }
    }
    close();
  }

  // Whether every step from the group's first to step `s` has room for the group with `more` bytes.
  [[nodiscard]] bool room_for(const Group& group, size_t s, int64_t more) const {
    if (group.members.empty()) return true;
    for (size_t at = group.members.front().step; at <= s; ++at) {
      if (step(at) == nullptr) continue;
      int64_t own = 0;
      for (const Group::Member& member : group.members) {
        if (member.step == at) own += layout_.plans[at].bundles[member.bundle].slot_bytes;
      }
      if (at == s) own += more;
      if (residency_->available(at) < layout_.plans[at].bytes - own + group.bytes + more) return false;
    }
    return true;
  }

  void place_group(Group& group, MemoryMap& map) {
    const auto first = static_cast<int64_t>(group.members.front().step);
    const auto last = static_cast<int64_t>(group.members.back().step);
    for (int64_t early : {steps_before(group.members.front().step, kStepsAhead), first}) {
      const auto address = map.find(group.bytes, early, last, kSlotAlignment);
      if (!address) continue;
      map.take(*address, group.bytes, early, last);
      group.address = *address;
      for (const Group::Member& member : group.members) {
        layout_.slots[member.step].resize(layout_.plans[member.step].bundles.size());
        layout_.slots[member.step][member.bundle] = {group.address + member.offset};
      }
      layout_.groups.push_back(group);
      return;
    }
  }

  // Up to `ahead` steps before step `s`, in its block.
  [[nodiscard]] int64_t steps_before(size_t s, int64_t ahead) const {
    const auto begin = static_cast<int64_t>(layout_.analysis.flow.block_begin(s));
    return std::max(begin, static_cast<int64_t>(s) - ahead);
  }

  [[nodiscard]] bool grouped(size_t s) const {
    return std::any_of(layout_.slots[s].begin(), layout_.slots[s].end(),
                       [](const auto& slots) { return !slots.empty(); });
  }

  bool place_step(size_t s, MemoryMap& map) {
    const std::vector<std::vector<int64_t>> before = layout_.slots[s];
    const bool fixed = grouped(s);  // then the plan must stay as it is
    for (int64_t available = residency_->available(s); available >= 0;) {
      const TilePlan& plan = layout_.plans[s];
      const size_t mark = map.count();
      for (int64_t ahead : {kStepsAhead, int64_t{0}}) {
        if (ahead > 0 && !options_.prefetch) continue;
        layout_.slots[s] = before;
        if (place_slots(s, plan, ahead, map)) return true;
        map.rewind(mark);
      }
      if (fixed) return false;
      available = std::min(available, plan.bytes) - std::max<int64_t>(kSlotAlignment, available / 16);
      layout_.plans[s] = make_plan(s, available);
      if (!layout_.plans[s].fits) return false;
    }
    return false;
  }

  // Large slots first; those of constants start up to `ahead` steps early, as far as memory is free then.
  bool place_slots(size_t s, const TilePlan& plan, int64_t ahead, MemoryMap& map) {
    std::vector<size_t> order(plan.bundles.size());
    std::iota(order.begin(), order.end(), 0);
    const auto early = [&](size_t b) { return ahead > 0 && plan.bundles[b].kind == Bundle::Kind::kConstant; };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      if (early(a) != early(b)) return early(a);
      return plan.bundles[a].slot_bytes > plan.bundles[b].slot_bytes;
    });
    std::vector<std::vector<int64_t>>& slots = layout_.slots[s];
    slots.resize(plan.bundles.size());
    for (size_t b : order) {
      const Bundle& bundle = plan.bundles[b];
      while (slots[b].size() < bundle.slots) {
        if (!place_slot(s, b, bundle.slot_bytes, early(b) ? ahead : 0, map)) return false;
      }
    }
    // Constants that come in parts get more slots where memory is free, so that more of them come early.
    for (size_t b : order) {
      const Bundle& bundle = plan.bundles[b];
      if (!early(b) || bundle.slots < 2) continue;
      const int64_t wanted = std::min<int64_t>(bundle.moves, settings_.capabilities.fifo_depth);
      while (static_cast<int64_t>(slots[b].size()) < wanted) {
        if (!place_slot(s, b, bundle.slot_bytes, ahead, map)) break;
      }
    }
    return true;
  }

  // Takes memory for one more slot, from up to `ahead` steps before the step on.
  bool place_slot(size_t s, size_t b, int64_t bytes, int64_t ahead, MemoryMap& map) {
    const auto now = static_cast<int64_t>(s);
    int64_t first = steps_before(s, ahead);
    std::optional<int64_t> address;
    while (!(address = map.find(bytes, first, now, kSlotAlignment)) && first < now) first += (now - first + 1) / 2;
    if (!address) return false;
    layout_.slots[s][b].push_back(*address);
    map.take(*address, bytes, first, now);
    return true;
  }

  void place_dram() {
    layout_.dram.assign(module_.buffers.size(), -1);
    MemoryMap workspace(std::numeric_limits<int64_t>::max() / 2);
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      const Buffer& buffer = module_.buffers[b];
      const int64_t bytes = residency_->footprint(b);
      switch (buffer.kind) {
        case BufferKind::kInput:
          layout_.dram[b] = layout_.input_bytes;
          layout_.input_bytes += bytes;
          break;
        case BufferKind::kOutput:
          layout_.dram[b] = layout_.output_bytes;
          layout_.output_bytes += bytes;
          break;
        case BufferKind::kIntermediate:
          if (layout_.homes[b] != Home::kDram || life(b).last < 0) break;
          layout_.dram[b] = *workspace.find(bytes, life(b).first, life(b).last, kBufferAlignment);
          workspace.take(layout_.dram[b], bytes, life(b).first, life(b).last);
          break;
        case BufferKind::kConstant:  // packed as the tiles want it
        case BufferKind::kVariable:  // the runtime finds it a place
          break;
      }
    }
    layout_.workspace_bytes = workspace.peak();
  }

  const Module& module_;
  const ScheduleOptions& options_;
  Layout layout_;
  const PlanSettings settings_;
  const Tuning tuning_;
  std::unique_ptr<Residency> residency_;
  bool joining_ = true;
};

}  // namespace

Layout make_layout(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
                   const Tuning& tuning) {
  return LayoutMaker(module, capabilities, options, tuning).run();
}

}  // namespace npu::compiler::backend
