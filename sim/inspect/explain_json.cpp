// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sim/inspect/explain.h"
#include "sim/report/report.h"

namespace npu::inspect {
namespace {

using compiler::Explanation;
using Json = nlohmann::ordered_json;

Json bytes_json(const MovedBytes& bytes) {
  return {{"constants", bytes.constants},
          {"dram_read", bytes.dram_read},
          {"dram_written", bytes.dram_written},
          {"persistent_read", bytes.persistent_read},
          {"persistent_written", bytes.persistent_written},
          {"on_chip", bytes.on_chip}};
}

template <typename Key, size_t kCount>
Json cycles_json(const std::array<uint64_t, kCount>& cycles) {
  Json out = Json::object();
  for (size_t i = 0; i < kCount; ++i) out[std::string(report::name(static_cast<Key>(i)))] = cycles[i];
  return out;
}

Json optional_json(const std::optional<uint32_t>& value) { return value ? Json(*value) : Json(); }

Json tiling_json(const Explanation::Step& step) {
  if (step.axes.empty()) return {};
  Json axes = Json::array();
  for (const Explanation::Axis& axis : step.axes) {
    axes.push_back({{"name", axis.name}, {"extent", axis.extent}, {"tile", axis.tile}, {"tiles", axis.tiles()}});
  }
  return {{"tiles", step.tiles},
          {"axes", axes},
          {"cut", name(step.cut)},
          {"whole_bytes", step.whole_bytes},
          {"room_bytes", step.room}};
}

Json operands_json(const Explanation::Step& step) {
  Json list = Json::array();
  for (const Explanation::Operand& operand : step.operands) {
    list.push_back({{"name", operand.name},
                    {"role", name(operand.role)},
                    {"home", name(operand.home)},
                    {"bytes", operand.bytes},
                    {"tile_buffer", operand.tile_buffer < 0 ? Json() : Json(operand.tile_buffer)}});
  }
  return list;
}

Json tile_buffers_json(const Explanation::Step& step) {
  Json list = Json::array();
  for (const Explanation::TileBuffer& buffer : step.tile_buffers) {
    list.push_back({{"role", name(buffer.role)},
                    {"dram", buffer.dram},
                    {"slot_bytes", buffer.slot_bytes},
                    {"slots", buffer.slots},
                    {"transfers", buffer.moves},
                    {"loaded_with", optional_json(buffer.loaded_with)},
                    {"loaded_before", optional_json(buffer.loaded_before)}});
  }
  return list;
}

Json constants_json(const ConstantsLoad& load) {
  if (load.transfers == 0) return {};
  Json under = Json::array();
  for (const auto& [step, cycles] : load.under) under.push_back({{"step", step}, {"cycles", cycles}});
  return {{"bytes", load.bytes},   {"transfers", load.transfers},    {"begin", load.begin}, {"end", load.end},
          {"cycles", load.cycles}, {"exposed_cycles", load.exposed}, {"under", under}};
}

Json step_json(const Explained& explained, const ExplainedStep& step) {
  Json layers = Json::array();
  for (const uint32_t layer : step.facts.layers) {
    layers.push_back(
        {{"name", explained.program.layers[layer].name}, {"operators", explained.program.layers[layer].operators}});
  }
  const uint64_t cycles = step.charge.cycles();
  return {{"step", step.facts.index},
          {"layers", layers},
          {"engine", step.facts.engine ? contract::name(*step.facts.engine) : compiler::kSequencer},
          {"tiling", tiling_json(step.facts)},
          {"operands", operands_json(step.facts)},
          {"tile_buffers", tile_buffers_json(step.facts)},
          {"commands", step.commands},
          {"begin", step.begin},
          {"end", step.end},
          {"bytes", bytes_json(step.bytes)},
          {"constants", constants_json(step.constants)},
          {"cycles", cycles},
          {"limited_by", cycles == 0 ? "" : report::limit_text(step.charge, " of other steps")},
          {"limits", cycles_json<report::Resource>(step.charge.limits)},
          {"cycles_by_cause", cycles_json<report::Cause>(step.charge.causes)}};
}

Json schedule_json(const Explained& explained) {
  Json list = Json::array();
  for (const ScheduledCommand& command : explained.commands) {
    list.push_back({{"command", command.command},
                    {"step", command.step},
                    {"layer", explained.program.layers[command.layer].name},
                    {"queue", contract::name(command.queue)},
                    {"opcode", contract::name(command.opcode)},
                    {"part", name(command.part)},
                    {"issued", command.issued},
                    {"started", command.started},
                    {"done", command.done},
                    {"bytes", bytes_json(command.bytes)},
                    {"waits", command.awaits}});
  }
  return list;
}

Json memory_json(const Explained& explained) {
  const Explanation& facts = explained.facts;
  Json places = Json::array(), steps = Json::array(), denied = Json::array();
  for (const Explanation::Place& place : facts.places) {
    places.push_back({{"name", place.name},
                      {"step", optional_json(place.step)},
                      {"tile_buffer", place.step ? Json(place.tile_buffer) : Json()},
                      {"slot", place.step ? Json(place.slot) : Json()},
                      {"joined", place.joined},
                      {"role", place.step ? Json(name(place.role)) : Json()},
                      {"address", place.address},
                      {"bytes", place.bytes},
                      {"first_step", place.first / facts.ticks},
                      {"last_step", place.last / facts.ticks},
                      {"first_tick", place.first},
                      {"last_tick", place.last}});
  }
  for (const StepMemory& step : explained.memory.steps) {
    steps.push_back({{"step", step.step},
                     {"used_bytes", step.used},
                     {"free_bytes", step.free},
                     {"largest_piece_bytes", step.largest_piece},
                     {"denied_bytes", step.denied},
                     {"lost_bytes", step.fragmented()}});
  }
  for (const Explanation::Denied& one : facts.denied) {
    denied.push_back({{"first_step", one.first},
                      {"last_step", one.last},
                      {"bytes", one.bytes},
                      {"lost_bytes", one.lost},
                      {"buffer", one.buffer},
                      {"asked", name(one.asked)}});
  }
  const MemoryLine& memory = explained.memory;
  return {{"scratchpad_bytes", memory.size},
          {"resident_bytes", explained.program.resident_bytes},
          {"peak_bytes", memory.peak},
          {"live_peak_bytes", memory.live_peak},
          {"lost_share", memory.lost()},
          {"lost_share_goal", kMostLost},
          {"ticks_per_step", facts.ticks},
          {"steps", steps},
          {"places", places},
          {"denied", denied}};
}

}  // namespace

std::string to_json_text(const Explained& explained) {
  Json steps = Json::array();
  for (const ExplainedStep& step : explained.steps) steps.push_back(step_json(explained, step));
  const Json document = {{"schema", "npu-explain"},
                         {"schema_version", 1},
                         {"file", explained.file},
                         {"machine", explained.machine.name},
                         {"commands", explained.program.command_count},
                         {"estimated_cycles", explained.program.estimated_cycles},
                         {"steps", steps},
                         {"schedule", schedule_json(explained)},
                         {"memory", memory_json(explained)}};
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace npu::inspect
