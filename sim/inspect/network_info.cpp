// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/network_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "driver/compiler/compile.h"
#include "driver/graph/operators.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"

namespace npu::inspect {
namespace {

PersistentNeed persistent_need(const std::vector<VariableNeed>& variables, const contract::Capabilities& caps) {
  PersistentNeed need;
  const uint64_t step = caps.psram_port_bytes;
  const uint64_t table = uint64_t{caps.var_entries} * contract::VariableEntry::kBytes;
  need.available = caps.psram_bytes > table ? (caps.psram_bytes - table) / step * step : 0;
  need.available_entries = caps.var_entries;
  std::set<std::string> known;  // a variable that is declared twice is one
  for (const VariableNeed& variable : variables) {
    if (!known.insert(variable.identity).second) continue;
    ++need.entries;
    need.bytes += (static_cast<uint64_t>(std::max<int64_t>(variable.bytes, 1)) + step - 1) / step * step;
  }
  return need;
}

Estimate estimate(const workload::Network& network, const presets::Preset& preset) {
  Estimate estimate;
  try {
    compiler::Options options;
    options.schedule.dram = preset.dram;
    compiler::Program program = compiler::compile(network.graph, preset.caps, options);
    estimate.cycles = program.estimated_cycles;
    estimate.microseconds = static_cast<double>(program.estimated_cycles) / preset.caps.clock_mhz;
    estimate.bound = report::BoundFinder(program, preset).of_any_job();
    estimate.room = report::room_bound(network.graph, preset);
    estimate.layers = std::move(program.layers);
  } catch (const Error& error) {
    estimate.why_not = error.what();
  }
  return estimate;
}

}  // namespace

std::string version_text(const graph::Version& version) {
  return fmt::format("{}.{}.{}{}", version.major, version.minor, version.patch, version.draft ? " draft" : "");
}

NetworkInfo inspect_network(const workload::Network& network, const presets::Preset& preset) {
  NetworkInfo info{
      network, preset.name, graph::analyse(network.graph), graph::macs(network.graph), 0, 0, {}, 0, {}, {}, {}, 0, {}};
  if (network.declared) info.needs.extensions.emplace(graph::feature_name(graph::kExtShape));
  for (const graph::Tensor& tensor : network.graph.main().tensors) {
    if (tensor.variable) {
      const int64_t bytes = graph::element_count(tensor.shape).value_or(0) * graph::machine_width(tensor.type);
      info.variables.push_back(
          {graph::variable_identity(tensor), tensor.name, tensor.type, tensor.shape, bytes, tensor.has_data});
      info.variable_bytes += bytes;
    } else if (tensor.has_data && tensor.type != graph::DType::kShape) {
      ++info.constants;
      info.constant_bytes += static_cast<int64_t>(tensor.data.size());
    }
  }
  info.persistent = persistent_need(info.variables, preset.caps);
  std::map<std::tuple<std::string, std::string, std::string>, size_t> groups;
  for (compiler::SupportRow& row : compiler::support(network.graph, preset.caps)) {
    ++info.operator_count;
    const std::string engine = row.ok ? row.engine : "not supported";
    const auto [group, fresh] = groups.try_emplace({row.name, row.type, engine}, info.operators.size());
    if (fresh) info.operators.push_back({row.name, row.type, engine, 0});
    ++info.operators[group->second].count;
    if (!row.ok) info.refused.push_back(std::move(row));
  }
  if (info.refused.empty()) {
    info.estimate = estimate(network, preset);
  } else {
    info.estimate.why_not = fmt::format("{} cannot run all operators", preset.name);
  }
  return info;
}

}  // namespace npu::inspect
