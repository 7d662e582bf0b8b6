// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/report/roofline.h"
#include "sim/report/state_json.h"

namespace npu::report {
namespace {

using contract::Counter;
using contract::Queue;
using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

double per_invocation(const Report& report, uint64_t sum) { return report.per_invocation(sum); }

Json ports(const std::vector<compiler::Port>& list) {
  Json result = Json::array();
  for (const compiler::Port& port : list) {
    result.push_back({{"name", port.name}, {"type", graph::name(port.type)}, {"shape", port.shape}});
  }
  return result;
}

// With the keys that a machine's file has.
Json memory(const presets::Dram& dram) {
  Json json = {{"name", dram.name}};
  for (const auto& [key, value] : presets::keys_of(dram)) json[std::string(key)] = value;
  return json;
}

Json machine(const presets::Preset& preset) {
  Json capabilities = Json::object();
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    capabilities[std::string(info.name)] = preset.caps.*info.member;
  }
  return {{"name", preset.name},
          {"sha256", hash_machine(preset)},
          {"capabilities", capabilities},
          {"dram", memory(preset.dram)}};
}

Json promoted(const RunInfo& info) {
  Json result = Json::array();
  for (const PromotedOperator& one : info.promoted) {
    result.push_back({{"operator", one.op}, {"result", one.result}, {"from", one.from}});
  }
  return result;
}

Json run(const Report& report) {
  Json jitter;
  if (report.info.jitter_seed) jitter = {{"seed", *report.info.jitter_seed}, {"max_cycles", report.info.jitter_max}};
  Json image;
  if (!report.info.firmware.empty()) image = report.info.firmware;
  Json random;
  if (report.info.random_inputs) random = *report.info.random_inputs;
  return {{"mode", report.info.mode},
          {"firmware", image},
          {"invocations", report.invocations},
          {"jitter", jitter},
          {"promoted", promoted(report.info)},
          {"injected_faults", report.info.injected},
          {"random_inputs", random},
          {"calibration", calibration_text(report)},
          {"tiles", report.tiles},
          {"tiles_waited", report.tiles_waited},
          {"waited_cycles", report.waited_cycles},
          {"events_lost", report.events_lost}};
}

Json calibration(const RunInfo& info) {
  Json result = Json::array();
  for (const Calibration& one : kCalibration) {
    result.push_back({{"part", one.part}, {"worth", one.worth.empty() ? exact_on_rtl(info) : std::string(one.worth)}});
  }
  return result;
}

// Cycles of an invocation by resource.
Json by_resource(const Report& report, const ResourceCycles& cycles) {
  Json result = Json::object();
  for (size_t i = 0; i < kResourceCount; ++i) {
    result[std::string(name(static_cast<Resource>(i)))] = per_invocation(report, cycles[i]);
  }
  return result;
}

// The same of what works or is bounded by work, which latency and command issue are not.
Json by_unit(const Report& report, const ResourceCycles& cycles) {
  Json result = by_resource(report, cycles);
  result.erase(std::string(name(Resource::kLatency)));
  result.erase(std::string(name(Resource::kCommandIssue)));
  return result;
}

Json by_cause(const Report& report, const CauseCycles& cycles) {
  Json result = Json::object();
  for (size_t i = 0; i < kCauseCount; ++i) {
    result[std::string(name(static_cast<Cause>(i)))] = per_invocation(report, cycles[i]);
  }
  return result;
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<EngineRun>& engines, const RunInfo& info) {
  Json result = Json::array();
  for (const EngineRun& run : engines) {
    Json cycles;
    if (run.cycles_compared > 0) {
      cycles = {{"tiles", run.cycles_compared},
                {"exact", run.cycles_exact},
                {"mean_absolute", run.cycles_mean_absolute},
                {"worst", run.cycles_worst},
                {"same_requests", run.same_requests}};
    }
    result.push_back({{"engine", contract::name(run.engine)},
                      {"back_end", run.back_end},
                      {"calibration", exact_on_rtl(info)},
                      {"layers", run.layers},
                      {"tiles", run.tiles},
                      {"rtl_tiles", run.rtl_tiles},
                      {"elements_compared", run.elements_compared},
                      {"cycle_differences", cycles}});
  }
  return result;
}

nlohmann::ordered_json to_json(const PersistentRun& run) {
  Json cycles;
  if (run.cycles_compared > 0) {
    cycles = {{"operations", run.cycles_compared},
              {"exact", run.cycles_exact},
              {"mean_absolute", run.cycles_mean_absolute},
              {"worst", run.cycles_worst}};
  }
  return {{"back_end", run.back_end},
          {"operations", run.operations},
          {"accesses", run.accesses},
          {"compared", run.compared},
          {"cycle_differences", cycles}};
}

nlohmann::ordered_json to_json(const Bound& sum, uint64_t invocations) {
  const auto mean = [&](uint64_t one) {
    return static_cast<double>(one) / static_cast<double>(std::max<uint64_t>(invocations, 1));
  };
  return {{"cycles", mean(sum.cycles)},
          {"resource", name(sum.resource())},
          {"mxu", mean(sum.array)},
          {"dram", mean(sum.dram)},
          {"dram_bytes", mean(sum.dram_bytes)}};
}

nlohmann::ordered_json to_json(const std::optional<RoomBound>& room) {
  if (!room) return nullptr;
  return {{"cycles", room->cycles},
          {"tensor", room->tensor},
          {"weight_bytes", room->weight_bytes},
          {"chip_bytes", room->chip_bytes}};
}

namespace {

Json roofline_json(const std::optional<Roofline>& line) {
  if (!line) return nullptr;
  const auto known = [](double rate) { return rate > 0 ? Json(rate) : Json(); };
  return {{"intensity", known(line->intensity)},
          {"attainable", line->attainable},
          {"attained", known(line->attained)},
          {"roof", name(line->roof)}};
}

Json formats(const Report& report) {
  Json result = Json::array();
  for (const FormatWork& one : report.formats()) {
    result.push_back({{"format", one.format},
                      {"macs", per_invocation(report, one.macs)},
                      {"mxu_busy_cycles", per_invocation(report, one.mxu_busy)}});
  }
  return result;
}

Json total(const Report& report) {
  const double mean = per_invocation(report, report.cycles);
  const Charge charge = report.charge();
  return {{"cycles", mean},
          {"cycles_min", report.cycles_min},
          {"cycles_max", report.cycles_max},
          {"cycles_sum", report.cycles},
          {"microseconds", report.microseconds(mean)},
          {"limits", by_resource(report, charge.limits)},
          {"cycles_by_cause", by_cause(report, charge.causes)},
          {"busy", by_unit(report, charge.busy)},
          {"lower_bounds", by_unit(report, report.bounds())},
          {"bound", to_json(report.bound, report.invocations)},
          {"room_bound", to_json(report.info.room)},
          {"macs", per_invocation(report, report.macs_of_all())},
          {"utilisation", or_null(report.utilisation(report.macs_of_all(), report.cycles))},
          {"formats", formats(report)},
          {"roofline", roofline_json(roofline_of(report))},
          {"dram_read_bytes", per_invocation(report, report.counters.total(Counter::kDramRead))},
          {"dram_written_bytes", per_invocation(report, report.counters.total(Counter::kDramWritten))},
          {"command_fetch_bytes", per_invocation(report, report.counters.get(Queue::kSequencer, Counter::kDramRead))},
          {"persistent_read_bytes", per_invocation(report, report.counters.total(Counter::kPsramRead))},
          {"persistent_written_bytes", per_invocation(report, report.counters.total(Counter::kPsramWritten))}};
}

Json firmware(const Report& report) {
  if (!report.firmware) return nullptr;
  const FirmwareCost& cost = *report.firmware;
  const double cycles = per_invocation(report, cost.cycles);
  return {{"cycles", cycles},
          {"cycles_sum", cost.cycles},
          {"microseconds", report.cpu_microseconds(cycles)},
          {"device_cycles", per_invocation(report, cost.device_cycles)},
          {"device_cycles_min", cost.device_cycles_min},
          {"device_cycles_max", cost.device_cycles_max},
          {"engine_cycles", per_invocation(report, cost.engine_cycles)},
          {"outside_engines", cost.outside_engines()},
          {"preemptions", cost.preemptions},
          {"blocked_cycles", per_invocation(report, cost.blocked)},
          {"save_cycles", per_invocation(report, cost.save_cycles)},
          {"saved_bytes", per_invocation(report, cost.saved_bytes)}};
}

Json resident_constants(const Report& report) {
  if (report.resident_bytes == 0) return nullptr;
  return {{"bytes", report.resident_bytes}, {"loads", report.loads}, {"load_cycles", report.load_cycles}};
}

Json layer(const Report& report, const LayerRow& row) {
  const double share = report.cycles == 0 ? 0 : static_cast<double>(row.cycles) / static_cast<double>(report.cycles);
  return {{"name", row.layer.name},
          {"operator", row.layer.kind},
          {"operators", row.layer.operators},
          {"position", row.layer.position},
          {"engine", compiler::runs_on(row.layer)},
          {"location", row.layer.location},
          {"output", row.layer.output},
          {"input_shape", row.layer.input_shape},
          {"output_shape", row.layer.output_shape},
          {"kernel", row.layer.kernel},
          {"stride", row.layer.stride},
          {"dilation", row.layer.dilation},
          {"tiles", row.layer.tiles},
          {"tile", row.tile},
          {"commands", per_invocation(report, row.commands)},
          {"cycles", per_invocation(report, row.cycles)},
          {"share", share},
          {"macs", per_invocation(report, row.macs)},
          {"format", row.format.empty() ? Json() : Json(row.format)},
          {"utilisation", or_null(report.utilisation(row.macs, row.cycles))},
          {"roofline", roofline_json(roofline_of(report, row))},
          {"dram_read_bytes", per_invocation(report, row.dram_read)},
          {"dram_written_bytes", per_invocation(report, row.dram_written)},
          {"persistent_read_bytes", per_invocation(report, row.persistent_read)},
          {"persistent_written_bytes", per_invocation(report, row.persistent_written)},
          {"mxu_busy_cycles", per_invocation(report, row.mxu_busy)},
          {"vpu_busy_cycles", per_invocation(report, row.vpu_busy)},
          {"dma_busy_cycles", per_invocation(report, row.dma_busy)},
          {"limits", by_resource(report, row.charge.limits)},
          {"cycles_by_cause", by_cause(report, row.charge.causes)},
          {"cycles_by_cause_of_other_layers", by_cause(report, row.charge.others)},
          {"busy", by_unit(report, row.charge.busy)},
          {"lower_bounds", by_unit(report, row.bounds)},
          {"estimated_cycles", row.layer.estimated_cycles},
          {"limited_by", limited_by(report, row)}};
}

Json loops(const Report& report) {
  Json result = Json::array();
  for (const LoopRow& loop : report.loops) {
    Json layers = Json::array();
    for (const uint32_t layer : loop.layers) layers.push_back(report.layer_name(layer));
    const uint64_t cycles = cycles_of(report, loop);
    const double share = report.cycles == 0 ? 0 : static_cast<double>(cycles) / static_cast<double>(report.cycles);
    result.push_back({{"name", report.layer_name(loop.layer)},
                      {"iterations", per_invocation(report, loop.iterations)},
                      {"complete", report.events_lost == 0},
                      {"cycles", per_invocation(report, cycles)},
                      {"share", share},
                      {"layers", layers}});
  }
  return result;
}

Json queues(const Report& report) {
  Json result = Json::array();
  const auto add = [&](Queue queue) {
    Json counters = {{"queue", contract::name(queue)}};
    for (uint32_t i = 0; i < contract::kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      counters[std::string(contract::name(counter))] = report.counters.get(queue, counter);
    }
    result.push_back(counters);
  };
  for (uint32_t i = 0; i < report.info.machine.caps.dma_channels; ++i) add(contract::dma_queue(i));
  add(Queue::kMxu);
  add(Queue::kVpu);
  add(Queue::kSequencer);
  return result;
}

Json check(const Report& report) {
  if (!report.check) return nullptr;
  Json first;
  if (!report.check->first.empty()) first = report.check->first;
  return {{"against", "reference"},
          {"compared", report.check->compared},
          {"differing", report.check->differing},
          {"floats", report.check->floats},
          {"rounded", report.check->rounded},
          {"nans", report.check->nans},
          {"worst_units", report.check->worst},
          {"first", first}};
}

}  // namespace

std::string to_json(const Report& report) {
  Json layers = Json::array();
  for (const LayerRow& row : report.layers) layers.push_back(layer(report, row));
  const Json document = {
      {"schema", "npu-report"},
      {"schema_version", kJsonSchemaVersion},
      {"tool",
       {{"name", "npu"},
        {"version", report.info.tool_version},
        {"contract", fmt::format("{}.{}", contract::kContractMajor, contract::kContractMinor)}}},
      {"network",
       {{"file", report.info.file},
        {"sha256", report.info.file_sha256},
        {"inputs", ports(report.inputs)},
        {"outputs", ports(report.outputs)}}},
      {"machine", machine(report.info.machine)},
      {"program",
       {{"sha256", report.info.program_sha256},
        {"commands", report.command_count},
        {"estimated_cycles", report.estimated_cycles},
        {"constants_bytes", report.constants_bytes},
        {"workspace_bytes", report.workspace_bytes},
        {"input_bytes", report.input_bytes},
        {"output_bytes", report.output_bytes},
        {"scratchpad_peak_bytes", report.scratchpad_peak_bytes}}},
      {"run", run(report)},
      {"calibration", calibration(report.info)},
      {"engines", to_json(report.engines, report.info)},
      {"persistent_sram", to_json(report.persistent_sram)},
      {"total", total(report)},
      {"firmware", firmware(report)},
      {"resident_constants", resident_constants(report)},
      {"layers", layers},
      {"loops", loops(report)},
      {"queues", queues(report)},
      {"state", state_json(report)},
      {"state_timeline", timeline_json(report)},
      {"check", check(report)},
  };
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace npu::report
