// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/explain.h"

#include <algorithm>
#include <utility>

namespace npu::compiler::backend {
namespace {

using Role = Explanation::Role;

Role role_of(const Bundle& bundle) {
  switch (bundle.kind) {
    case Bundle::Kind::kConstant:
      return Role::kConstants;
    case Bundle::Kind::kLoad:
      return Role::kOperand;
    case Bundle::Kind::kStore:
      return Role::kResult;
    case Bundle::Kind::kScratch:
      return Role::kRows;
  }
  return Role::kOperand;
}

class Explainer {
 public:
  Explainer(const Module& module, const Schedule& schedule, const ExplainedMachine& machine)
      : module_(module), schedule_(schedule), layout_(schedule.layout), machine_(machine) {}

  Explanation run(std::span<const size_t> yields) {
    out_.scratchpad_bytes = machine_.scratchpad_bytes;
    out_.ticks = kStepTicks;
    out_.step_count = static_cast<uint32_t>(module_.steps.size());
    size_t parts_left = 0;  // of a chain
    for (size_t s = 0; s < module_.steps.size(); ++s) {
      if (parts_left > 0) {
        --parts_left;
        continue;
      }
      add_step(s);
      parts_left = out_.steps.back().layers.size() - 1;
    }
    for (const Taken& taken : layout_.taken) add_place(taken);
    for (const Denied& denied : layout_.denied) {
      out_.denied.push_back({static_cast<uint32_t>(denied.first), static_cast<uint32_t>(denied.last), denied.bytes,
                             denied.lost, denied.buffer ? module_.buffers[*denied.buffer].name : "",
                             denied.tiles ? Explanation::Denied::Asked::kTiles : Explanation::Denied::Asked::kBuffer});
    }
    add_commands(yields);
    return std::move(out_);
  }

 private:
  void add_step(size_t s) {
    Explanation::Step step;
    step.index = static_cast<uint32_t>(s);
    step.layers = {module_.steps[s].layer};
    if (const TiledStep* tiled = layout_.analysis.steps[s].get()) {
      step.engine = tiled->engine();
      uint32_t last_part = 0;
      for (const Operand& o : tiled->operands()) last_part = std::max(last_part, o.part);
      for (uint32_t part = 1; part <= last_part; ++part) step.layers.push_back(module_.steps[s + part].layer);
      add_tiles(s, *tiled, step);
    }
    out_.steps.push_back(std::move(step));
  }

  void add_tiles(size_t s, const TiledStep& tiled, Explanation::Step& step) const {
    const TilePlan& plan = layout_.plans[s];
    std::vector<int64_t> whole_size;
    for (size_t i = 0; i < tiled.axes().size(); ++i) {
      const Axis& axis = tiled.axes()[i];
      whole_size.push_back(axis.extent);
      const std::string name =
          axis.name.empty() ? std::string("dimension ").append(std::to_string(i)) : std::string(axis.name);
      step.axes.push_back({name, axis.extent, plan.size[i]});
    }
    step.tiles = plan.tiles;
    step.room = plan.available;
    for (size_t b = 0; b < plan.bundles.size(); ++b) {
      const Bundle& bundle = plan.bundles[b];
      step.tile_buffers.push_back(tile_buffer(s, b));
      if (stays(bundle)) continue;
      int64_t bytes = 0;
      for (const uint32_t operand : bundle.operands) {
        bytes = round_up(bytes, kPartAlignment) + tiled.largest_bytes(operand, whole_size);
      }
      step.whole_bytes += round_up(bytes, kSlotAlignment);
    }
    if (plan.tiles > 1) {
      step.cut = step.whole_bytes > plan.available ? Explanation::Cut::kRoom : Explanation::Cut::kOverlap;
    }
    for (size_t i = 0; i < tiled.operands().size(); ++i) {
      step.operands.push_back(operand(tiled, i, plan));
    }
  }

  [[nodiscard]] bool stays(const Bundle& bundle) const {
    return machine_.resident && bundle.kind == Bundle::Kind::kConstant;
  }

  [[nodiscard]] Explanation::TileBuffer tile_buffer(size_t s, size_t b) const {
    const Bundle& bundle = layout_.plans[s].bundles[b];
    Explanation::TileBuffer buffer{role_of(bundle),
                                   bundle.dram,
                                   bundle.slot_bytes,
                                   static_cast<int64_t>(layout_.slots[s][b].size()),
                                   bundle.kind == Bundle::Kind::kScratch || stays(bundle) ? 0 : bundle.moves,
                                   {},
                                   {}};
    for (const Group& group : layout_.groups) {
      for (const Group::Member& member : group.members) {
        if (member.step == s && member.bundle == b) buffer.loaded_with = static_cast<uint32_t>(group.members[0].step);
      }
    }
    for (const Kept& kept : layout_.kept) {
      if (kept.step == s && kept.bundle == b) buffer.loaded_before = static_cast<uint32_t>(kept.before);
    }
    return buffer;
  }

  [[nodiscard]] Explanation::Home home(const Operand& o) const {
    if (o.scratch) return Explanation::Home::kScratchpad;
    switch (o.view == nullptr ? Home::kConstant : layout_.homes[o.view->buffer]) {
      case Home::kScratchpad:
        return Explanation::Home::kScratchpad;
      case Home::kPersistent:
        return Explanation::Home::kPersistent;
      case Home::kConstant:
        return machine_.resident ? Explanation::Home::kResident : Explanation::Home::kDram;
      case Home::kDram:
        return Explanation::Home::kDram;
    }
    return Explanation::Home::kDram;
  }

  [[nodiscard]] Explanation::Operand operand(const TiledStep& tiled, size_t i, const TilePlan& plan) const {
    const Operand& o = tiled.operands()[i];
    Explanation::Operand out;
    out.home = home(o);
    out.tile_buffer = plan.bundle_of[i];
    if (o.view == nullptr) {
      out.role = o.scratch ? Role::kRows : Role::kConstants;
      out.bytes = tiled.largest_bytes(i, plan.size);
      return out;
    }
    const Buffer& buffer = module_.buffers[o.view->buffer];
    out.name = buffer.name;
    out.role = o.result ? Role::kResult : buffer.kind == BufferKind::kConstant ? Role::kConstants : Role::kOperand;
    out.bytes = o.moved >= 0 ? o.moved : packed_bytes(*o.view, whole(*o.view), o.repeats);
    return out;
  }

  void add_place(const Taken& taken) {
    Explanation::Place place;
    place.address = taken.low;
    place.bytes = taken.high - taken.low;
    place.first = taken.first;
    place.last = taken.last;
    const Holder& holder = taken.holder;
    switch (holder.kind) {
      case Holder::Kind::kBuffer:
        place.name = module_.buffers[holder.id].name;
        break;
      case Holder::Kind::kGroup:
      case Holder::Kind::kSlot: {
        const Bundle& bundle = layout_.plans[holder.id].bundles[holder.bundle];
        place.step = holder.id;
        place.tile_buffer = holder.bundle;
        place.slot = holder.slot;
        place.role = role_of(bundle);
        if (holder.kind == Holder::Kind::kGroup) {
          place.joined = true;
          break;
        }
        const TiledStep& step = *layout_.analysis.steps[holder.id];
        for (const uint32_t i : bundle.operands) {
          const View* view = step.operands()[i].view;
          if (view == nullptr) continue;
          place.name += (place.name.empty() ? "" : " + ") + module_.buffers[view->buffer].name;
        }
        break;
      }
    }
    out_.places.push_back(std::move(place));
  }

  void add_commands(std::span<const size_t> yields) {
    const Timeline& timeline = schedule_.timeline;
    auto yield = yields.begin();
    uint32_t index = 1;  // behind begin
    for (size_t i = 0; i < schedule_.stream.commands.size(); ++i, ++index) {
      for (; yield != yields.end() && *yield == i; ++yield) ++index;
      const Command& command = schedule_.stream.commands[i];
      const Estimator::Times& times = timeline.times[i];
      // The sequencer ends a command of its own when it turns to the next one.
      const bool queued = contract::engine_of(header_of(command.body).queue).has_value();
      out_.commands.push_back({index, command.step, part_of(command), queued ? timeline.issued[i] : times.started,
                               times.started, times.ready, queued ? times.done : timeline.issued[i]});
    }
  }

  static Explanation::Command::Part part_of(const Command& command) {
    switch (command.part) {
      case Command::Part::kLoad:
        return Explanation::Command::Part::kLoad;
      case Command::Part::kCompute:
        return Explanation::Command::Part::kCompute;
      case Command::Part::kStore:
        return Explanation::Command::Part::kStore;
    }
    return Explanation::Command::Part::kCompute;
  }

  const Module& module_;
  const Schedule& schedule_;
  const Layout& layout_;
  const ExplainedMachine machine_;
  Explanation out_;
};

}  // namespace

Explanation explain(const Module& module, const Schedule& schedule, std::span<const size_t> yields,
                    const ExplainedMachine& machine) {
  return Explainer(module, schedule, machine).run(yields);
}

}  // namespace npu::compiler::backend
