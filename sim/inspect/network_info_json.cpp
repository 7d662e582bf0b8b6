// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sim/inspect/network_info.h"
#include "sim/report/json.h"
#include "sim/report/state.h"

namespace npu::inspect {
namespace {

using Json = nlohmann::ordered_json;

Json ports_json(const std::vector<workload::GraphPort>& ports) {
  Json list = Json::array();
  for (const workload::GraphPort& port : ports) {
    list.push_back(
        {{"name", port.name}, {"type", graph::name(port.type)}, {"shape", port.shape}, {"unsigned", port.is_unsigned}});
  }
  return list;
}

}  // namespace

std::string to_json_text(const NetworkInfo& info) {
  Json variables = Json::array(), operators = Json::array(), refused = Json::array();
  for (const VariableNeed& variable : info.variables) {
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
    estimate = {{"cycles", info.estimate.cycles},
                {"microseconds", info.estimate.microseconds},
                {"bound", report::to_json(info.estimate.bound, 1)},
                {"room_bound", report::to_json(info.estimate.room)},
                {"layers", layers}};
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
                         {"estimate_missing", info.estimate.why_not},
                         {"open_sizes", nullptr}};
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace npu::inspect
