// SPDX-License-Identifier: Apache-2.0
#include "sim/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "sim/report/sha256.h"
#include "sim/report/table.h"
#include "sim/report/unroll.h"

namespace npu::report {
namespace {

using contract::Counter;
using contract::Engine;

uint64_t& busy_of(LayerRow& row, Engine engine) {
  switch (engine) {
    case Engine::kDma:
      return row.dma_busy;
    case Engine::kMxu:
      return row.mxu_busy;
    case Engine::kVpu:
      return row.vpu_busy;
  }
  panic(__FILE__, __LINE__, "an engine without a name");
}

void add_event(LayerRow& row, Engine engine, const contract::Event& event) {
  busy_of(row, engine) += event.busy;
  ++row.commands;
  row.dram_read += event.dram_read;
  row.dram_written += event.dram_written;
  row.persistent_read += event.psram_read;
  row.persistent_written += event.psram_written;
}

// Whether its commands are tiles, which compute.
bool has_tiles(Engine engine) {
  switch (engine) {
    case Engine::kMxu:
    case Engine::kVpu:
      return true;
    case Engine::kDma:
      return false;
  }
  return false;
}

void add_work(LayerRow& row, const CommandWork& work) {
  row.array += work.array;
  row.bounds[static_cast<size_t>(Resource::kVpu)] += work.passes;
  row.bounds[static_cast<size_t>(Resource::kScratchpadPort)] += work.port;
}

// The tile with most elements, the first of several.
void find_tile(LayerRow& row, const CommandWork& work) {
  const auto elements = [](const std::vector<uint32_t>& dims) {
    uint64_t count = dims.empty() ? 0 : 1;
    for (const uint32_t dim : dims) count *= dim;
    return count;
  };
  if (elements(work.tile) > elements(row.tile)) row.tile = work.tile;
}

// Which causes a resource is limited by.
bool belongs(Cause cause, Resource resource) {
  switch (cause) {
    case Cause::kMxuCompute:
      return resource == Resource::kMxu;
    case Cause::kVpuCompute:
      return resource == Resource::kVpu;
    case Cause::kFillDrain:
      return resource == Resource::kMxu || resource == Resource::kVpu;
    case Cause::kBankConflicts:
    case Cause::kWeightLoadPort:
      return resource == Resource::kScratchpadPort;
    case Cause::kWeightLoadFirst:
    case Cause::kWeightLoadRoom:
    case Cause::kCommandFetch:
      return resource == Resource::kDram || resource == Resource::kLatency;
    case Cause::kWeightLoadDram:
    case Cause::kDramRead:
    case Cause::kDramWrite:
      return resource == Resource::kDram;
    case Cause::kWeightLoadLatency:
    case Cause::kDramLatency:
    case Cause::kTokens:
      return resource == Resource::kLatency;
    case Cause::kState:
      return resource == Resource::kDma || resource == Resource::kDram || resource == Resource::kLatency;
    case Cause::kOnChipCopy:
      return resource == Resource::kDma;
    case Cause::kVariableTable:
    case Cause::kCommandIssue:
      return resource == Resource::kCommandIssue;
  }
  return false;
}

void add_counters(runtime::Counters& sum, const runtime::Counters& more) {
  const auto add = [&](contract::Queue queue) {
    for (uint32_t i = 0; i < contract::kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      sum.set(queue, counter, sum.get(queue, counter) + more.get(queue, counter));
    }
  };
  for (const contract::Queue queue : contract::kQueuesOfEngines) add(queue);
  add(contract::Queue::kSequencer);
}

void add_times(std::optional<FirmwareCost>& cost, const runtime::RunResult& result) {
  const runtime::JobTimes& times = result.times;
  if (times.completed == 0 || result.cycles == 0) return;
  const uint64_t device = times.completed - times.submitted;
  const bool first = !cost;
  if (first) cost.emplace();
  cost->cycles += times.firmware_cycles;
  cost->device_cycles += device;
  cost->device_cycles_min = first ? device : std::min(cost->device_cycles_min, device);
  cost->device_cycles_max = std::max(cost->device_cycles_max, device);
  cost->engine_cycles += result.cycles;
  cost->preemptions += times.preemptions;
  cost->blocked += times.blocked;
  cost->save_cycles += times.save_cycles;
  cost->saved_bytes += times.saved_bytes;
}

}  // namespace

double FirmwareCost::outside_engines() const {
  return device_cycles == 0 ? 0 : 1 - static_cast<double>(engine_cycles) / static_cast<double>(device_cycles);
}

uint64_t Report::macs_of_all() const {
  uint64_t sum = 0;
  for (const LayerRow& row : layers) sum += row.macs;
  return sum;
}

double Report::per_invocation(uint64_t sum) const {
  return invocations == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(invocations);
}

StateBytes Report::state_bytes() const {
  StateBytes sum;
  for (const VariableRow& row : variables) sum += row.traffic.bytes;
  return sum;
}

uint64_t Report::charged_to_state() const {
  uint64_t sum = 0;
  for (const LayerRow& row : layers) sum += row.charge.causes[static_cast<size_t>(Cause::kState)];
  return sum;
}

Charge Report::charge() const {
  Charge sum;
  for (const LayerRow& row : layers) sum += row.charge;
  return sum;
}

ResourceCycles Report::bounds() const {
  ResourceCycles sum{};
  for (const LayerRow& row : layers) {
    for (size_t i = 0; i < kResourceCount; ++i) sum[i] += row.bounds[i];
  }
  return sum;
}

const std::string& Report::layer_name(uint32_t layer) const {
  return layers[std::min<size_t>(layer, layers.size() - 1)].layer.name;
}

std::vector<FormatWork> Report::formats() const {
  std::vector<FormatWork> sums;
  for (const LayerRow& row : layers) {
    if (row.format.empty()) continue;
    auto sum = std::ranges::find(sums, row.format, &FormatWork::format);
    if (sum == sums.end()) sum = sums.insert(sums.end(), FormatWork{row.format});
    sum->macs += row.macs;
    sum->mxu_busy += row.mxu_busy;
  }
  std::ranges::stable_sort(sums, std::ranges::greater(), &FormatWork::macs);
  return sums;
}

std::optional<double> Report::utilisation(uint64_t macs, uint64_t cycles_of_them) const {
  if (work_is_least()) return std::nullopt;
  const double peak = double{1} * info.machine.caps.mxu_cols * info.machine.caps.mxu_depth;
  return cycles_of_them == 0 ? 0 : static_cast<double>(macs) / (static_cast<double>(cycles_of_them) * peak);
}

double Report::microseconds(double cycles_of_some) const { return cycles_of_some / info.machine.caps.clock_mhz; }

double Report::cpu_microseconds(double cpu_cycles) const { return cpu_cycles / info.machine.caps.cpu_clock_mhz; }

Limit limit_of(const Charge& charge) {
  const ResourceCycles& limits = charge.limits;
  const CauseCycles& causes = charge.causes;
  Limit limit;
  limit.resource = static_cast<Resource>(std::max_element(limits.begin(), limits.end()) - limits.begin());
  limit.cycles = limits[static_cast<size_t>(limit.resource)];
  uint64_t most = 0;
  for (size_t i = 0; i < kCauseCount; ++i) {
    if (causes[i] <= most || !belongs(static_cast<Cause>(i), limit.resource)) continue;
    most = causes[i];
    limit.cause = static_cast<Cause>(i);
  }
  return limit;
}

std::string_view place(const runtime::VariableInfo& variable) { return variable.in_dram ? "dram" : "persistent_sram"; }

std::string_view place_reason(const Report& report, const runtime::VariableInfo& variable) {
  if (!variable.in_dram) return "it fits";
  if (report.info.state_in_dram) return "all state was sent there";
  const runtime::MemoryUse& memory = report.memory;
  if (variable.bytes > memory.persistent_bytes) return "it is larger than the persistent SRAM";
  if (variable.double_buffered) {
    const uint64_t port = std::max(report.info.machine.caps.psram_port_bytes, 1U);
    const uint64_t one = (variable.bytes + port - 1) / port * port;
    if (2 * one > memory.persistent_bytes) return "its two places together are larger than the persistent SRAM";
    if (one <= memory.persistent_bytes - std::min(memory.persistent_used, memory.persistent_bytes)) {
      return "the persistent SRAM has no room for its second place";
    }
  }
  return "the persistent SRAM is full, and others move more for their size";
}

std::string exact_on_rtl(const RunInfo& info) {
  if (info.rtl_presets.empty()) return "formula";
  return fmt::format("formula, exact on RTL of {}{}", fmt::join(info.rtl_presets, " and "),
                     info.has_rtl ? "" : "; this machine has no RTL");
}

std::string calibration_text(const Report& report) {
  std::string text = fmt::format("MXU and VPU: {}", exact_on_rtl(report.info));
  text +=
      report.tiles_waited == 0
          ? fmt::format("; none of {} tiles waited for memory on the chip", grouped(report.tiles))
          : fmt::format("; {} of {} tiles waited for memory on the chip, {} cycles, which are not compared with RTL",
                        grouped(report.tiles_waited), grouped(report.tiles), grouped(report.waited_cycles));
  const Charge charge = report.charge();
  const uint64_t dram = charge.limits[static_cast<size_t>(Resource::kDram)] +
                        charge.limits[static_cast<size_t>(Resource::kLatency)] -
                        charge.causes[static_cast<size_t>(Cause::kTokens)];
  const double share = report.cycles == 0 ? 0 : 100.0 * static_cast<double>(dram) / static_cast<double>(report.cycles);
  return text + fmt::format(
                    "; {:.1f} % of the cycles wait for DRAM, which is not calibrated against RTL "
                    "(docs/reference/cycle-accuracy.md)",
                    share);
}

std::string limit_text(const Charge& charge, std::string_view of_others) {
  const Limit limit = limit_of(charge);
  const double share = 100.0 * static_cast<double>(limit.cycles) / static_cast<double>(charge.cycles());
  std::string text = fmt::format("{} {:.0f} %", words(limit.resource), share);
  if (!words(limit.cause).empty()) {
    const auto i = static_cast<size_t>(limit.cause);
    text += fmt::format(": {}{}", words(limit.cause), 2 * charge.others[i] > charge.causes[i] ? of_others : "");
  }
  return text;
}

std::string limited_by(const Report& report, const LayerRow& row) {
  if (!report.timed()) return "";
  if (row.commands == 0) return "nothing to do";
  if (row.cycles == 0) return "hidden behind other layers";
  std::string text = limit_text(row.charge, " of other layers");
  const Cause cause = limit_of(row.charge).cause;
  // An array that computes all the time and still does few MACs has too few channels or taps to work on.
  constexpr double kFilled = 0.4;
  if (cause == Cause::kMxuCompute && row.mxu_busy > 0) {
    const std::optional<double> filled = report.utilisation(row.macs, row.mxu_busy);
    if (filled && *filled < kFilled) text += fmt::format(", array {:.0f} % filled", 100 * *filled);
  }
  return text;
}

Collector::Collector(RunInfo info, const compiler::Program& program)
    : bound_(program, info.machine),
      commands_(list_commands(program)),
      work_(list_work(program, info.machine.caps)),
      state_(program) {
  report_.info = std::move(info);
  report_.inputs = program.inputs;
  report_.outputs = program.outputs;
  report_.command_count = program.command_count;
  report_.estimated_cycles = program.estimated_cycles;
  report_.constants_bytes = program.constants.size();
  report_.workspace_bytes = program.workspace_bytes;
  report_.input_bytes = program.input_bytes;
  report_.output_bytes = program.output_bytes;
  report_.resident_bytes = program.resident_bytes;
  report_.scratchpad_peak_bytes = uint64_t{program.spm_peak_bytes} + program.resident_bytes;
  for (const compiler::Layer& layer : program.layers) {
    LayerRow row;
    row.layer = layer;
    if (row.layer.kind.empty()) row.layer.kind = layer.operators;
    report_.layers.push_back(std::move(row));
  }
  for (const CommandWork& work : work_) {
    const auto layer = static_cast<size_t>(commands_[&work - work_.data()].layer);
    if (layer >= report_.layers.size()) continue;
    if (!work.tile.empty()) find_tile(report_.layers[layer], work);
    if (!work.format.empty()) report_.layers[layer].format = work.format;
  }
  report_.branches = has_branches(commands_);
  report_.loops = find_loops(commands_);
  for (const compiler::Variable& variable : program.variables) report_.state_names.push_back(variable.identity);
  if (report_.layers.empty()) report_.layers.emplace_back();  // a graph that only passes its inputs on
}

void Collector::add(const runtime::RunResult& result) {
  const bool first = report_.invocations++ == 0;
  report_.cycles += result.cycles;
  report_.cycles_min = first ? result.cycles : std::min(report_.cycles_min, result.cycles);
  report_.cycles_max = std::max(report_.cycles_max, result.cycles);
  report_.events_lost += result.events_lost;
  add_counters(report_.counters, result.counters);
  add_times(report_.firmware, result);
  report_.loads += result.times.loads;
  report_.load_cycles += result.times.load_cycles;
  state_.add(result.events, commands_);
  count_iterations(result.events, report_.loops);
  add_macs(result.events, commands_, report_.layers);
  std::vector<LayerRow>& layers = report_.layers;
  const contract::Capabilities& caps = report_.info.machine.caps;
  const Subject subject{commands_, work_, DramRate(report_.info.machine), SequencerCosts::of(caps)};
  for (const contract::Event& event : result.events) {
    const std::optional<Engine> engine = contract::engine_of(contract::queue_of(event));
    if (!engine) continue;
    LayerRow& row = layers[std::min<size_t>(event.layer, layers.size() - 1)];
    add_event(row, *engine, event);
    if (report_.timed() && event.command < work_.size()) add_work(row, work_[event.command]);
    if (has_tiles(*engine)) {
      ++report_.tiles;
      report_.tiles_waited += event.stalled > 0 ? 1 : 0;
      report_.waited_cycles += event.stalled;
    }
  }
  report_.bound += bound_.of_job(result.events);
  if (report_.timed()) add_bounds();
  const std::vector<Charge> charged = attribute(result.events, result.cycles, layers.size(), subject);
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].charge += charged[i];
    layers[i].cycles += charged[i].cycles();
  }
}

void Collector::add_bounds() {
  const contract::Capabilities& caps = report_.info.machine.caps;
  const DramRate dram(report_.info.machine);
  const uint64_t channels = std::max(caps.dma_channels, 1U);
  ArrayWork array;
  uint64_t bytes = 0;
  for (LayerRow& row : report_.layers) {
    const auto bound = [&](Resource resource) -> uint64_t& { return row.bounds[static_cast<size_t>(resource)]; };
    const uint64_t array_before = array.cycles(caps), dram_before = dram.cycles(bytes);
    array += row.array;
    bytes += row.dram_read + row.dram_written;
    bound(Resource::kMxu) = array.cycles(caps) - array_before;
    bound(Resource::kDram) = dram.cycles(bytes) - dram_before;
    bound(Resource::kDma) = (row.dma_busy + channels - 1) / channels;
  }
}

Report Collector::finish(std::vector<runtime::VariableInfo> variables, const runtime::MemoryUse& memory) const {
  Report report = report_;
  report.state_cycles = state_.cycles();
  report.timeline = state_.timeline();
  report.timeline_left_out = state_.left_out();
  for (runtime::VariableInfo& variable : variables) {
    VariableRow row{std::move(variable), {}};
    const auto name = std::find(report.state_names.begin(), report.state_names.end(), row.info.identity);
    if (name != report.state_names.end()) row.traffic = state_.traffic()[name - report.state_names.begin()];
    report.variables.push_back(std::move(row));
  }
  report.memory = memory;
  return report;
}

std::string hash_program(const compiler::Program& program) {
  Sha256 hash;
  hash.add(program.commands.data(), program.commands.size() * sizeof(uint32_t));
  hash.add(program.constants.data(), program.constants.size());
  for (const compiler::Segment& segment : program.segments) {
    for (const uint32_t word : {segment.yield_word, segment.live_bytes, segment.save_word, segment.save_words,
                                segment.restore_word, segment.restore_words}) {
      hash.add(&word, sizeof(word));
    }
  }
  for (const compiler::Variable& variable : program.variables) {
    hash.add(variable.identity.data(), variable.identity.size());
    hash.add(&variable.hash, sizeof(variable.hash));
    hash.add(variable.initial.data(), variable.initial.size());
  }
  return hash.hex();
}

std::string hash_machine(const presets::Preset& preset) {
  std::string text;
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    text += fmt::format("{}={}\n", info.name, preset.caps.*info.member);
  }
  std::vector<uint32_t> memory;
  for (const auto& [key, value] : presets::keys_of(preset.dram)) memory.push_back(value);
  text += fmt::format("dram={}\n", fmt::join(memory, ","));
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hash.hex();
}

}  // namespace npu::report
