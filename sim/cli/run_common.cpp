// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_common.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "hw/contract/error.h"
#include "sim/cli/rtl_machines.h"
#include "sim/report/table.h"
#include "sim/tool/say.h"
#include "sim/workload/oracle.h"

namespace npu::cli {

using contract::ErrorCode;
using tool::say;

namespace {

// How long a job runs without a word about its progress.
constexpr auto kPatience = std::chrono::milliseconds(200);

std::string_view plural(uint64_t count) { return count == 1 ? "" : "s"; }

}  // namespace

report::RunInfo run_info(const RunOptions& options, const RunSubject& subject, const compiler::Program& program,
                         std::optional<uint64_t> random_inputs) {
  report::RunInfo info;
  info.random_inputs = random_inputs;
  info.tool_version = NPU_VERSION;
  info.file = subject.network_file.string();
  info.file_sha256 = subject.network_sha256();
  info.machine = subject.preset;
  info.mode = options.machine.mode;
  info.state_in_dram = subject.state_in_dram;
  for (const compiler::Promotion& one : subject.promotions()) {
    info.promoted.push_back({std::string(graph::name(one.op)), one.result, std::string(graph::name(one.from))});
  }
  if (!options.bypass_firmware) info.firmware = options.firmware.empty() ? "built-in" : options.firmware;
  if (options.jitter) {
    info.jitter_seed = options.jitter->first;
    info.jitter_max = options.jitter->second;
  }
  info.program_sha256 = report::hash_program(program);
  info.rtl_presets = rtl_presets();
  info.has_rtl = has_rtl_sizes(subject.preset);
  return info;
}

ConsoleGuard::~ConsoleGuard() {
  try {
    console_.show(device_);
  } catch (const Error&) {
    // The error on its way says more.
  }
}

void run_job(runtime::Job& job, const std::vector<graph::Value>& inputs, int64_t invocation, uint32_t commands,
             const Bench& bench) {
  for (size_t port = 0; port < inputs.size(); ++port) job.set_input(port, inputs[port]);
  bench.back_ends.begin_invocation(static_cast<uint64_t>(invocation));
  job.start();
  while (!job.wait(kPatience)) {
    bench.progress.part(std::min(1.0, static_cast<double>(job.commands_done()) / std::max(commands, 1u)));
    bench.console.show(bench.device);
  }
}

void throw_failure(const cosim::Failure& failure, const RunOptions& options, const compiler::Program& program) {
  cosim::Bundle bundle = failure.bundle;
  bundle.network = options.file;
  if (options.jitter) bundle.seed = fmt::format("jitter {}:{}", options.jitter->first, options.jitter->second);
  throw_failure(failure, std::move(bundle), program, options.back_ends);
}

void print_head(const RunOptions& options, const RunSubject& subject, uint64_t invocations) {
  say("{} on {} ({}), {} invocation{}\n", subject.file.string(), subject.preset.name, options.machine.mode,
      report::grouped(invocations), plural(invocations));
}

void print_conditions(const RunOptions& options, const RunSubject& subject, const report::RunInfo& info,
                      bool no_constants_stay) {
  if (options.resident_constants && no_constants_stay) say("constants {}\n", kConstantsDoNotStay);
  if (options.promote) say("promoted  {}\n", in_words(subject.promotions()));
  for (const std::string& fault : info.injected) say("injected  {}\n", fault);
  if (options.jitter) {
    say("jitter    up to {} cycles on every tile, DMA command and burst, seed {}, the same in every invocation\n",
        options.jitter->second, options.jitter->first);
  }
}

void print_check(const report::CheckResult& check, const RunSubject& subject, uint64_t invocations) {
  say("check     {} differing of {} elements compared with the reference ({} output{}, {} invocation{})\n",
      report::grouped(check.differing), report::grouped(check.compared), subject.outputs.size(),
      plural(subject.outputs.size()), report::grouped(invocations), plural(invocations));
  say("{}", workload::float_line(check));
}

void require_equal(const report::CheckResult& check, const std::string& how) {
  if (check.differing == 0) return;
  throw Error(ErrorCode::kElementsDiffer, fmt::format("{} of {} elements differ from the reference{}, the first is {}",
                                                      check.differing, check.compared, how, check.first));
}

}  // namespace npu::cli
