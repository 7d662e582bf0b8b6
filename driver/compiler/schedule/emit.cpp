// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/emit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "driver/compiler/schedule/constants.h"
#include "driver/compiler/schedule/dma.h"
#include "driver/compiler/schedule/dram.h"
#include "hw/contract/error.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"

namespace npu::compiler::backend {
namespace {

using contract::Address;
using contract::DmaCommand;
using contract::Queue;
using contract::Region;
using Part = Command::Part;

// One queue a kind of traffic where the device has that many channels; loads never wait behind stores.
struct Channels {
  Queue constants, loads, stores, copies;

  explicit Channels(uint32_t count) {
    constants = Queue::kDma0;
    loads = count >= 3 ? Queue::kDma1 : Queue::kDma0;
    stores = count >= 3 ? Queue::kDma2 : Queue::kDma1;
    copies = count >= 4 ? Queue::kDma3 : stores;
  }
};

constexpr int64_t kLeastFirst = 4096;  // bytes of a load that is worth to come before constants

// What lies in the slots of a bundle.
struct SlotState {
  std::vector<Range> key;  // of the newest: the tile's ranges on the bundle's axes; empty: nothing yet
  size_t current = 0;      // slot of the newest
};

// Where the constants of the tiles of a bundle lie in the constants region (offset, bytes), by the tile's position.
using Packed = std::map<std::vector<int64_t>, std::pair<int64_t, int64_t>>;

// The slot of each content of a bundle that stays through a loop, by the tile's position.
using KeptSlots = std::map<std::vector<int64_t>, size_t>;

class StreamWriter {
 public:
  StreamWriter(const Module& module, const Layout& layout, const contract::Capabilities& capabilities,
               const Emission& how)
      : module_(module),
        layout_(layout),
        channels_(capabilities.dma_channels),
        contents_(how.contents),
        constants_(how.resident ? Region::kResident : Region::kConstants),
        grid_(how.grid != nullptr ? *how.grid : layout.analysis),
        grid_module_(how.grid_module != nullptr ? *how.grid_module : module) {}

  Stream run() {
    stream_.layer_tiles.resize(module_.layers.size());
    raw_.assign(module_.buffers.size(), -1);
    for (const Group& group : layout_.groups) {
      for (const Group::Member& member : group.members) groups_[{member.step, member.bundle}] = &group;
    }
    note_ports();
    for (size_t s = 0; s < module_.steps.size(); ++s) {
      step_ = static_cast<uint32_t>(s);
      set_layer(s, 0);
      std::visit(Overloaded{[&](const MxuStep&) { tiled_step(s); }, [&](const EwiseStep&) { tiled_step(s); },
                            [&](const PoolStep&) { tiled_step(s); }, [&](const ReduceStep&) { tiled_step(s); },
                            [&](const CopyStep&) { tiled_step(s); }, [&](const GatherStep&) { tiled_step(s); },
                            [&](const DeclareStep& step) { declare(step.variable); },
                            [&](const LabelStep& step) { control(s, [&] { label(step); }); },
                            [&](const BranchStep& step) { control(s, [&] { branch(step); }); }},
                 module_.steps[s].work);
    }
    stream_.constants = pool_.take();
    return std::move(stream_);
  }

 private:
  // Whose tiles the plan is for, and whose constants are loaded: those of smaller sizes are the first of them.
  [[nodiscard]] const TiledStep& grid_step(size_t s) const { return *grid_.steps[s]; }

  // The commands that follow are for something else.
  void begin_place() {
    ++place_;
    number_ = 0;
  }

  void declare(uint32_t variable) {
    begin_place();
    contract::DeclareCommand c;
    c.variable = variable;
    c.hash = module_.variables[variable].hash;
    append(c, Queue::kSequencer, Part::kCompute);
  }

  void note_ports() {
    for (const BufferId id : module_.input_buffers) {
      const Lifetime& life = layout_.analysis.lifetimes[id];
      if (life.last >= 0) loads_.emplace_back(static_cast<size_t>(life.first), id);
    }
    for (const BufferId id : module_.output_buffers) {
      const Lifetime& life = layout_.analysis.lifetimes[id];
      if (life.last_write >= 0) stores_.emplace_back(static_cast<size_t>(life.last_write), id);
    }
    std::sort(loads_.begin(), loads_.end());
    std::sort(stores_.begin(), stores_.end());
  }

  // A control step; what ports it begins or ends a construct for is moved outside of that.
  template <typename Append>
  void control(size_t s, Append&& append_command) {
    const auto for_each_port = [&](const std::vector<std::pair<size_t, BufferId>>& ports, auto&& visit) {
      auto port = std::lower_bound(ports.begin(), ports.end(), std::make_pair(s, BufferId{0}));
      for (; port != ports.end() && port->first == s; ++port) visit(port->second);
    };
    for_each_port(loads_, [&](BufferId id) { load_input(s, id); });
    load_kept(s);
    append_command();
    for_each_port(stores_, [&](BufferId id) { store_output(s, id); });
  }

  // What stays through the loop that begins with this step.
  void load_kept(size_t s) {
    auto kept = std::lower_bound(layout_.kept.begin(), layout_.kept.end(), s,
                                 [](const Kept& a, size_t before) { return a.before < before; });
    for (; kept != layout_.kept.end() && kept->before == s; ++kept) {
      const TiledStep& step = *layout_.analysis.steps[kept->step];
      const TilePlan& plan = layout_.plans[kept->step];
      const Bundle& bundle = plan.bundles[kept->bundle];
      const std::vector<int64_t>& slots = layout_.slots[kept->step][kept->bundle];
      KeptSlots& places = kept_[{kept->step, kept->bundle}];
      Packed packed;
      set_layer(kept->step, step.operands()[bundle.operands[0]].part);
      step_ = static_cast<uint32_t>(kept->step);
      for (const Tile& whole : tiles_of(grid_step(kept->step), plan)) {
        begin_place();
        const size_t slot = places.size();
        if (!places.emplace(place_of(bundle, whole), slot).second) continue;
        if (part_of(whole, step))
          load_bundle(grid_step(kept->step), bundle, whole, scratchpad_address(slots[slot]), packed);
      }
    }
    step_ = static_cast<uint32_t>(s);
    set_layer(s, 0);
  }

  static Address scratchpad_address(int64_t offset) { return {static_cast<uint32_t>(offset), Region::kScratchpad, 0}; }

  // Places are labels until the stream is encoded.
  void label(const LabelStep& step) {
    begin_place();
    contract::LabelCommand c;
    c.index = step.label;
    append(c, Queue::kSequencer, Part::kCompute);
  }

  void branch(const BranchStep& step) {
    begin_place();
    contract::BranchCommand c;
    c.mode = step.mode;
    c.limit = step.limit;
    c.target = c.target_index = step.label;
    switch (step.mode) {
      case contract::BranchMode::kAlways:
        break;
      case contract::BranchMode::kIfFalse:
        c.condition = on_chip_address(step.condition);
        break;
      case contract::BranchMode::kRepeat:
        c.counter = on_chip_address(step.counter);
        break;
    }
    append(c, Queue::kSequencer, Part::kCompute);
  }

  // Of what a branch reads itself.
  [[nodiscard]] contract::Address on_chip_address(const View& view) {
    const contract::Address address = moved(home_address(view.buffer), view.offset);
    NPU_CHECK(address.region == contract::Region::kScratchpad);
    return address;
  }

  void tiled_step(size_t s) {
    if (!layout_.analysis.steps[s]) return;  // part of a chain
    for_each_buffer(s, [&](BufferId id) { load_input(s, id); });
    step(s);
    for_each_buffer(s, [&](BufferId id) { store_output(s, id); });
  }

  // The layer of a part of step `s`.
  void set_layer(size_t s, uint32_t part) { layer_ = module_.steps[s + part].layer; }

  template <typename C>
  void append(C command, Queue queue, Part part) {
    check_command_count(stream_.commands.size() + 1);
    command.header.queue = queue;
    command.header.layer = layer_;
    stream_.commands.push_back({std::move(command), part, step_, place_, number_++});
  }

  void append_moves(std::vector<DmaCommand>& moves, Queue queue, Part part, bool commit) {
    for (size_t i = 0; i < moves.size(); ++i) {
      moves[i].commit = commit && i + 1 == moves.size();
      append(moves[i], queue, part);
    }
  }

  // Address of byte 0 of a buffer.
  Address home_address(BufferId id) {
    switch (layout_.homes[id]) {
      case Home::kScratchpad:
        return {static_cast<uint32_t>(layout_.scratchpad[id]), Region::kScratchpad, 0};
      case Home::kConstant:
        if (raw_[id] < 0) raw_[id] = contents_ ? pool_.add(module_.buffers[id].data) : 0;
        return {static_cast<uint32_t>(raw_[id]), constants_, 0};
      case Home::kPersistent:
      case Home::kDram:
        return memory_address(id);
    }
    return {};
  }

  // In DRAM or persistent SRAM.
  [[nodiscard]] Address memory_address(BufferId id) const {
    const Buffer& buffer = module_.buffers[id];
    const auto offset = static_cast<uint32_t>(layout_.dram[id]);
    switch (buffer.kind) {
      case BufferKind::kInput:
        return {offset, Region::kInput, 0};
      case BufferKind::kOutput:
        return {offset, Region::kOutput, 0};
      case BufferKind::kIntermediate:
        return {offset, Region::kWorkspace, 0};
      case BufferKind::kVariable:
        return {0, Region::kVariable, static_cast<uint16_t>(buffer.index)};
      case BufferKind::kConstant:
        NPU_CHECK(false);  // in the constants' region, always
        break;
    }
    return {};
  }

  // An input that lives in the scratchpad is loaded before its first use.
  void load_input(size_t s, BufferId id) {
    if (layout_.analysis.lifetimes[id].first == static_cast<int64_t>(s)) move_port(id, BufferKind::kInput);
  }

  // An output that lives there is stored after its last write.
  void store_output(size_t s, BufferId id) {
    if (layout_.analysis.lifetimes[id].last_write == static_cast<int64_t>(s)) move_port(id, BufferKind::kOutput);
  }

  // The channel that loads so many bytes. What the first tile waits for shares DRAM with no constants of later steps:
  // it comes before them on their channel, where that takes less time than it saves.
  [[nodiscard]] Queue loads_of(int64_t bytes) const {
    const bool first = !computes_ && bytes >= kLeastFirst && constants_ != Region::kResident;
    return first ? channels_.constants : channels_.loads;
  }

  // Once, if the buffer is a port of this kind and lives in the scratchpad.
  void move_port(BufferId id, BufferKind kind) {
    begin_place();
    if (module_.buffers[id].kind != kind || layout_.homes[id] != Home::kScratchpad) return;
    if (!moved_.insert(id).second) return;
    const bool load = kind == BufferKind::kInput;
    const Placed chip{home_address(id), {1}}, dram{memory_address(id), {1}};
    std::vector<DmaCommand> moves;
    const auto bytes = static_cast<int64_t>(module_.buffers[id].bytes);
    dma_copy(std::array{bytes}, load ? dram : chip, load ? chip : dram, 1, moves);
    // All sizes of a program use the queues of the largest.
    const Queue loads = loads_of(static_cast<int64_t>(grid_module_.buffers[id].bytes));
    append_moves(moves, load ? loads : channels_.stores, load ? Part::kLoad : Part::kStore, false);
  }

  // Those that a step of tiles touches.
  template <typename Visit>
  void for_each_buffer(size_t s, Visit&& visit) {
    for (const Operand& o : layout_.analysis.steps[s]->operands()) {
      if (o.view != nullptr) visit(o.view->buffer);
    }
  }

  void step(size_t s) {
    const TiledStep& step = *layout_.analysis.steps[s];
    const TilePlan& plan = layout_.plans[s];
    std::vector<SlotState> states(plan.bundles.size());
    std::vector<Packed> packed(plan.bundles.size());
    const std::vector<Tile> tiles = tiles_of(grid_step(s), plan);
    std::vector<std::optional<Tile>> parts;
    size_t last = 0;
    for (size_t t = 0; t < tiles.size(); ++t) {
      if (parts.emplace_back(part_of(tiles[t], step))) last = t;
    }
    for (size_t t = 0; t < tiles.size(); ++t) {
      if (!parts[t]) {
        pass_tile(s, tiles[t], states);
        continue;
      }
      const Tile& tile = *parts[t];
      const bool final_tile = t == last;
      std::vector<Placed> placed(step.operands().size());
      for (size_t i = 0; i < placed.size(); ++i) {
        if (plan.bundle_of[i] >= 0 || step.idle(i, tile)) continue;
        const View& view = *step.operands()[i].view;
        placed[i] = {moved(home_address(view.buffer), offset_of(view, step.box(i, tile))), view.strides};
      }
      for (size_t b = 0; b < plan.bundles.size(); ++b) {
        const Bundle& bundle = plan.bundles[b];
        SlotState& state = states[b];
        const auto kept = kept_.find({s, b});
        begin_place();
        const bool fresh = kept == kept_.end() && take_slot(bundle, layout_.slots[s][b].size(), tiles[t], state);
        if (kept != kept_.end()) state.current = kept->second.at(place_of(bundle, tile));
        const bool constant = bundle.kind == Bundle::Kind::kConstant;
        const bool stays = constant && constants_ == Region::kResident;
        const Address base =
            stays ? Address{static_cast<uint32_t>(packed_block(grid_step(s), bundle, tiles[t], packed[b]).first),
                            Region::kResident, 0}
                  : scratchpad_address(layout_.slots[s][b][state.current]);
        const std::vector<int64_t> parts =
            constant ? parts_of(grid_step(s), bundle, tiles[t]) : parts_of(step, bundle, tile);
        for (size_t k = 0; k < bundle.operands.size(); ++k) {
          const uint32_t i = bundle.operands[k];
          const Operand& o = step.operands()[i];
          placed[i].address = moved(base, parts[k]);
          if (o.scratch) placed[i].strides = grid_step(s).scratch_parts(i, plan.size);
          if (o.view == nullptr || step.idle(i, tile)) continue;
          placed[i].strides = packed_strides(*o.view, step.box(i, tile), o.repeats);
        }
        if (!fresh || stays) continue;
        set_layer(s, step.operands()[bundle.operands[0]].part);
        if (constant) {
          const auto group = groups_.find({s, b});
          if (group == groups_.end()) {
            load_bundle(grid_step(s), bundle, tiles[t], base, packed[b]);
          } else if (group->second->members.front().step == s && group->second->members.front().bundle == b) {
            load_group(*group->second);
          }
        }
        if (bundle.kind == Bundle::Kind::kLoad && !step.idle(bundle.operands[0], tile))
          transfer(s, bundle.operands[0], tile, tiles[t], placed, false);
      }
      begin_place();
      compute(s, tile, placed, final_tile);
      for (const Bundle& bundle : plan.bundles) {
        begin_place();
        if (bundle.kind == Bundle::Kind::kStore) set_layer(s, step.operands()[bundle.operands[0]].part);
        if (bundle.kind == Bundle::Kind::kStore && !step.idle(bundle.operands[0], tile))
          transfer(s, bundle.operands[0], tile, tiles[t], placed, final_tile);
      }
    }
  }

  // What of a tile of the grid a step has; nullopt: nothing.
  static std::optional<Tile> part_of(const Tile& whole, const TiledStep& step) {
    Tile tile = whole;
    for (size_t axis = 0; axis < tile.size(); ++axis) {
      tile[axis].count = std::min(tile[axis].count, step.axes()[axis].extent - tile[axis].start);
      if (tile[axis].count <= 0) return std::nullopt;
    }
    return tile;
  }

  // A tile that the step does not have: what comes behind has the places and slots that it has on the grid.
  void pass_tile(size_t s, const Tile& whole, std::vector<SlotState>& states) {
    const std::vector<Bundle>& bundles = layout_.plans[s].bundles;
    for (size_t b = 0; b < bundles.size(); ++b) {
      begin_place();
      if (!kept_.contains({s, b})) take_slot(bundles[b], layout_.slots[s][b].size(), whole, states[b]);
    }
    begin_place();
    computes_ = true;
    for (size_t b = 0; b < bundles.size(); ++b) begin_place();
  }

  // Whether the tile needs another transfer than the one before; if so, moves on to the next slot.
  static bool take_slot(const Bundle& bundle, size_t slots, const Tile& tile, SlotState& state) {
    std::vector<Range> key(1);  // never empty
    for (size_t axis = 0; axis < tile.size(); ++axis) {
      if ((bundle.axes >> axis & 1) != 0) key.push_back(tile[axis]);
    }
    if (state.key == key) return false;
    if (!state.key.empty()) state.current = (state.current + 1) % slots;
    state.key = std::move(key);
    return true;
  }

  // The packed constants of a bundle for one tile.
  void pack_bundle(const TiledStep& step, const Bundle& bundle, const Tile& tile, uint8_t* out) {
    const std::vector<int64_t> parts = parts_of(step, bundle, tile);
    for (size_t k = 0; k < bundle.operands.size(); ++k) {
      const uint32_t i = bundle.operands[k];
      const Operand& o = step.operands()[i];
      if (step.idle(i, tile)) continue;
      if (o.view == nullptr) {
        step.make(i, tile, out + parts[k]);
      } else {
        pack(*o.view, step.box(i, tile), o.repeats, module_.buffers[o.view->buffer].data, out + parts[k]);
      }
    }
  }

  void load_block(int64_t offset, int64_t bytes, const Address& slot) {
    if (bytes == 0) return;  // of a step of a chain that makes no rows for the stripe
    std::vector<DmaCommand> moves;
    dma_copy(std::array{bytes}, {{static_cast<uint32_t>(offset), Region::kConstants, 0}, {1}}, {slot, {1}}, 1, moves);
    append_moves(moves, channels_.constants, Part::kLoad, false);
  }

  // Where the constants of a bundle for one tile lie among all, and how many bytes they are.
  std::pair<int64_t, int64_t> packed_block(const TiledStep& step, const Bundle& bundle, const Tile& tile,
                                           Packed& packed) {
    std::vector<int64_t> key = place_of(bundle, tile);
    const auto found = packed.find(key);
    if (found != packed.end()) return found->second;
    const int64_t bytes = parts_of(step, bundle, tile).back();
    int64_t offset = 0;
    if (contents_) {
      block_.assign(static_cast<size_t>(bytes), 0);
      pack_bundle(step, bundle, tile, block_.data());
      offset = pool_.add(block_);
    }
    return packed.emplace(std::move(key), std::make_pair(offset, bytes)).first->second;
  }

  void load_bundle(const TiledStep& step, const Bundle& bundle, const Tile& tile, const Address& slot, Packed& packed) {
    const auto [offset, bytes] = packed_block(step, bundle, tile, packed);
    load_block(offset, bytes, slot);
  }

  void load_group(const Group& group) {
    block_.clear();
    int64_t bytes = 0;
    for (const Group::Member& member : group.members) {
      const TiledStep& step = grid_step(member.step);
      const Bundle& bundle = layout_.plans[member.step].bundles[member.bundle];
      const Tile tile = first_tile(layout_.plans[member.step]);
      bytes = member.offset + parts_of(step, bundle, tile).back();
      if (!contents_) continue;
      block_.resize(static_cast<size_t>(bytes));
      pack_bundle(step, bundle, tile, block_.data() + member.offset);
    }
    load_block(contents_ ? pool_.add(block_) : 0, bytes,
               {static_cast<uint32_t>(group.address), Region::kScratchpad, 0});
  }

  // Moves the box of one operand between its home and its tile buffer. `whole`: the tile as it is on the grid.
  void transfer(size_t s, uint32_t i, const Tile& tile, const Tile& whole, const std::vector<Placed>& placed,
                bool final_tile) {
    const TiledStep& step = *layout_.analysis.steps[s];
    const Operand& o = step.operands()[i];
    const Box box = step.box(i, tile);
    const Placed home{moved(home_address(o.view->buffer), offset_of(*o.view, box)), o.view->strides};
    const std::vector<int64_t> counts = packed_counts(*o.view, box, o.repeats);
    std::vector<DmaCommand> moves;
    if (o.result) {
      dma_copy(counts, placed[i], home, element_size(*o.view), moves);
      const bool commit =
          final_tile && step.completes_write() && module_.buffers[o.view->buffer].kind == BufferKind::kVariable;
      append_moves(moves, channels_.stores, Part::kStore, commit);
    } else {
      dma_copy(counts, home, placed[i], element_size(*o.view), moves);
      append_moves(moves, loads_of(grid_step(s).bytes(i, whole)), Part::kLoad, false);
    }
  }

  void compute(size_t s, const Tile& tile, const std::vector<Placed>& placed, bool final_tile) {
    const TiledStep& step = *layout_.analysis.steps[s];
    bodies_.clear();
    computes_ = true;
    step.commands(tile, placed, bodies_);
    bool writes_variable = false;  // in place, else what stores it completes the write
    for (size_t i = 0; i < placed.size(); ++i) {
      writes_variable |= step.operands()[i].result && placed[i].address.region == Region::kVariable;
    }
    for (size_t i = 0; i < bodies_.size(); ++i) {
      const bool last = final_tile && i + 1 == bodies_.size();
      Body& body = bodies_[i];
      set_layer(s, header_of(body).layer);
      const bool commits = last && writes_variable && step.completes_write();
      const auto tile_work = [&](auto&& command, Queue queue) {
        ++stream_.layer_tiles[layer_];
        append(std::forward<decltype(command)>(command), queue, Part::kCompute);
      };
      std::visit(
          Overloaded{[&](DmaCommand& dma) {
                       dma.commit = commits;
                       // A chain's other commands bring rows from one tile to the next.
                       if (step.engine() == contract::Engine::kDma) ++stream_.layer_tiles[layer_];
                       // What only later invocations see must not hold up what the next layer waits for.
                       const bool state = dma.dst.region == Region::kVariable;
                       // A chain stores the rows that steps behind it read.
                       const bool stores =
                           step.engine() != contract::Engine::kDma && dma.dst.region != Region::kScratchpad;
                       append(dma, state || stores ? channels_.stores : channels_.copies,
                              stores ? Part::kStore : Part::kCompute);
                     },
                     [&](contract::VpuEwiseCommand& ewise) {
                       ewise.commit = commits;
                       tile_work(std::move(ewise), Queue::kVpu);
                     },
                     [&]<contract::TileCommand Command>(Command& command) { tile_work(command, Command::kQueue); },
                     // No tile declares, or branches.
                     [](const contract::DeclareCommand&) { NPU_CHECK(false); },
                     [](const contract::LabelCommand&) { NPU_CHECK(false); },
                     [](const contract::BranchCommand&) { NPU_CHECK(false); }},
          body);
    }
  }

  const Module& module_;
  const Layout& layout_;
  const Channels channels_;
  const bool contents_;
  const Region constants_;  // where commands read them
  Stream stream_;
  ConstantPool pool_;
  std::vector<int64_t> raw_;  // offset of a constant buffer that is used as it is; -1: not yet
  std::map<std::pair<size_t, size_t>, const Group*> groups_;  // by step and bundle
  std::map<std::pair<size_t, size_t>, KeptSlots> kept_;       // by step and bundle
  std::set<BufferId> moved_;
  std::vector<std::pair<size_t, BufferId>> loads_, stores_;  // of ports: the step that each is moved for; ascending
  std::vector<uint8_t> block_;
  std::vector<Body> bodies_;
  const Analysis& grid_;
  const Module& grid_module_;
  uint32_t layer_ = 0, step_ = 0, place_ = 0, number_ = 0;
  bool computes_ = false;  // there is a tile already
};

}  // namespace

bool loads_constants(const Command& command) {
  const auto* load = std::get_if<DmaCommand>(&command.body);
  return command.part == Part::kLoad && load != nullptr && load->src.region == Region::kConstants;
}

Stream emit(const Module& module, const Layout& layout, const contract::Capabilities& capabilities,
            const Emission& how) {
  return StreamWriter(module, layout, capabilities, how).run();
}

}  // namespace npu::compiler::backend
