// SPDX-License-Identifier: Apache-2.0
// The result of a run as data: what every form of report (table, JSON, CSV) is made of. Built from a program, its
// events and its counters, so it works for every device that implements the contract.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/queues.h"
#include "hw/presets/preset.h"
#include "sim/report/attribution.h"
#include "sim/report/bound.h"
#include "sim/report/command_list.h"
#include "sim/report/loops.h"
#include "sim/report/room_bound.h"
#include "sim/report/state.h"

namespace npu::report {

// What the cycles of a part of the machine are worth. docs/reference/cycle-accuracy.md has the trials, what they
// compare, and the error where the device does something else.
struct Calibration {
  std::string_view part, worth;  // empty: exact_on_rtl()
};
inline constexpr Calibration kCalibration[] = {
    {"mxu", ""},
    {"vpu", ""},
    {"dma", "beats exact, bursts without RTL"},
    {"scratchpad", ""},
    {"persistent_sram", "arbitration exact, corrections not counted"},
    {"variable_table", "operations by the RTL's cycles"},
    {"contention", "ports and turns exact, addresses evenly spread"},
    {"dram", "not calibrated against RTL"},
};

// An operator that is computed in FP32, because the machine's MXU lacks its format.
struct PromotedOperator {
  std::string op, result, from;
};

// What ran where. Filled in by the caller.
struct RunInfo {
  std::string tool_version;
  std::string file, file_sha256;
  presets::Preset machine;
  std::string mode;      // "timed" or "functional"
  std::string firmware;  // "built-in" or the image's file; empty: bypassed
  std::optional<uint64_t> jitter_seed;
  uint64_t jitter_max = 0;
  bool state_in_dram = false;  // asked for
  std::vector<PromotedOperator> promoted;
  std::vector<std::string> injected;  // faults put in by test hooks, in words
  std::string program_sha256;
  std::vector<std::string> rtl_presets;   // that there is RTL of
  bool has_rtl = false;                   // one of them has an MXU and a VPU of this machine's sizes
  std::optional<uint64_t> random_inputs;  // seed; nullopt: inputs were given, or there are none
  // Of an invocation of the network; nullopt also where that is not known, or constants stay from one to the next.
  std::optional<RoomBound> room;
};

// What a formula of MXU or VPU is worth, and the scratchpad's arbitration: it gave the cycles of the RTL in every
// random trial, on the presets that there is RTL of.
[[nodiscard]] std::string exact_on_rtl(const RunInfo& info);

// A layer; cycles and bytes are sums over all invocations.
struct LayerRow {
  compiler::Layer layer;
  uint64_t cycles = 0;  // charged to it, see attribution.h
  Charge charge;        // the same cycles by cause and by resource, and what the resources did in them
  // Fewest cycles that its own commands take of a resource, however they overlap; 0 for latency and command issue. A
  // fraction of a cycle of MXU or DRAM counts in the layer in which the sum of all layers reaches it.
  ResourceCycles bounds{};
  ArrayWork array;                                    // of its commands
  std::vector<uint32_t> tile;                         // the largest, see CommandWork
  std::string format;                                 // of its products, see CommandWork
  uint64_t mxu_busy = 0, vpu_busy = 0, dma_busy = 0;  // cycles of work, also where it is hidden behind other layers
  uint64_t commands = 0;
  uint64_t macs = 0;  // that were executed: of a layer in a loop, those of all iterations; of a branch not taken, none
  uint64_t dram_read = 0, dram_written = 0, persistent_read = 0, persistent_written = 0;  // bytes
};

// The MXU's products of one format.
struct FormatWork {
  std::string format;
  uint64_t macs = 0, mxu_busy = 0;  // as of layers
};

// A variable of the context as the run left it, and what this program did with it.
struct VariableRow {
  runtime::VariableInfo info;
  VariableTraffic traffic;
};

// What computed the tiles of an engine, model or RTL. Filled in by the caller.
struct EngineRun {
  contract::Engine engine = contract::Engine::kMxu;
  std::string back_end;             // "model", "rtl" or "lockstep"
  std::vector<std::string> layers;  // that ran there; empty: all of them
  uint64_t tiles = 0, rtl_tiles = 0;
  uint64_t elements_compared = 0;  // none differs, or there would be no report
  // Cycles of the RTL compared with the model's formula, tile by tile.
  uint64_t cycles_compared = 0, cycles_exact = 0;
  uint64_t same_requests = 0;  // tiles of them in which the RTL asked for memory in the cycles that the schedule says
  double cycles_mean_absolute = 0;
  int64_t cycles_worst = 0;  // RTL minus model
};

// What computed the persistent SRAM beside the model. Filled in by the caller.
struct PersistentRun {
  std::string back_end = "model";  // or "rtl" or "lockstep"
  uint64_t operations = 0;         // on the table
  uint64_t accesses = 0;           // of a row each
  uint64_t compared = 0;           // words, entries, places, answers: none differs, or there would be no report
  // Cycles of the RTL compared with the device's formula, operation by operation.
  uint64_t cycles_compared = 0, cycles_exact = 0;
  double cycles_mean_absolute = 0;
  int64_t cycles_worst = 0;  // RTL minus formula
};

// Where a variable lies: a key.
[[nodiscard]] std::string_view place(const runtime::VariableInfo& variable);

// What the comparison with the reference found.
struct CheckResult {
  uint64_t compared = 0, differing = 0;
  std::string first;  // the first that differs, in words; empty: none
  // Of floating point: elements, those of them that have other bits and are near enough, that are too far off, and that
  // are NaNs on both sides; the largest difference of numbers, in units in the last place of their output's largest
  // one.
  uint64_t floats = 0, rounded = 0, far = 0, nans = 0;
  double worst = 0;
};

// What the way through the firmware costs; sums over all invocations. Device cycles are those of the engines' clock.
struct FirmwareCost {
  uint64_t cycles = 0;                                    // of the control CPU's clock in which it was busy
  uint64_t device_cycles = 0;                             // from the doorbell to the completion
  uint64_t device_cycles_min = 0, device_cycles_max = 0;  // least and most of an invocation
  uint64_t engine_cycles = 0;                             // in which the streams ran
  uint64_t preemptions = 0;                               // of these jobs by others
  uint64_t blocked = 0;      // device cycles that they waited for less urgent ones to make room
  uint64_t save_cycles = 0;  // engine cycles of saving and restoring them
  uint64_t saved_bytes = 0;  // saved and restored

  // Share of the device cycles in which the stream did not run; 0 without time.
  [[nodiscard]] double outside_engines() const;
};

struct Report {
  RunInfo info;
  std::vector<compiler::Port> inputs, outputs;
  uint32_t command_count = 0;
  uint64_t estimated_cycles = 0;
  uint64_t constants_bytes = 0, workspace_bytes = 0, input_bytes = 0, output_bytes = 0, scratchpad_peak_bytes = 0;

  uint64_t invocations = 0;
  uint64_t cycles = 0, cycles_min = 0, cycles_max = 0;  // sum, least and most of an invocation
  Bound bound;                                          // sum over all invocations
  std::vector<LayerRow> layers;
  std::vector<LoopRow> loops;
  runtime::Counters counters;  // sums over all invocations
  uint64_t events_lost = 0;
  bool branches = false;  // of the program: MACs and bound are counted from the records of events
  // Of MXU and VPU: all tiles, those that waited for memory on the chip, and for how many cycles.
  uint64_t tiles = 0, tiles_waited = 0, waited_cycles = 0;
  // Of constants that stay in the scratchpad: bytes; how often all of them were loaded, and in how many engine cycles,
  // which are no part of `cycles`.
  uint64_t resident_bytes = 0, loads = 0, load_cycles = 0;
  std::optional<FirmwareCost> firmware;  // nullopt where no firmware ran, and in functional mode

  std::vector<VariableRow> variables;
  uint64_t state_cycles = 0;  // of commands that read or write variables, also where they are hidden behind other work
  std::vector<std::string> state_names;  // what StateUse::variable indexes
  std::vector<TimelineRange> timeline;
  uint64_t timeline_left_out = 0;  // invocations
  runtime::MemoryUse memory;
  std::optional<CheckResult> check;
  std::vector<EngineRun> engines;
  PersistentRun persistent_sram;

  [[nodiscard]] bool timed() const { return cycles > 0; }
  // MACs and bound lack what completed without a record.
  [[nodiscard]] bool work_is_least() const { return branches && events_lost > 0; }
  [[nodiscard]] uint64_t macs_of_all() const;               // executed, of all layers and invocations
  [[nodiscard]] double per_invocation(uint64_t sum) const;  // 0 without invocations
  [[nodiscard]] StateBytes state_bytes() const;
  // Of the layers with products, by format, the one with most MACs first.
  [[nodiscard]] std::vector<FormatWork> formats() const;
  // Of all layers.
  [[nodiscard]] Charge charge() const;
  [[nodiscard]] ResourceCycles bounds() const;
  // Charged to moving state, see attribution.h.
  [[nodiscard]] uint64_t charged_to_state() const;
  // Name of the layer with this index.
  [[nodiscard]] const std::string& layer_name(uint32_t layer) const;
  // MACs as a share of what the MXU could do in these cycles (int8); 0 without cycles. Nullopt where work_is_least().
  [[nodiscard]] std::optional<double> utilisation(uint64_t macs, uint64_t cycles_of_them) const;
  [[nodiscard]] double microseconds(double cycles_of_some) const;
  [[nodiscard]] double cpu_microseconds(double cpu_cycles) const;
};

// Why a variable of the report lies where it does, in words.
[[nodiscard]] std::string_view place_reason(const Report& report, const runtime::VariableInfo& variable);

struct Limit {
  Resource resource = Resource::kCommandIssue;  // that most cycles of the layer wait for
  uint64_t cycles = 0;                          // so many
  Cause cause = Cause::kCommandIssue;           // of most of those
};
[[nodiscard]] Limit limit_of(const Charge& charge);
// In words: "DRAM 62 %: constants", followed by `of_others` where the command on the path is mostly another's.
[[nodiscard]] std::string limit_text(const Charge& charge, std::string_view of_others);

// What the cycle counts of this run are worth, in one line.
[[nodiscard]] std::string calibration_text(const Report& report);

// What limits a layer, in words: the resource that most of its cycles wait for, its share of them, and what it does in
// most of those: "DRAM 62 %: weights". Empty in functional mode.
[[nodiscard]] std::string limited_by(const Report& report, const LayerRow& row);

// Collects the invocations of one program.
class Collector {
 public:
  Collector(RunInfo info, const compiler::Program& program);
  void add(const runtime::RunResult& result);
  // The state that the run left, and the report so far.
  [[nodiscard]] Report finish(std::vector<runtime::VariableInfo> variables, const runtime::MemoryUse& memory) const;
  [[nodiscard]] const std::vector<CommandInfo>& commands() const { return commands_; }

 private:
  void add_bounds();

  Report report_;
  BoundFinder bound_;
  std::vector<CommandInfo> commands_;
  std::vector<CommandWork> work_;
  StateCollector state_;
};

// Hash of everything that the device gets from a program.
[[nodiscard]] std::string hash_program(const compiler::Program& program);
// Hash of a machine's sizes and DRAM timing, whatever its name.
[[nodiscard]] std::string hash_machine(const presets::Preset& preset);

}  // namespace npu::report
