// SPDX-License-Identifier: Apache-2.0
// The compiler's back end: tiles, places and orders the steps of a Module into a Program for one device.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "driver/compiler/explanation.h"
#include "driver/compiler/ir.h"
#include "driver/compiler/program.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/timing/dram_timing.h"

namespace npu::compiler {

// How much a compilation tries before it chooses a schedule.
enum class Effort : uint8_t {
  kLeast,   // the first one
  kNormal,  // several, by a quick estimate
  kMost,    // more of them, each played as the estimate that users see
};

struct ScheduleOptions {
  bool double_buffer = true;  // two tile buffers for each streamed operand, so that loads, compute and stores overlap
  bool prefetch = true;       // move loads ahead of the steps that need them where memory is free
  // A job can be stopped at points at most this many estimated cycles apart, as far as single commands allow it; 0: at
  // none.
  uint32_t segment_cycles = 2048;
  // Bytes of persistent SRAM for variables, at most: what does not fit lives in DRAM. More than the device has: all.
  uint64_t persistent_bytes = UINT64_MAX;
  bool state_in_dram = false;  // all variables live in DRAM
  // Variables that earlier programs of the context have placed, by identity: whether in DRAM. They stay there, and take
  // nothing of persistent_bytes.
  std::map<std::string, bool> placed_in_dram = {};
  // Identities of variables that other programs of the context write: they count as written here, too.
  std::set<std::string> written_by_others = {};
  // The contexts that run it have ContextOptions::double_buffer: variables that are written take two places.
  bool two_places = false;
  // The constants stay in the scratchpad from job to job (Program::resident_bytes), if they fit there beside what the
  // steps need, and a job takes less time by the estimate; if not, each job loads them.
  bool resident_constants = false;
  Effort effort = Effort::kNormal;
  // What is behind the port to DRAM, for the estimate of the program's cycles. The program itself is the same with any,
  // unless schedules are played (Effort::kMost). Without one: a memory with the port's rate.
  std::optional<timing::Dram> dram = {};
};

// Throws NoRoom (room.h): scratchpad_full (the smallest tile of a step does not fit; names layer and operand),
// dram_full for more than 2^20 commands. Throws Error: dram_full for what no device holds, argument_unsupported (a
// stride or size beyond a command's fields). Does not check how much DRAM the device has. The module must be
// consistent: every view inside its buffer, every buffer written before it is read. `explanation`, if any, is filled.
[[nodiscard]] Program schedule(Module&& module, const contract::Capabilities& capabilities,
                               const ScheduleOptions& options = {}, Explanation* explanation = nullptr);

// Sets the estimates of a program anew, by what its commands say. `dram`: as in ScheduleOptions.
void estimate(const contract::Capabilities& capabilities, const std::optional<timing::Dram>& dram, Program& program);

// The modules of one graph for several sizes, number 0 for the largest.
struct SizedModules {
  size_t count = 0;
  std::function<Module(size_t)> module;
  // Told which sizes have their words in the layout (`taken`). May leave more sizes out, but the largest. None: takes
  // all.
  std::function<void(std::vector<bool>& taken)> leave = {};
};

struct SizedProgram {       // values have the numbers of schedule_sizes()
  Program program;          // with the rules of its table of sizes, and nothing else of that
  std::vector<bool> taken;  // the sizes that it is for; others have other steps, or were left out
};

// One program for several sizes: laid out for the largest, with rules for the words that other sizes change. `values`:
// of symbols and expressions, by number, for each of the sizes. Throws what schedule() throws for the largest sizes,
// and Error(argument_unsupported) where a word, or how large a layer is, is no function that tables
// have; budget_exceeded for too many sizes of too many commands.
[[nodiscard]] SizedProgram schedule_sizes(const SizedModules& modules, const std::vector<std::vector<int64_t>>& values,
                                          const contract::Capabilities& capabilities, const ScheduleOptions& options);

}  // namespace npu::compiler
