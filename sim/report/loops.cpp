// SPDX-License-Identifier: Apache-2.0
#include "sim/report/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "driver/graph/text.h"
#include "sim/report/report.h"
#include "sim/report/table.h"
#include "sim/report/unroll.h"

namespace npu::report {

std::vector<LoopRow> find_loops(std::span<const CommandInfo> commands) {
  std::vector<LoopRow> loops;
  for (uint32_t c = 0; c < commands.size(); ++c) {
    if (commands[c].back_to == 0) continue;
    LoopRow loop;
    loop.layer = commands[c].layer;
    loop.branch = c;
    std::set<uint32_t> known{loop.layer};
    for (uint32_t inner = commands[c].back_to; inner <= c; ++inner) {
      const uint32_t layer = commands[inner].layer;
      if (known.insert(layer).second) loop.layers.push_back(layer);
    }
    loops.push_back(std::move(loop));
  }
  std::stable_sort(loops.begin(), loops.end(), [&](const LoopRow& a, const LoopRow& b) {
    return commands[a.branch].back_to < commands[b.branch].back_to;
  });
  return loops;
}

void count_iterations(std::span<const contract::Event> events, std::vector<LoopRow>& loops) {
  std::map<uint32_t, LoopRow*> by_branch;
  for (LoopRow& loop : loops) by_branch[loop.branch] = &loop;
  for (const contract::Event& event : events) {
    const auto loop = by_branch.find(event.command);
    if (loop != by_branch.end()) ++loop->second->iterations;
  }
}

void add_macs(std::span<const contract::Event> events, std::span<const CommandInfo> commands,
              std::vector<LayerRow>& layers) {
  if (!has_branches(commands)) {
    for (LayerRow& row : layers) row.macs += static_cast<uint64_t>(row.layer.macs);
    return;
  }
  // A layer runs whole in its block: each of its MXU's commands ran as often as it did.
  std::map<uint32_t, uint32_t> layer_of;
  std::vector<bool> seen(layers.size());
  for (uint32_t c = 0; c < commands.size(); ++c) {
    const uint32_t layer = commands[c].layer;
    if (commands[c].opcode != contract::Opcode::kMxu || layer >= layers.size() || seen[layer]) continue;
    seen[layer] = true;
    layer_of[c] = layer;
  }
  for (const contract::Event& event : events) {
    const auto found = layer_of.find(event.command);
    if (found == layer_of.end()) continue;
    LayerRow& row = layers[found->second];
    row.macs += static_cast<uint64_t>(row.layer.macs);
  }
}

uint64_t cycles_of(const Report& report, const LoopRow& loop) {
  uint64_t cycles = report.layers.at(loop.layer).cycles;
  for (const uint32_t layer : loop.layers) cycles += report.layers.at(layer).cycles;
  return cycles;
}

std::string loop_lines(const Report& report) {
  std::string text;
  for (const LoopRow& loop : report.loops) {
    const uint64_t cycles = cycles_of(report, loop);
    text += fmt::format("{}{}: {}{:.6g} iterations", text.empty() ? "loops     " : "          ",
                        graph::printable(report.layer_name(loop.layer)), report.events_lost > 0 ? "at least " : "",
                        report.per_invocation(loop.iterations));
    if (report.timed()) {
      const double share = 100.0 * static_cast<double>(cycles) / static_cast<double>(report.cycles);
      text += fmt::format(", {:.1f} % of the cycles", share);
      // With records lost there were more of them than are known.
      if (loop.iterations > 0 && report.events_lost == 0)
        text += fmt::format(", {} an iteration", grouped(cycles / loop.iterations));
    }
    std::string names;
    for (const uint32_t layer : loop.layers) {
      names += (names.empty() ? "" : ", ") + graph::printable(report.layer_name(layer));
    }
    text += fmt::format("; layers {}\n", names.empty() ? "none" : names);
  }
  return text;
}

}  // namespace npu::report
