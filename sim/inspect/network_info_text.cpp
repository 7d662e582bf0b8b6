// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "driver/graph/text.h"
#include "sim/inspect/network_info.h"
#include "sim/report/columns.h"
#include "sim/report/state.h"
#include "sim/report/table.h"

namespace npu::inspect {
namespace {

using report::grouped;

template <typename List>
std::string joined(const List& list) {
  return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

std::string ports_text(std::string_view title, const std::vector<workload::GraphPort>& ports) {
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i) {
    text +=
        fmt::format("{:<11} {}  {}{}\n", i == 0 ? title : "", graph::in_quotes(ports[i].name),
                    graph::describe_type(ports[i].type, ports[i].shape), ports[i].is_unsigned ? "  (unsigned)" : "");
  }
  if (ports.empty()) text += fmt::format("{:<11} none\n", title);
  return text;
}

std::string operators_text(const NetworkInfo& info) {
  size_t name_width = 4, type_width = 5;
  for (const OperatorGroup& group : info.operators) {
    name_width = std::max(name_width, group.name.size());
    type_width = std::max(type_width, group.type.size());
  }
  std::string text = fmt::format("\n{:>5}  {:<{}}  {:<{}}  on {}\n", "count", "operator", name_width, "types",
                                 type_width, info.machine);
  for (const OperatorGroup& group : info.operators) {
    text += fmt::format("{:>5}  {:<{}}  {:<{}}  {}\n", group.count, group.name, std::max<size_t>(name_width, 8),
                        group.type, type_width, group.engine);
  }
  return text;
}

// What is refused for the same reason shares an entry.
std::string refused_text(const std::vector<compiler::SupportRow>& refused) {
  constexpr size_t kShown = 8;
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<size_t>>> entries;
  for (const compiler::SupportRow& row : refused) {
    entries[{row.reason, row.way_out}][fmt::format("{} ({})", row.name, row.type)].push_back(row.index);
  }
  std::string text;
  for (const auto& [why, operators] : entries) {
    text += fmt::format("  {}\n", why.first);
    for (const auto& [name, places] : operators) {
      const size_t shown = std::min(places.size(), kShown);
      text += fmt::format("      {} at {}{}\n", name,
                          fmt::join(places.begin(), places.begin() + static_cast<ptrdiff_t>(shown), ", "),
                          shown < places.size() ? fmt::format(" and {} more", places.size() - shown) : "");
    }
    if (!why.second.empty()) text += fmt::format("      way out: {}\n", why.second);
  }
  return text;
}

std::string persistent_text(const NetworkInfo& info) {
  const PersistentNeed& need = info.persistent;
  return fmt::format("{:<11} on {}: {} of {} bytes of persistent SRAM, {} of {} table entries: {}\n", "state",
                     info.machine, grouped(need.bytes), grouped(need.available), grouped(need.entries),
                     grouped(need.available_entries),
                     need.fits()          ? "fits"
                     : need.has_entries() ? "does not fit, so that some variables will lie in DRAM"
                                          : "does not fit");
}

std::string estimate_share(uint64_t cycles, uint64_t all) {
  return fmt::format("{:.1f} %", all == 0 ? 0.0 : 100.0 * static_cast<double>(cycles) / static_cast<double>(all));
}

std::string estimate_text(const NetworkInfo& info, bool layers) {
  const Estimate& estimate = info.estimate;
  if (!estimate.why_not.empty()) return fmt::format("{:<11} none: {}\n", "estimate", estimate.why_not);
  const bool room = estimate.room && estimate.room->cycles > estimate.bound.cycles;
  const std::string sum =
      fmt::format("{:<11} {} cycles = {}, played without data; npu run measures it\n", "estimate",
                  grouped(estimate.cycles), report::duration(estimate.microseconds)) +
      fmt::format("{:<11} {}, whatever the schedule\n", "bound", report::bound_text(estimate.bound)) +
      (room ? fmt::format("{:<11} {}\n", "", report::room_text(*estimate.room)) : "");
  if (!layers) return sum;
  std::vector<report::Row> rows;
  for (const compiler::Layer& layer : estimate.layers) {
    report::Row row = report::layer_cells(layer);
    row.insert(row.end(), {graph::to_string(layer.output_shape),
                           layer.macs == 0 ? "-" : report::short_number(static_cast<double>(layer.macs)),
                           std::to_string(layer.tiles), grouped(layer.estimated_cycles),
                           estimate_share(layer.estimated_cycles, estimate.cycles)});
    rows.push_back(std::move(row));
  }
  return sum + "\n" +
         report::render(
             {{"layer", true}, {"operator", true}, {"output", true}, {"MACs"}, {"tiles"}, {"estimate"}, {"share"}},
             rows) +
         "\nestimate: cycles that the layer adds to those of the layers before it; few or 0 where it runs beside "
         "them\n";
}

}  // namespace

std::string to_text(const NetworkInfo& info, bool layers) {
  const workload::Network& network = info.network;
  std::string text = fmt::format("{:<11} {}, {} bytes, TOSA {}\n", "file", network.path.string(),
                                 grouped(network.file_bytes), version_text(network.graph.version));
  text += ports_text("inputs", network.inputs);
  text += ports_text("outputs", network.outputs);
  text += fmt::format("{:<11} {}\n{:<11} {}\n{:<11} {}\n", "profiles", joined(info.needs.profiles), "extensions",
                      joined(info.needs.extensions), "level", info.needs.level);
  for (const std::string& note : info.needs.notes) text += fmt::format("{:<11} {}\n", "note", note);
  text += fmt::format("{:<11} {}\n", "MACs", grouped(static_cast<uint64_t>(info.macs)));
  text += fmt::format("{:<11} {}, {} bytes\n", "constants", info.constants,
                      grouped(static_cast<uint64_t>(info.constant_bytes)));
  if (info.variables.empty()) {
    text += fmt::format("{:<11} none\n", "variables");
  } else {
    text += fmt::format("{:<11} {}, {} bytes\n", "variables", info.variables.size(),
                        grouped(static_cast<uint64_t>(info.variable_bytes)));
  }
  for (const VariableNeed& variable : info.variables) {
    text +=
        fmt::format("{:<11} {}  {}, {} bytes{}{}\n", "", graph::in_quotes(variable.identity),
                    graph::describe_type(variable.type, variable.shape), grouped(static_cast<uint64_t>(variable.bytes)),
                    variable.initialised ? "" : ", no initial value",
                    report::is_extension_type(variable.type) ? ", a type beyond TOSA 1.0 (refused by --strict)" : "");
  }
  if (!info.variables.empty()) text += persistent_text(info);
  text += operators_text(info);
  if (info.refused.empty()) {
    text += fmt::format(
        "\n{} runs {}{}.\n", info.machine,
        info.operator_count == 1 ? "the only operator" : fmt::format("all {} operators", info.operator_count),
        info.persistent.has_entries() ? "" : ", but cannot hold the variables");
    return text + estimate_text(info, layers);
  }
  text += fmt::format("\n{} cannot run {} of {} operators:\n", info.machine, info.refused.size(), info.operator_count);
  return text + refused_text(info.refused);
}

}  // namespace npu::inspect
