// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "driver/graph/text.h"
#include "sim/inspect/explain.h"
#include "sim/report/columns.h"
#include "sim/report/report.h"
#include "sim/report/table.h"

namespace npu::inspect {
namespace {

using compiler::Explanation;
using report::grouped;

std::string count(int64_t value) { return grouped(static_cast<uint64_t>(value)); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double share_of(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

std::string line(std::string_view title, const std::string& text) { return fmt::format("  {:<10} {}\n", title, text); }

std::string_view runs_on(const Explanation::Step& step) {
  return step.engine ? contract::name(*step.engine) : compiler::kSequencer;
}

std::string head(const Explained& explained, const ExplainedStep& step) {
  std::vector<std::string> layers;
  for (const uint32_t layer : step.facts.layers) {
    const compiler::Layer& one = explained.program.layers[layer];
    layers.push_back(fmt::format("{} ({})", graph::in_quotes(one.name), one.operators));
  }
  return fmt::format("step {}, {}: {}\n", step.facts.index, runs_on(step.facts), fmt::join(layers, ", "));
}

std::string tiles_text(const Explanation::Step& step) {
  std::vector<std::string> sizes, cuts;
  for (const Explanation::Axis& axis : step.axes) {
    sizes.push_back(fmt::format("{} {}", axis.name, axis.tile));
    if (axis.tiles() > 1) cuts.push_back(fmt::format("{} {} in {}", axis.name, axis.extent, axis.tiles()));
  }
  const std::string size = fmt::format("of {}", fmt::join(sizes, ", "));
  switch (step.cut) {
    case Explanation::Cut::kWhole:
      return fmt::format("1 {}; not cut: {} of {} bytes of room", size, count(step.whole_bytes), count(step.room));
    case Explanation::Cut::kRoom:
      return fmt::format("{} {}; cut in {}: scratchpad room, whole it takes {} bytes, and {} are there", step.tiles,
                         size, fmt::join(cuts, ", "), count(step.whole_bytes), count(step.room));
    case Explanation::Cut::kOverlap:
      return fmt::format("{} {}; cut in {}: so that other work overlaps, whole it takes {} of {} bytes of room",
                         step.tiles, size, fmt::join(cuts, ", "), count(step.whole_bytes), count(step.room));
  }
  return "";
}

std::string operand_text(const Explanation::Operand& operand) {
  if (operand.role == Explanation::Role::kRows) return fmt::format("{} bytes", count(operand.bytes));
  return fmt::format("{} {} bytes", operand.name.empty() ? "parameters" : graph::in_quotes(operand.name),
                     count(operand.bytes));
}

std::string_view role_words(Explanation::Role role) {
  return role == Explanation::Role::kRows ? "rows between fused steps" : name(role);
}

std::string_view home_words(Explanation::Home home) {
  switch (home) {
    case Explanation::Home::kScratchpad:
      return "in the scratchpad";
    case Explanation::Home::kDram:
      return "in DRAM";
    case Explanation::Home::kPersistent:
      return "in persistent SRAM";
    case Explanation::Home::kResident:
      return "in the scratchpad, for all jobs";
  }
  return "";
}

std::string buffer_text(const Explanation::TileBuffer& buffer, uint32_t step) {
  if (buffer.slot_bytes == 0) return "";
  std::string text = fmt::format("{} {} of {} bytes", buffer.slots, buffer.slots == 1 ? "tile buffer" : "tile buffers",
                                 count(buffer.slot_bytes));
  if (buffer.moves > 0) {
    text += fmt::format(", {} {}{}", count(buffer.moves), buffer.moves == 1 ? "transfer" : "transfers",
                        buffer.dram ? "" : " on the chip");
  }
  if (buffer.loaded_with) {
    text += *buffer.loaded_with == step ? ", joined with those of later steps"
                                        : fmt::format(", joined with those of step {}", *buffer.loaded_with);
  }
  if (buffer.loaded_before) text += fmt::format(", once before the loop of step {}", *buffer.loaded_before);
  return text;
}

std::string operands_text(const Explanation::Step& step) {
  std::string text;
  for (const Explanation::Operand& operand : step.operands) {
    if (operand.tile_buffer >= 0) continue;
    text += line("in place",
                 fmt::format("{} {} {}", role_words(operand.role), operand_text(operand), home_words(operand.home)));
  }
  for (size_t b = 0; b < step.tile_buffers.size(); ++b) {
    std::vector<std::string> parts;
    std::string_view home;
    for (const Explanation::Operand& operand : step.operands) {
      if (operand.tile_buffer != static_cast<int32_t>(b)) continue;
      parts.push_back(operand_text(operand));
      home = home_words(operand.home);
    }
    const std::string buffer = buffer_text(step.tile_buffers[b], step.index);
    text += line("by tiles", fmt::format("{} {} {}{}{}", role_words(step.tile_buffers[b].role), fmt::join(parts, " + "),
                                         home, buffer.empty() ? "" : "; ", buffer));
  }
  return text;
}

std::string bytes_text(const MovedBytes& bytes) {
  std::string text = fmt::format("loaded {} (constants {}), stored {}", grouped(bytes.constants + bytes.dram_read),
                                 grouped(bytes.constants), grouped(bytes.dram_written));
  if (bytes.persistent_read + bytes.persistent_written > 0) {
    text += fmt::format("; persistent SRAM: read {}, written {}", grouped(bytes.persistent_read),
                        grouped(bytes.persistent_written));
  }
  if (bytes.on_chip > 0) text += fmt::format("; copied on the chip {}", grouped(bytes.on_chip));
  return text;
}

std::string constants_text(const ConstantsLoad& load) {
  std::string text =
      fmt::format("{} bytes, cycles {} to {}", grouped(load.bytes), grouped(load.begin), grouped(load.end));
  constexpr size_t kNamed = 3;
  std::vector<std::string> under;
  for (size_t i = 0; i < std::min(kNamed, load.under.size()); ++i) {
    under.push_back(fmt::format("step {} ({} cycles)", load.under[i].first, grouped(load.under[i].second)));
  }
  if (load.under.size() > kNamed) under.push_back(fmt::format("{} more", load.under.size() - kNamed));
  text += under.empty() ? "; no earlier step computes meanwhile" : fmt::format("; under {}", fmt::join(under, ", "));
  return text + (load.exposed == 0 ? "; nothing exposed" : fmt::format("; exposed {} cycles", grouped(load.exposed)));
}

std::string causes_text(const report::Charge& charge) {
  std::vector<size_t> order(report::kCauseCount);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return charge.causes[a] > charge.causes[b]; });
  std::vector<std::string> parts;
  for (const size_t i : order) {
    if (charge.causes[i] == 0) break;
    parts.push_back(fmt::format("{} {}", report::name(static_cast<report::Cause>(i)), grouped(charge.causes[i])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string step_text(const Explained& explained, const ExplainedStep& step) {
  std::string text = head(explained, step);
  if (!step.facts.axes.empty()) text += line("tiles", tiles_text(step.facts)) + operands_text(step.facts);
  text += line("bytes", bytes_text(step.bytes));
  if (step.constants.transfers > 0) text += line("constants", constants_text(step.constants));
  const uint64_t cycles = step.charge.cycles();
  std::string estimate = fmt::format("{} cycles ({}) of {} to {}", grouped(cycles),
                                     percent(share_of(cycles, explained.program.estimated_cycles)), grouped(step.begin),
                                     grouped(step.end));
  if (step.commands == 0) {
    estimate = "nothing to do";
  } else if (cycles == 0) {
    estimate += ", hidden behind other steps";
  } else {
    estimate += ", limited by " + report::limit_text(step.charge, " of other steps");
  }
  text += line("estimate", estimate);
  if (cycles > 0) text += line("causes", causes_text(step.charge));
  return text;
}

std::string schedule_text(const Explained& explained) {
  std::vector<const ScheduledCommand*> order;
  for (const ScheduledCommand& command : explained.commands) order.push_back(&command);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->started < b->started; });
  std::vector<report::Row> rows;
  for (const ScheduledCommand* c : order) {
    const uint64_t bytes = c->bytes.constants + c->bytes.dram_read + c->bytes.dram_written + c->bytes.persistent_read +
                           c->bytes.persistent_written + c->bytes.on_chip;
    rows.push_back({grouped(c->started), grouped(c->done), std::string(contract::name(c->queue)),
                    std::to_string(c->step), graph::printable(explained.program.layers[c->layer].name),
                    c->bytes.constants > 0 ? "load constants" : std::string(name(c->part)), grouped(bytes),
                    std::to_string(c->command), fmt::format("{}", fmt::join(c->awaits, " "))});
  }
  return "\nschedule, by the estimate; bytes that are moved from or to other memories; waits: commands that it waits "
         "for\n" +
         report::render({{"start"},
                         {"end"},
                         {"queue", true},
                         {"step"},
                         {"layer", true},
                         {"part", true},
                         {"bytes"},
                         {"command"},
                         {"waits", true}},
                        rows);
}

std::string place_words(const Explanation::Place& place) {
  if (!place.step) return graph::printable(place.name);
  if (place.joined) return fmt::format("step {} and later ones: constants, joined", *place.step);
  const std::string what = place.name.empty() ? std::string(name(place.role))
                                              : fmt::format("{} {}", name(place.role), graph::printable(place.name));
  return fmt::format("step {} slot {}: {}", *place.step, place.slot, what);
}

std::string denied_text(const Explanation::Denied& denied) {
  const std::string bytes = count(denied.bytes), buffer = graph::in_quotes(denied.buffer);
  if (denied.buffer.empty()) {
    return fmt::format("step {} is cut smaller: {} bytes were in too small pieces\n", denied.first, bytes);
  }
  if (denied.asked == Explanation::Denied::Asked::kTiles) {
    return fmt::format("{} gives its place to the tiles of step {}, and lives in DRAM: they asked for {} bytes\n",
                       buffer, denied.first, bytes);
  }
  return fmt::format("{} lives in DRAM: {} bytes in steps {} to {} were in too small pieces\n", buffer, bytes,
                     denied.first, denied.last);
}

std::string memory_text(const Explained& explained) {
  const Explanation& facts = explained.facts;
  std::vector<const Explanation::Place*> order;
  for (const Explanation::Place& place : facts.places) order.push_back(&place);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->first, a->address) < std::pair(b->first, b->address);
  });
  std::vector<report::Row> rows;
  for (const Explanation::Place* place : order) {
    rows.push_back({count(place->address), count(place->address + place->bytes - 1), count(place->bytes),
                    std::to_string(place->first / facts.ticks), std::to_string(place->last / facts.ticks),
                    place_words(*place)});
  }
  std::string text = "\nscratchpad, places: bytes from ... to, taken from the first step to the last one\n" +
                     report::render({{"from"}, {"to"}, {"bytes"}, {"first"}, {"last"}, {"what", true}}, rows);
  rows.clear();
  for (const StepMemory& step : explained.memory.steps) {
    rows.push_back({std::to_string(step.step), count(step.used), count(step.free), count(step.largest_piece),
                    step.denied == 0 ? "-" : count(step.denied), count(step.fragmented())});
  }
  text += "\nscratchpad, steps: when most is taken; denied: asked for, not had; lost: of that, free but in pieces\n" +
          report::render({{"step"}, {"used"}, {"free"}, {"largest piece"}, {"denied"}, {"lost"}}, rows);
  for (const Explanation::Denied& denied : facts.denied) {
    text += denied_text(denied);
  }
  return text;
}

std::string memory_summary(const MemoryLine& memory) {
  return fmt::format(
      "scratchpad: peak {} of {} bytes, peak of live bytes {}, lost to fragmentation {} of the scratchpad (goal: "
      "under {:.0f} %)\n",
      count(memory.peak), count(memory.size), count(memory.live_peak), percent(memory.lost()), 100 * kMostLost);
}

}  // namespace

std::string_view name(Explanation::Role role) {
  switch (role) {
    case Explanation::Role::kConstants:
      return "constants";
    case Explanation::Role::kOperand:
      return "operand";
    case Explanation::Role::kResult:
      return "result";
    case Explanation::Role::kRows:
      return "rows";
  }
  return "?";
}

std::string_view name(Explanation::Home home) {
  switch (home) {
    case Explanation::Home::kScratchpad:
      return "scratchpad";
    case Explanation::Home::kDram:
      return "dram";
    case Explanation::Home::kPersistent:
      return "persistent_sram";
    case Explanation::Home::kResident:
      return "resident";
  }
  return "?";
}

std::string_view name(Explanation::Cut cut) {
  switch (cut) {
    case Explanation::Cut::kWhole:
      return "whole";
    case Explanation::Cut::kRoom:
      return "scratchpad_room";
    case Explanation::Cut::kOverlap:
      return "overlap";
  }
  return "?";
}

std::string_view name(Explanation::Command::Part part) {
  switch (part) {
    case Explanation::Command::Part::kLoad:
      return "load";
    case Explanation::Command::Part::kCompute:
      return "compute";
    case Explanation::Command::Part::kStore:
      return "store";
  }
  return "?";
}

std::string_view name(Explanation::Denied::Asked asked) {
  switch (asked) {
    case Explanation::Denied::Asked::kTiles:
      return "tiles";
    case Explanation::Denied::Asked::kBuffer:
      return "buffer";
  }
  return "?";
}

std::string to_text(const Explained& explained, const Shown& shown) {
  std::string text = fmt::format("{} on {}: {} steps, {} commands, estimate {} cycles\n\n", explained.file,
                                 explained.machine.name, explained.steps.size(),
                                 grouped(explained.program.command_count), grouped(explained.program.estimated_cycles));
  for (const ExplainedStep& step : explained.steps) text += step_text(explained, step);
  if (shown.schedule) text += schedule_text(explained);
  if (shown.memory) text += memory_text(explained);
  if (explained.program.resident_bytes > 0) {
    text += fmt::format("\nconstants that stay: {} bytes of the scratchpad", grouped(explained.program.resident_bytes));
  }
  return text + "\n" + memory_summary(explained.memory);
}

}  // namespace npu::inspect
