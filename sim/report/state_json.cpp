// SPDX-License-Identifier: Apache-2.0
#include "sim/report/state_json.h"

namespace npu::report {
namespace {

using Json = nlohmann::ordered_json;

Json bytes_json(const Report& report, const StateBytes& bytes) {
  return {{"on_chip_sram",
           {{"read_bytes", report.per_invocation(bytes.sram_read)},
            {"written_bytes", report.per_invocation(bytes.sram_written)}}},
          {"dram",
           {{"read_bytes", report.per_invocation(bytes.dram_read)},
            {"written_bytes", report.per_invocation(bytes.dram_written)}}}};
}

Json users_json(const Report& report, const VariableTraffic& traffic, VariableUse use) {
  Json list = Json::array();
  for (const VariableUser& user : traffic.users) {
    if (user.use != use) continue;
    list.push_back({{"layer", report.layer_name(user.layer)}, {"commands", report.per_invocation(user.commands)}});
  }
  return list;
}

Json variable_json(const Report& report, const VariableRow& row) {
  const runtime::VariableInfo& info = row.info;
  return {{"identity", info.identity},
          {"tensor", info.tensor_name},
          {"type", graph::name(info.type)},
          {"extension_type", is_extension_type(info.type)},
          {"shape", info.shape},
          {"largest_shape", info.largest.empty() ? Json() : Json(info.largest)},
          {"bytes", info.bytes},
          {"room_bytes", info.room},
          {"place", place(info)},
          {"place_reason", place_reason(report, info)},
          {"offset", info.offset},
          {"double_buffered", info.double_buffered},
          {"is_written", info.is_written},
          {"torn", info.torn},
          {"last_writer", info.last_writer},
          {"invocations", info.invocations},
          {"traffic", bytes_json(report, row.traffic.bytes)},
          {"command_cycles", report.per_invocation(row.traffic.cycles)},
          {"readers", users_json(report, row.traffic, VariableUse::kRead)},
          {"writers", users_json(report, row.traffic, VariableUse::kWrite)}};
}

Json use_json(const Report& report, const StateUse& use) {
  return {{"variable", report.state_names[use.variable]},
          {"use", name(use.use)},
          {"layer", report.layer_name(use.layer)},
          {"start", use.start},
          {"end", use.end},
          {"commands", use.commands}};
}

}  // namespace

Json state_json(const Report& report) {
  Json variables = Json::array();
  uint64_t bytes = 0, in_dram = 0;
  for (const VariableRow& row : report.variables) {
    variables.push_back(variable_json(report, row));
    bytes += row.info.room;
    if (row.info.in_dram) in_dram += row.info.room;
  }
  return {{"bytes", bytes},
          {"dram_bytes", in_dram},
          {"capacity_bytes", report.memory.persistent_bytes},
          {"cycles", report.per_invocation(report.charged_to_state())},
          {"command_cycles", report.per_invocation(report.state_cycles)},
          {"traffic", bytes_json(report, report.state_bytes())},
          {"variables", variables}};
}

Json timeline_json(const Report& report) {
  Json ranges = Json::array();
  for (const TimelineRange& range : report.timeline) {
    Json uses = Json::array();
    for (const StateUse& use : range.uses) uses.push_back(use_json(report, use));
    ranges.push_back({{"from", range.first}, {"to", range.last}, {"count", range.count()}, {"uses", uses}});
  }
  return {{"ranges", ranges}, {"left_out", report.timeline_left_out}};
}

}  // namespace npu::report
