// SPDX-License-Identifier: Apache-2.0
// What `npu run` does alike with one program and with one for each choice of sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "driver/graph/value.h"
#include "driver/runtime/runtime.h"
#include "sim/cli/firmware_console.h"
#include "sim/cli/run_options.h"
#include "sim/cli/run_subject.h"
#include "sim/cosim/back_ends.h"
#include "sim/report/report.h"
#include "sim/tool/progress.h"

namespace npu::cli {

[[nodiscard]] report::RunInfo run_info(const RunOptions& options, const RunSubject& subject,
                                       const compiler::Program& program, std::optional<uint64_t> random_inputs);

// Prints what the firmware has said also when a job failed: then it matters most.
class ConsoleGuard {
 public:
  ConsoleGuard(const FirmwareConsole& console, runtime::Device& device) : console_(console), device_(device) {}
  ~ConsoleGuard();
  ConsoleGuard(const ConsoleGuard&) = delete;
  ConsoleGuard& operator=(const ConsoleGuard&) = delete;

 private:
  const FirmwareConsole& console_;
  runtime::Device& device_;
};

// Where jobs run, and who is told how far they are.
struct Bench {
  const FirmwareConsole& console;
  runtime::Device& device;
  cosim::BackEnds& back_ends;
  tool::Progress& progress;
};

// Runs a job to its end. `commands` are those of its program. Throws what starting and waiting throw.
void run_job(runtime::Job& job, const std::vector<graph::Value>& inputs, int64_t invocation, uint32_t commands,
             const Bench& bench);

// A tile or the persistent SRAM is wrong on RTL: says where, and leaves what replays it.
[[noreturn]] void throw_failure(const cosim::Failure& failure, const RunOptions& options,
                                const compiler::Program& program);

// The first lines of the report: what ran where, and how often.
void print_head(const RunOptions& options, const RunSubject& subject, uint64_t invocations);
// What the machine was made to do, and what was asked for in vain.
void print_conditions(const RunOptions& options, const RunSubject& subject, const report::RunInfo& info,
                      bool no_constants_stay);
// The line that says what the comparison with the reference found.
void print_check(const report::CheckResult& check, const RunSubject& subject, uint64_t invocations);
// Throws Error(elements_differ) where any does. `how`: what makes the difference again, behind the number of them.
void require_equal(const report::CheckResult& check, const std::string& how);

}  // namespace npu::cli
