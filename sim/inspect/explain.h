// SPDX-License-Identifier: Apache-2.0
// Why a program is as it is: the content of `npu compile --explain`. The compiler's decisions (driver/compiler/
// explanation.h), with the bytes of the commands that it made, and its estimate charged to steps and causes as a report
// charges what was measured.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "driver/compiler/explanation.h"
#include "driver/compiler/program.h"
#include "hw/presets/preset.h"
#include "sim/report/attribution.h"
#include "sim/report/command_list.h"

namespace npu::inspect {

// Bytes that commands move, each time that one does; of loops and branches, once.
struct MovedBytes {
  uint64_t constants = 0;                    // from DRAM
  uint64_t dram_read = 0, dram_written = 0;  // apart from those
  uint64_t persistent_read = 0, persistent_written = 0;
  uint64_t on_chip = 0;  // copied within the scratchpad

  MovedBytes& operator+=(const MovedBytes& more);
  friend bool operator==(const MovedBytes&, const MovedBytes&) = default;
};

// A command of the stream, by the estimate. Cycles of the job.
struct ScheduledCommand {
  uint32_t command = 0, step = 0, layer = 0;
  contract::Queue queue = contract::Queue::kSequencer;
  contract::Opcode opcode = contract::Opcode::kEnd;
  compiler::Explanation::Command::Part part = compiler::Explanation::Command::Part::kCompute;
  uint64_t issued = 0, started = 0, done = 0;
  MovedBytes bytes;
  std::vector<uint32_t> awaits;  // commands whose tokens it takes
};

// When the constants of a step are loaded.
struct ConstantsLoad {
  uint64_t bytes = 0, transfers = 0;
  uint64_t begin = 0, end = 0;  // of the first and the last transfer
  uint64_t cycles = 0;          // of all transfers
  uint64_t exposed = 0;         // in which commands of the step could run already, and wait for them
  // Steps before it whose engines work meanwhile, and for how many cycles; the most first.
  std::vector<std::pair<uint32_t, uint64_t>> under;
};

struct ExplainedStep {
  compiler::Explanation::Step facts;
  uint64_t commands = 0;
  uint64_t begin = 0, end = 0;  // its first command starts, its last one is done
  report::Charge charge;        // of the estimate, by cause and resource
  MovedBytes bytes;
  ConstantsLoad constants;
};

// The scratchpad in the tick of a step in which most of it is taken.
struct StepMemory {
  uint32_t step = 0;
  int64_t used = 0, free = 0;
  int64_t largest_piece = 0;  // of what is free
  int64_t denied = 0;         // the most that something asked for in this step and did not get
  // Of what was denied: as much as was free in the whole, but not in one piece.
  [[nodiscard]] int64_t fragmented() const;
};

struct MemoryLine {
  int64_t size = 0;  // of the scratchpad, without constants that stay
  std::vector<StepMemory> steps;
  int64_t peak = 0;       // highest byte that is ever taken, plus one
  int64_t live_peak = 0;  // most bytes that are taken at a time
  int64_t most_lost = 0;  // to fragmentation, by one request (Explanation::Denied::lost)

  // That as a share of the scratchpad, 0 to 1: gaps that nothing asked for cost nothing.
  [[nodiscard]] double lost() const;
};
// The project's goal for MemoryLine::lost().
inline constexpr double kMostLost = 0.1;

[[nodiscard]] MemoryLine memory_line(const compiler::Explanation& facts);

struct Explained {
  std::string file;
  presets::Preset machine;
  compiler::Program program;
  compiler::Explanation facts;
  std::vector<ExplainedStep> steps;        // in order
  std::vector<ScheduledCommand> commands;  // in the order of the stream
  MemoryLine memory;
};

// The program and the explanation of one compilation.
[[nodiscard]] Explained explain(std::string file, const presets::Preset& machine, compiler::Program program,
                                compiler::Explanation facts);

// Parts of the text beside the steps.
struct Shown {
  bool schedule = false, memory = false;
};
// For people.
[[nodiscard]] std::string to_text(const Explained& explained, const Shown& shown);
// All of it as a JSON document in ASCII, the schema npu-explain.
[[nodiscard]] std::string to_json_text(const Explained& explained);

// Words of text and keys of JSON.
[[nodiscard]] std::string_view name(compiler::Explanation::Role role);
[[nodiscard]] std::string_view name(compiler::Explanation::Home home);
[[nodiscard]] std::string_view name(compiler::Explanation::Cut cut);
[[nodiscard]] std::string_view name(compiler::Explanation::Command::Part part);
[[nodiscard]] std::string_view name(compiler::Explanation::Denied::Asked asked);

}  // namespace npu::inspect
