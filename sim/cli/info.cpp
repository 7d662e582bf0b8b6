// SPDX-License-Identifier: Apache-2.0
// `npu info`: what a network is, needs and costs, and what a machine supports of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "driver/compiler/compile.h"
#include "driver/compiler/support.h"
#include "driver/graph/analyse.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/options.h"
#include "sim/report/columns.h"
#include "sim/report/state.h"
#include "sim/report/table.h"
#include "sim/tool/say.h"
#include "sim/workload/network.h"

namespace npu::cli {

namespace po = boost::program_options;
using tool::say;

namespace {

using Json = nlohmann::ordered_json;
using report::grouped;

constexpr CommandHelp kInfoHelp = {
    "npu info FILE [options]",
    "Prints inputs, outputs, operators, types, variables, the profiles and extensions that "
    "a network needs, its MACs, and\n"
    "what a machine supports of it, and the compiler's estimate of its cycles.",
    "  npu info net.tosa\n"
    "  npu info net.tosa --config nano --layers\n"
    "  npu info net.tosa --json | jq .macs\n"};

struct VariableRow {
  std::string identity, tensor;
  graph::DType type;
  graph::Shape shape;
  int64_t bytes = 0;
  bool initialised = false;
};

// Operators of one kind with the same types on the same engine.
struct OperatorGroup {
  std::string name, type, engine;
  int64_t count = 0;
};

// What the variables take of the persistent SRAM in a context that has the machine to itself.
struct PersistentNeed {
  uint64_t bytes = 0, available = 0;  // each variable rounded up to the port's width; without the variable table
  uint64_t entries = 0, available_entries = 0;

  [[nodiscard]] bool fits() const { return bytes <= available && has_entries(); }
  [[nodiscard]] bool has_entries() const { return entries <= available_entries; }
};

// What the compiler expects, without any data.
struct Estimate {
  uint64_t cycles = 0;
  double microseconds = 0;
  std::vector<compiler::Layer> layers;
  std::string why_not;  // there is none: the reason, in a sentence
};

struct Info {
  const workload::Network& network;
  std::string machine;
  graph::Needs needs;
  int64_t macs = 0;
  int64_t constants = 0, constant_bytes = 0;
  std::vector<VariableRow> variables;
  int64_t variable_bytes = 0;
  PersistentNeed persistent;
  std::vector<OperatorGroup> operators;
  std::vector<compiler::SupportRow> refused;
  int64_t operator_count = 0;  // without constants
  Estimate estimate;
};

PersistentNeed persistent_need(const std::vector<VariableRow>& variables, const contract::Capabilities& caps) {
  PersistentNeed need;
  const uint64_t step = caps.psram_port_bytes;
  const uint64_t table = uint64_t{caps.var_entries} * contract::VariableEntry::kBytes;
  need.available = caps.psram_bytes > table ? (caps.psram_bytes - table) / step * step : 0;
  need.available_entries = caps.var_entries;
  std::set<std::string> known;  // a variable that is declared twice is one
  for (const VariableRow& variable : variables) {
    if (!known.insert(variable.identity).second) continue;
    ++need.entries;
    need.bytes += (static_cast<uint64_t>(std::max<int64_t>(variable.bytes, 1)) + step - 1) / step * step;
  }
  return need;
}

Estimate estimate(const workload::Network& network, const presets::Preset& preset) {
  Estimate estimate;
  try {
    compiler::Program program = compiler::compile(network.graph, preset.caps);
    estimate.cycles = program.estimated_cycles;
    estimate.microseconds = static_cast<double>(program.estimated_cycles) / preset.caps.clock_mhz;
    estimate.layers = std::move(program.layers);
  } catch (const Error& error) {
    estimate.why_not = error.what();
  }
  return estimate;
}

Info collect(const workload::Network& network, const presets::Preset& preset) {
  Info info{network, preset.name, graph::analyse(network.graph), graph::macs(network.graph), 0, 0, {}, 0, {}, {}, {},
            0,       {}};
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

std::string version_text(const graph::Version& version) {
  return fmt::format("{}.{}.{}{}", version.major, version.minor, version.patch, version.draft ? " draft" : "");
}

template <typename List>
std::string joined(const List& list) {
  return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

void print_ports(std::string_view title, const std::vector<workload::GraphPort>& ports) {
  for (size_t i = 0; i < ports.size(); ++i) {
    say("{:<11} {}  {}{}\n", i == 0 ? title : "", graph::in_quotes(ports[i].name),
        graph::describe_type(ports[i].type, ports[i].shape), ports[i].is_unsigned ? "  (unsigned)" : "");
  }
  if (ports.empty()) say("{:<11} none\n", title);
}

void print_operators(const Info& info) {
  size_t name_width = 4, type_width = 5;
  for (const OperatorGroup& group : info.operators) {
    name_width = std::max(name_width, group.name.size());
    type_width = std::max(type_width, group.type.size());
  }
  say("\n{:>5}  {:<{}}  {:<{}}  on {}\n", "count", "operator", name_width, "types", type_width, info.machine);
  for (const OperatorGroup& group : info.operators) {
    say("{:>5}  {:<{}}  {:<{}}  {}\n", group.count, group.name, std::max<size_t>(name_width, 8), group.type, type_width,
        group.engine);
  }
}

// What is refused for the same reason shares an entry.
void print_refused(const std::vector<compiler::SupportRow>& refused) {
  constexpr size_t kShown = 8;
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<size_t>>> entries;
  for (const compiler::SupportRow& row : refused) {
    entries[{row.reason, row.way_out}][fmt::format("{} ({})", row.name, row.type)].push_back(row.index);
  }
  for (const auto& [why, operators] : entries) {
    say("  {}\n", why.first);
    for (const auto& [name, places] : operators) {
      const size_t shown = std::min(places.size(), kShown);
      say("      {} at {}{}\n", name, fmt::join(places.begin(), places.begin() + static_cast<ptrdiff_t>(shown), ", "),
          shown < places.size() ? fmt::format(" and {} more", places.size() - shown) : "");
    }
    if (!why.second.empty()) say("      way out: {}\n", why.second);
  }
}

void print_persistent(const Info& info) {
  const PersistentNeed& need = info.persistent;
  say("{:<11} on {}: {} of {} bytes of persistent SRAM, {} of {} table entries: {}\n", "state", info.machine,
      grouped(need.bytes), grouped(need.available), grouped(need.entries), grouped(need.available_entries),
      need.fits()          ? "fits"
      : need.has_entries() ? "does not fit, so that some variables will lie in DRAM"
                           : "does not fit");
}

std::string estimate_share(uint64_t cycles, uint64_t all) {
  return fmt::format("{:.1f} %", all == 0 ? 0.0 : 100.0 * static_cast<double>(cycles) / static_cast<double>(all));
}

void print_estimate(const Info& info, bool layers) {
  const Estimate& estimate = info.estimate;
  if (!estimate.why_not.empty()) {
    say("{:<11} none: {}\n", "estimate", estimate.why_not);
    return;
  }
  say("{:<11} {} cycles = {}, by formulas and without waiting for memory on the chip; npu run measures it\n",
      "estimate", grouped(estimate.cycles), report::duration(estimate.microseconds));
  if (!layers) return;
  std::vector<report::Row> rows;
  for (const compiler::Layer& layer : estimate.layers) {
    report::Row row = report::layer_cells(layer);
    row.insert(row.end(), {graph::to_string(layer.output_shape),
                           layer.macs == 0 ? "-" : report::short_number(static_cast<double>(layer.macs)),
                           std::to_string(layer.tiles), grouped(layer.estimated_cycles),
                           estimate_share(layer.estimated_cycles, estimate.cycles)});
    rows.push_back(std::move(row));
  }
  say("\n{}",
      report::render(
          {{"layer", true}, {"operator", true}, {"output", true}, {"MACs"}, {"tiles"}, {"estimate"}, {"share"}}, rows));
  say("\nestimate: cycles that the layer adds to those of the layers before it; few or 0 where it runs beside them\n");
}

void print_text(const Info& info, bool layers) {
  const workload::Network& network = info.network;
  say("{:<11} {}, {} bytes, TOSA {}\n", "file", network.path.string(), grouped(network.file_bytes),
      version_text(network.graph.version));
  print_ports("inputs", network.inputs);
  print_ports("outputs", network.outputs);
  say("{:<11} {}\n{:<11} {}\n{:<11} {}\n", "profiles", joined(info.needs.profiles), "extensions",
      joined(info.needs.extensions), "level", info.needs.level);
  for (const std::string& note : info.needs.notes) say("{:<11} {}\n", "note", note);
  say("{:<11} {}\n", "MACs", grouped(static_cast<uint64_t>(info.macs)));
  say("{:<11} {}, {} bytes\n", "constants", info.constants, grouped(static_cast<uint64_t>(info.constant_bytes)));
  if (info.variables.empty()) {
    say("{:<11} none\n", "variables");
  } else {
    say("{:<11} {}, {} bytes\n", "variables", info.variables.size(),
        grouped(static_cast<uint64_t>(info.variable_bytes)));
  }
  for (const VariableRow& variable : info.variables) {
    say("{:<11} {}  {}, {} bytes{}{}\n", "", graph::in_quotes(variable.identity),
        graph::describe_type(variable.type, variable.shape), grouped(static_cast<uint64_t>(variable.bytes)),
        variable.initialised ? "" : ", no initial value",
        report::is_extension_type(variable.type) ? ", a type beyond TOSA 1.0 (refused by --strict)" : "");
  }
  if (!info.variables.empty()) print_persistent(info);
  print_operators(info);
  if (info.refused.empty()) {
    say("\n{} runs {}{}.\n", info.machine,
        info.operator_count == 1 ? "the only operator" : fmt::format("all {} operators", info.operator_count),
        info.persistent.has_entries() ? "" : ", but cannot hold the variables");
    print_estimate(info, layers);
    return;
  }
  say("\n{} cannot run {} of {} operators:\n", info.machine, info.refused.size(), info.operator_count);
  print_refused(info.refused);
}

Json ports_json(const std::vector<workload::GraphPort>& ports) {
  Json list = Json::array();
  for (const workload::GraphPort& port : ports) {
    list.push_back(
        {{"name", port.name}, {"type", graph::name(port.type)}, {"shape", port.shape}, {"unsigned", port.is_unsigned}});
  }
  return list;
}

void print_json(const Info& info) {
  Json variables = Json::array(), operators = Json::array(), refused = Json::array();
  for (const VariableRow& variable : info.variables) {
    variables.push_back({{"identity", variable.identity},
                         {"tensor", variable.tensor},
                         {"type", graph::name(variable.type)},
                         {"shape", variable.shape},
                         {"bytes", variable.bytes},
                         {"extension_type", report::is_extension_type(variable.type)},
                         {"initialised", variable.initialised}});
  }
  for (const OperatorGroup& group : info.operators) {
    operators.push_back(
        {{"name", group.name}, {"types", group.type}, {"engine", group.engine}, {"count", group.count}});
  }
  for (const compiler::SupportRow& row : info.refused) {
    refused.push_back({{"index", row.index},
                       {"name", row.name},
                       {"types", row.type},
                       {"reason", row.reason},
                       {"way_out", row.way_out}});
  }
  const workload::Network& network = info.network;
  const PersistentNeed& need = info.persistent;
  Json estimate;
  if (info.estimate.why_not.empty()) {
    Json layers = Json::array();
    for (const compiler::Layer& layer : info.estimate.layers) {
      layers.push_back({{"name", layer.name},
                        {"operator", layer.kind},
                        {"input_shape", layer.input_shape},
                        {"output_shape", layer.output_shape},
                        {"macs", layer.macs},
                        {"tiles", layer.tiles},
                        {"cycles", layer.estimated_cycles}});
    }
    estimate = {{"cycles", info.estimate.cycles}, {"microseconds", info.estimate.microseconds}, {"layers", layers}};
  }
  const Json document = {{"schema", "npu-info"},
                         {"schema_version", 1},
                         {"file", network.path.string()},
                         {"sha256", workload::sha256_of(network)},
                         {"file_bytes", network.file_bytes},
                         {"tosa_version", version_text(network.graph.version)},
                         {"inputs", ports_json(network.inputs)},
                         {"outputs", ports_json(network.outputs)},
                         {"profiles", info.needs.profiles},
                         {"extensions", info.needs.extensions},
                         {"level", info.needs.level},
                         {"notes", info.needs.notes},
                         {"macs", info.macs},
                         {"constants", info.constants},
                         {"constant_bytes", info.constant_bytes},
                         {"variables", variables},
                         {"variable_bytes", info.variable_bytes},
                         {"persistent",
                          {{"needed_bytes", need.bytes},
                           {"available_bytes", need.available},
                           {"needed_entries", need.entries},
                           {"available_entries", need.available_entries},
                           {"fits", need.fits()},
                           {"spills", !need.fits() && need.has_entries()}}},
                         {"operator_count", info.operator_count},
                         {"operators", operators},
                         {"machine", info.machine},
                         {"supported", info.refused.empty()},
                         {"unsupported", refused},
                         {"estimate", estimate},
                         {"estimate_missing", info.estimate.why_not}};
  say("{}\n", document.dump(2, ' ', true, Json::error_handler_t::replace));
}

}  // namespace

int run_info(const Arguments& arguments) {
  po::options_description options, hidden;
  options.add_options()  //
      ("config,c", po::value<std::string>()->default_value("edge")->value_name("NAME|FILE"),
       config_help().c_str())                                                            //
      ("layers", po::bool_switch(), "print the compiler's estimate of each layer, too")  //
      ("json", po::bool_switch(), "print JSON, with the estimate of each layer");
  hidden.add_options()("file", po::value<std::string>());
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse(arguments, kInfoHelp, options, hidden, positional);
  if (!values) return 0;
  const std::string file = required(*values, "file", "the network's FILE");
  const presets::Preset preset = presets::load_preset((*values)["config"].as<std::string>());
  const workload::Network network = workload::load_network(file);
  const Info info = collect(network, preset);
  if ((*values)["json"].as<bool>()) {
    print_json(info);
  } else {
    print_text(info, (*values)["layers"].as<bool>());
  }
  return 0;
}

}  // namespace npu::cli
