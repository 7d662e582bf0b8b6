// SPDX-License-Identifier: Apache-2.0
// What `npu run` tells of a sequence whose sizes changed, as text and as JSON.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/resolve.h"
#include "driver/specialise/program_cache.h"
#include "sim/cli/run_options.h"
#include "sim/cli/run_subject.h"
#include "sim/report/report.h"

namespace npu::cli {

// What ran with one choice of sizes, whether its program was compiled once or several times.
struct SizedProgramRun {
  graph::GivenShapes sizes;
  report::Collector collector;
  uint64_t bytes = 0;                         // of the program in device memory
  uint64_t compiled = 0;                      // how often
  std::optional<report::Report> report = {};  // when all is done
};

struct SizedInvocation {
  size_t program = 0;  // index in SizedRun::programs
  bool compiled = false;
  uint64_t cycles = 0;
};

struct SizedRun {
  const RunOptions& options;
  const RunSubject& subject;
  std::vector<compiler::SizeBounds> bounds = {};  // that programs were compiled for; empty: each for its sizes
  std::vector<SizedProgramRun> programs = {};     // in the order in which their sizes came first
  std::vector<SizedInvocation> invocations = {};
  specialise::CacheCounts cache = {};
  std::optional<report::CheckResult> check = {};
  std::vector<report::EngineRun> engines = {};  // of all invocations
  report::PersistentRun persistent_sram = {};
};

// "x.0 1 to 64, x.1 8"
[[nodiscard]] std::string in_words(const std::vector<compiler::SizeBounds>& bounds);

// The document of docs/reference/npu.md, with a line end.
[[nodiscard]] std::string to_json_text(const SizedRun& run);
// A row for each choice of sizes, the total, the variables and the cache.
[[nodiscard]] std::string to_text(const SizedRun& run);

}  // namespace npu::cli
