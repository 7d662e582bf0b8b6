// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/layout.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "driver/compiler/room.h"
#include "driver/compiler/schedule/chains.h"
#include "driver/compiler/schedule/loop_constants.h"
#include "driver/compiler/schedule/memory_map.h"
#include "driver/compiler/schedule/residency.h"
#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

constexpr int64_t kRestSteps = 3;
constexpr int64_t kLeastSlots = 2;  // of what comes in parts
class LayoutMaker {
 public:
  LayoutMaker(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
              const Tuning& tuning)
      : module_(module),
        options_(options),
        layout_(begin(analyse(module, capabilities, options), tuning)),
        settings_{capabilities, options, tuning.fetches, tuning.byte_cycles},
        tuning_(tuning),
        residency_(std::make_unique<Residency>(module, layout_.analysis, settings_)) {}

  Layout run() {
    residency_->choose();
    if (options_.double_buffer && form_chains(module_, settings_, tuning_.shared_rows, *residency_, layout_.analysis)) {
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
  static Layout begin(Analysis&& analysis, const Tuning& tuning) {
    Layout layout;
    layout.analysis = std::move(analysis);
    layout.analysis.exposed = tuning.exposed;
    layout.analysis.exposed.resize(layout.analysis.steps.size(), 1);
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
    layout_.kept.clear();
    layout_.denied.clear();
    for (size_t s = 0; s < steps; ++s) {
      if (step(s) == nullptr) continue;
      layout_.plans[s] = make_plan(s, residency_->available(s));
      if (!layout_.plans[s].fits) return make_room(s, layout_.plans[s].least_bytes, map);
    }
    const bool loads = !options_.resident_constants;
    if (options_.prefetch && keeping_ && loads) keep_loop_constants(*residency_, layout_, map);
    if (options_.prefetch && joining_ && loads) place_groups(map);
    for (size_t s = 0; s < steps; ++s) {
      if (step(s) == nullptr) continue;
      const int64_t asked = layout_.plans[s].bytes;
      if (place_step(s, map)) continue;
      // Constants that are joined or stay may be what is in the way.
      if (!layout_.groups.empty()) {
        joining_ = false;
      } else if (!layout_.kept.empty()) {
        keeping_ = false;
      } else {
        return make_room(s, asked, map);
      }
      return false;
    }
    layout_.scratchpad_peak = map.peak();
    layout_.taken = map.taken();
    layout_.denied.insert(layout_.denied.end(), moved_out_.begin(), moved_out_.end());
    return true;
  }

  TilePlan make_plan(size_t s, int64_t available) {
    return plan_step(*step(s), residency_->operand_homes(s), available,
                     {layout_.analysis.overlap[s], layout_.analysis.exposed[s]}, settings_);
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
      auto address =
          map.find(bytes, first_tick(life(b).first - slack), last_tick(life(b).last + slack), kBufferAlignment);
      if (!address) address = map.find(bytes, first_tick(life(b).first), last_tick(life(b).last), kBufferAlignment);
      if (!address) {
        if (module_.buffers[b].on_chip) fail_control();
        const auto first = static_cast<size_t>(life(b).first), last = static_cast<size_t>(life(b).last);
        move_out(b, {first, last, bytes, lost(map, first, last, bytes), b, false});
        return false;
      }
      layout_.scratchpad[b] = *address;
      map.take(*address, bytes, first_tick(life(b).first), last_tick(life(b).last), {Holder::Kind::kBuffer, b});
    }
    return true;
  }

  [[noreturn]] static void fail_control() {
    throw NoRoom(contract::ErrorCode::kScratchpadFull,
                 "the conditions and counters of the network's control flow do not fit into the scratchpad");
  }

  // Free memory is in too small pieces for the tiles of the step, which asked for so many bytes: takes the largest
  // buffer out that lives in the step. False: start again.
  bool make_room(size_t s, int64_t asked, const MemoryMap& map) {
    BufferId largest = 0;
    int64_t bytes = 0;
    for (BufferId b = 0; b < module_.buffers.size(); ++b) {
      if (residency_->can_leave(b, s) && residency_->footprint(b) > bytes) {
        bytes = residency_->footprint(b);
        largest = b;
      }
    }
    if (bytes == 0) residency_->fail(s);
    move_out(largest, {s, s, asked, lost(map, s, s, asked), largest});
    return false;
  }

  // Of bytes that were asked for, those that are free in steps [first, last], less what can be had: what `had` says,
  // else one piece.
  static int64_t lost(const MemoryMap& map, size_t first, size_t last, int64_t bytes, std::optional<int64_t> had = {}) {
    const MemoryMap::Room room =
        map.room(first_tick(static_cast<int64_t>(first)), last_tick(static_cast<int64_t>(last)));
    return std::max<int64_t>(0, std::min(bytes, room.bytes) - had.value_or(room.piece));
  }

  void move_out(BufferId b, const Denied& why) {
    moved_out_.push_back(why);
    residency_->move_to_dram(b);
  }

  // Joins constants that are loaded once and whose steps follow each other, as far as memory allows.
  void place_groups(MemoryMap& map) {
    const int64_t limit = tuning_.group_cycles * settings_.capabilities.dma_port_bytes;
    Group group;
    std::optional<size_t> first;  // step whose constants can be joined
    const auto close = [&] {
      if (group.members.size() > 1) place_group(group, map);
      group = {};
    };
    for (size_t s = 0; s < module_.steps.size(); ++s) {
      if (layout_.analysis.flow.is_control(s)) close();
      if (step(s) == nullptr) continue;
      for (size_t b = 0; b < layout_.plans[s].bundles.size(); ++b) {
        const Bundle& bundle = layout_.plans[s].bundles[b];
        if (bundle.kind != Bundle::Kind::kConstant || is_placed(s, b)) continue;
        if (bundle.moves > 1 || bundle.slot_bytes > limit) {
          close();
          continue;
        }
        if (group.bytes + bundle.slot_bytes > limit || !room_for(group, s, bundle.slot_bytes) ||
            delays(group, s, first))
          close();
        if (!first) first = s;
        group.members.push_back({s, b, group.bytes});
        group.bytes += bundle.slot_bytes;
      }
    }
    close();
  }

  // Whether constants of step `s` in the group would keep the first step waiting that has some.
  [[nodiscard]] bool delays(const Group& group, size_t s, std::optional<size_t> first) const {
    return tuning_.first_alone && !group.members.empty() && group.members.front().step == first && s != first;
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
    for (int64_t early : {steps_before(group.members.front().step, tuning_.early.steps), first}) {
      const auto address = map.find(group.bytes, first_tick(early), last_tick(last), kSlotAlignment, constants_end());
      if (!address) continue;
      map.take(
          *address, group.bytes, first_tick(early), last_tick(last),
          {Holder::Kind::kGroup, static_cast<uint32_t>(first), static_cast<uint32_t>(group.members.front().bundle)});
      group.address = *address;
      for (const Group::Member& member : group.members) {
        layout_.slots[member.step].resize(layout_.plans[member.step].bundles.size());
        layout_.slots[member.step][member.bundle] = {group.address + member.offset};
      }
      layout_.groups.push_back(group);
      return;
    }
  }

  [[nodiscard]] bool is_placed(size_t s, size_t b) const {
    return b < layout_.slots[s].size() && !layout_.slots[s][b].empty();
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
    const int64_t wanted = layout_.plans[s].bytes;
    for (int64_t available = residency_->available(s); available >= 0;) {
      const TilePlan& plan = layout_.plans[s];
      const size_t mark = map.count();
      // Constants that come in parts get more slots where memory is free, so that more of them come early.
      const std::array<Earliness, 3> ways = {tuning_.early, {tuning_.early.steps, kLeastSlots}, {0, kLeastSlots}};
      for (const Earliness& how : ways) {
        if (how.steps > 0 && !options_.prefetch) continue;
        layout_.slots[s] = before;
        if (place_slots(s, plan, how, map)) {
          if (plan.bytes < wanted) deny(s, wanted, plan.bytes, mark, map);
          return true;
        }
        map.rewind(mark);
      }
      if (fixed) return false;
      available = std::min(available, plan.bytes) - std::max<int64_t>(kSlotAlignment, available / 16);
      layout_.plans[s] = make_plan(s, available);
      if (!layout_.plans[s].fits) return false;
    }
    return false;
  }

  // Step `s`, whose slots are those behind `mark`, has got fewer bytes than it wanted.
  void deny(size_t s, int64_t wanted, int64_t had, size_t mark, MemoryMap before) {
    before.rewind(mark);
    layout_.denied.push_back({s, s, wanted - had, lost(before, s, s, wanted, had), std::nullopt});
  }

  // Large slots first; those of constants are taken early, as far as memory is free then.
  bool place_slots(size_t s, const TilePlan& plan, const Earliness& how, MemoryMap& map) {
    std::vector<size_t> order(plan.bundles.size());
    std::iota(order.begin(), order.end(), 0);
    const auto early = [&](size_t b) { return how.steps > 0 && plan.bundles[b].kind == Bundle::Kind::kConstant; };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      if (early(a) != early(b)) return early(a);
      return plan.bundles[a].slot_bytes > plan.bundles[b].slot_bytes;
    });
    std::vector<std::vector<int64_t>>& slots = layout_.slots[s];
    slots.resize(plan.bundles.size());
    for (size_t b : order) {
      if (!slots[b].empty()) continue;  // of a group, or kept
      const Bundle& bundle = plan.bundles[b];
      if (options_.resident_constants && bundle.kind == Bundle::Kind::kConstant) {
        slots[b] = {0};  // it lies elsewhere
        continue;
      }
      int64_t count = bundle.slots;
      if (early(b) && count > 1) count = std::max(count, std::min(bundle.moves, how.slots));
      for (int64_t i = 0; i < count; ++i) {
        const auto address = early(b) ? place_early(s, b, i, count, how.steps, map)
                                      : take(bundle.slot_bytes, first_tick(static_cast<int64_t>(s)),
                                             last_tick(static_cast<int64_t>(s)), slot_of(s, b, i), map);
        if (!address) return false;
        slots[b].push_back(*address);
      }
    }
    return true;
  }

  [[nodiscard]] MemoryMap::End constants_end() const {
    return tuning_.apart ? MemoryMap::End::kHigh : MemoryMap::End::kLow;
  }

  static Holder slot_of(size_t s, size_t b, int64_t i) {
    return {Holder::Kind::kSlot, static_cast<uint32_t>(s), static_cast<uint32_t>(b), static_cast<uint32_t>(i)};
  }

  static std::optional<int64_t> take(int64_t bytes, int64_t first, int64_t last, const Holder& holder, MemoryMap& map,
                                     MemoryMap::End end = MemoryMap::End::kLow) {
    const std::optional<int64_t> address = map.find(bytes, first, last, kSlotAlignment, end);
    if (address) map.take(*address, bytes, first, last, holder);
    return address;
  }

  // Slot `i` of `count` of bundle `b`, which is one of constants, from as early on as memory is free to the last tile
  // that needs it.
  std::optional<int64_t> place_early(size_t s, size_t b, int64_t i, int64_t count, int64_t ahead, MemoryMap& map) {
    const Bundle& bundle = layout_.plans[s].bundles[b];
    const int64_t step = first_tick(static_cast<int64_t>(s)), moves = bundle.moves;
    const int64_t last_move = i + (moves - 1 - i) / count * count;
    const int64_t last = step + ceil_div((last_move + 1) * kStepTicks, moves) - 1;
    int64_t late = step + i * kStepTicks / moves, early = first_tick(steps_before(s, ahead));
    if (!map.find(bundle.slot_bytes, late, last, kSlotAlignment)) return std::nullopt;
    while (early < late) {
      const int64_t middle = early + (late - early) / 2;
      if (map.find(bundle.slot_bytes, middle, last, kSlotAlignment)) {
        late = middle;
      } else {
        early = middle + 1;
      }
    }
    return take(bundle.slot_bytes, late, last, slot_of(s, b, i), map, constants_end());
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
  std::vector<Denied> moved_out_;  // over all attempts
  bool joining_ = true, keeping_ = true;
};

}  // namespace

Layout make_layout(const Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
                   const Tuning& tuning) {
  return LayoutMaker(module, capabilities, options, tuning).run();
}

}  // namespace npu::compiler::backend
