// SPDX-License-Identifier: Apache-2.0
// `npu run`: a network on the simulated NPU, invocation by invocation.
#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "driver/runtime/runtime.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cli/back_end_options.h"
#include "sim/cli/command.h"
#include "sim/cli/firmware_console.h"
#include "sim/cli/run_common.h"
#include "sim/cli/run_device.h"
#include "sim/cli/run_options.h"
#include "sim/cli/run_subject.h"
#include "sim/cli/sized_run.h"
#include "sim/cli/sized_sequence.h"
#include "sim/cosim/back_ends.h"
#include "sim/report/json.h"
#include "sim/report/report.h"
#include "sim/report/roofline.h"
#include "sim/report/table.h"
#include "sim/report/trace.h"
#include "sim/tool/progress.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"
#include "sim/workload/data.h"
#include "sim/workload/network.h"
#include "sim/workload/oracle.h"
#include "sim/workload/state_file.h"

namespace npu::cli {

using tool::say;

namespace {

// Of random inputs, unless --random-inputs has another.
constexpr uint64_t kSeed = 1;

// Cycles are of use without data, too: a run without any input gets random ones.
std::optional<uint64_t> seed_of_inputs(const RunOptions& options, const RunSubject& subject) {
  if (options.random_inputs || !options.data.inputs.empty() || subject.inputs.empty()) return options.random_inputs;
  return kSeed;
}

// Where the results of the invocations go.
struct Results {
  report::Collector collector;
  std::optional<workload::OutputData> outputs;
  std::optional<workload::Oracle> oracle;
  std::optional<report::TraceWriter> trace;
};

void run_all(const workload::InputData& inputs, runtime::Job& job, uint32_t commands, const FirmwareConsole& console,
             runtime::Device& device, cosim::BackEnds& back_ends, bool quiet, Results& results) {
  const ConsoleGuard guard(console, device);
  tool::Progress progress(inputs.invocations(), "invocation", quiet);
  for (int64_t i = 0; i < inputs.invocations(); ++i) {
    const std::vector<graph::Value> frame = inputs.invocation(i);
    run_job(job, frame, i, commands, {console, device, back_ends, progress});
    const runtime::RunResult& result = job.result();
    results.collector.add(result);
    if (results.outputs) results.outputs->add(job.outputs());
    if (results.trace) results.trace->add(result);
    if (results.oracle) results.oracle->check(frame, job.outputs());
    console.show(device);
    progress.step();
  }
}

// Returns how many records the trace leaves out.
uint64_t write_files(const RunOptions& options, Results& results, const report::Report& report,
                     tool::StagedFiles& files) {
  if (results.outputs) results.outputs->write(files, options.data.outputs);
  if (!options.json.empty()) files.write(options.json, report::to_json(report));
  if (!options.csv.empty()) files.write(options.csv, report::to_csv(report));
  uint64_t left_out = 0;
  if (results.trace) {
    left_out = results.trace->close();
    files.adopt(results.trace->release());
  }
  files.commit();
  return left_out;
}

// So that a failure can be made again from its message.
std::string with_random_inputs(const report::RunInfo& info) {
  return info.random_inputs ? fmt::format(" with --random-inputs {}", *info.random_inputs) : "";
}

void print_report(const RunOptions& options, const RunSubject& subject, const report::Report& report) {
  print_head(options, subject, report.invocations);
  if (report.info.random_inputs) {
    say("with random inputs, seed {} (--random-inputs SEED chooses another, --input gives data)\n",
        *report.info.random_inputs);
  }
  say("\n{}", report::to_table(report));
  if (options.roofline) {
    const std::string roofline = report::to_roofline(report);
    say("\n{}\n", roofline.empty() ? "roofline  no layer has MACs\n" : roofline);
  }
  print_conditions(options, subject, report.info, report.resident_bytes == 0);
  if (report.check) print_check(*report.check, subject, report.invocations);
}

}  // namespace

int run_run(const Arguments& arguments) {
  std::optional<RunOptions> parsed = parse_run_options(arguments);
  if (!parsed) return 0;
  const RunOptions& options = *parsed;
  const RunSubject subject = load_subject(options);
  if (SizedSequence::is_meant(options.data, subject.inputs)) return run_sized(*parsed, subject);
  refuse_what_sequences_have(options);
  const presets::Preset& preset = subject.preset;
  workload::add_outputs(parsed->data.places, subject.outputs, options.data.outputs);
  const runtime::Snapshot start = subject.start(options.data.resume);

  const FirmwareConsole console(options.firmware_log);
  cosim::BackEnds back_ends(preset.caps);
  choose_back_ends(options.back_ends, preset.caps, back_ends);
  runtime::Device device = open_device(options, preset, console, back_ends);
  const compiler::Program program = subject.program(options, device.capabilities());
  choose_layers(options.back_ends, program, back_ends);
  // After compiling: a user without data learns first whether the network runs at all.
  const std::optional<uint64_t> seed = seed_of_inputs(options, subject);
  const workload::InputData inputs(subject.inputs, options.data.inputs, options.data.sequence, options.data.range,
                                   seed);
  check_jobs(options.faults, inputs.invocations());
  runtime::Context context =
      device.create_context({.zero_init = options.data.zero_init, .double_buffer = subject.double_buffer});
  const runtime::LoadedProgram loaded = context.load(program);
  if (!options.data.resume.empty()) context.restore(start);
  report::RunInfo info = run_info(options, subject, program, seed);
  if (subject.graph && program.resident_bytes == 0) {
    info.room = report::room_bound(subject.graph->graph, subject.preset);
  }
  info.injected = inject(options.injections, device, loaded);
  for (const platform::FaultClause& fault : options.faults) info.injected.push_back(fault.text);

  tool::StagedFiles files;
  Results results{report::Collector(std::move(info), program), std::nullopt, std::nullopt, std::nullopt};
  if (!options.data.outputs.empty()) results.outputs.emplace(subject.outputs, inputs.stacked());
  if (options.check) results.oracle.emplace(*subject.graph, options.data.zero_init, workload::to_reference(start));
  if (!options.trace.empty()) results.trace.emplace(options.trace, program, preset.caps);
  runtime::Job job = loaded.create_job();
  try {
    run_all(inputs, job, program.command_count, console, device, back_ends, options.data.quiet, results);
  } catch (const Error&) {
    if (back_ends.failure()) throw_failure(*back_ends.failure(), options, program);
    throw;
  }

  note_unstruck(options, device);
  report::Report report = results.collector.finish(context.variables(), device.memory_use());
  runtime::Snapshot end;
  if (!options.data.save_state.empty()) end = context.snapshot(subject.network_file.filename().string());
  back_ends.finish();
  if (back_ends.failure()) throw_failure(*back_ends.failure(), options, program);
  report.engines = engine_runs(options.back_ends, back_ends);
  report.persistent_sram = persistent_run(back_ends);
  if (results.oracle) report.check = results.oracle->result();
  if (!options.data.save_state.empty()) {
    workload::write_snapshot(files, options.data.save_state, end);
  }
  const uint64_t left_out = write_files(options, results, report, files);
  print_report(options, subject, report);
  if (left_out > 0) say("trace     full: {} records of later invocations are left out\n", left_out);
  if (report.check) require_equal(*report.check, with_random_inputs(report.info));
  return 0;
}

}  // namespace npu::cli
