// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sized_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/compiler/bounds.h"
#include "driver/graph/text.h"
#include "driver/specialise/bounded_programs.h"
#include "driver/specialise/program_cache.h"
#include "hw/contract/error.h"
#include "sim/cli/run_common.h"
#include "sim/cli/run_device.h"
#include "sim/cli/sized_report.h"
#include "sim/cli/sized_sequence.h"
#include "sim/tool/say.h"
#include "sim/tool/staged_files.h"
#include "sim/workload/oracle.h"
#include "sim/workload/state_file.h"

namespace npu::cli {

using contract::ErrorCode;
using tool::say;

namespace {

bool names_layers(const BackEndOptions& options) {
  return std::any_of(options.choices.begin(), options.choices.end(),
                     [](const auto& choice) { return !choice.layers.empty(); });
}

void refuse_what_one_program_has(const RunOptions& options, const RunSubject& subject) {
  if (subject.compiled && !subject.is_sized()) {
    throw Error(
        ErrorCode::kBadOption,
        fmt::format("{} is compiled, and its sizes are fixed: give each input one file, whose first axis counts "
                    "invocations, run the network, or compile it with npu compile --dim",
                    graph::in_quotes(options.file)));
  }
  for (const auto& [given, name] :
       {std::pair{!options.csv.empty(), "--csv"}, std::pair{!options.trace.empty(), "--trace"},
        std::pair{options.roofline, "--roofline"}, std::pair{!options.injections.empty(), "--inject"},
        std::pair{options.random_inputs.has_value(), "--random-inputs"},
        std::pair{names_layers(options.back_ends), "--rtl ENGINE@LAYER"}}) {
    if (!given) continue;
    throw Error(ErrorCode::kBadOption, fmt::format("a sequence with a file for each invocation has a program for each "
                                                   "choice of sizes, and {} cannot tell them apart: leave it out, or "
                                                   "fix the sizes with npu resolve and give the frames in one file",
                                                   name));
  }
}

// One for each choice of sizes, or those that were compiled once for all of them.
std::unique_ptr<specialise::SizedPrograms> programs_of(const RunOptions& options, const RunSubject& subject,
                                                       const runtime::Device& device, const runtime::Context& context) {
  const bool firmware = !options.bypass_firmware;
  if (subject.compiled || !options.dims.empty()) {
    return std::make_unique<specialise::BoundedPrograms>(
        context, subject.bounded_programs(options, device.capabilities()), firmware);
  }
  return std::make_unique<specialise::ProgramCache>(
      context, device.capabilities(), subject.graph->open ? *subject.graph->open : subject.graph->graph,
      subject.compiler_options(firmware), options.specialise.value_or(specialise::ProgramCache::kNoLimit));
}

// As reports read it.
compiler::Program at_sizes(const compiler::Program& program, const graph::GivenShapes& sizes,
                           const presets::Preset& preset) {
  compiler::Program fixed = compiler::at_sizes(program, specialise::BoundedPrograms::symbols_of(program, sizes));
  compiler::estimate(preset.caps, preset.dram, fixed);
  return fixed;
}

// The state that goes on from one invocation to the next, and what is kept of each.
class Runner {
 public:
  Runner(const RunOptions& options, const RunSubject& subject, SizedSequence& sequence, runtime::Device& device)
      : run_{options, subject, subject.compiled ? specialise::bounds_of(subject.compiled->programs) : options.dims},
        sequence_(sequence),
        context_(device.create_context({.zero_init = options.data.zero_init, .double_buffer = subject.double_buffer})),
        programs_(programs_of(options, subject, device, context_)),
        start_(subject.start(options.data.resume)) {
    if (options.check) oracle_.emplace(*subject.graph, options.data.zero_init, workload::to_reference(start_));
  }

  void invoke(int64_t index, const Bench& bench) {
    const SizedSequence::Invocation invocation = sequence_.prepare(index);
    std::vector<graph::Value> outputs;
    sequence_.in_invocation(index, [&] {
      outputs = run(index, invocation, bench);
      sequence_.outputs.add(outputs);
    });
    if (oracle_) oracle_->check(sequence_.network(), invocation.inputs, outputs);
  }

  [[nodiscard]] runtime::Snapshot snapshot() const {
    return context_.snapshot(run_.subject.network_file.filename().string());
  }

  [[nodiscard]] SizedRun finish(const runtime::Device& device, cosim::BackEnds& back_ends) {
    back_ends.finish();
    if (back_ends.failure()) throw_failure(*back_ends.failure(), run_.options, {});
    run_.engines = engine_runs(run_.options.back_ends, back_ends);
    run_.persistent_sram = persistent_run(back_ends);
    for (SizedProgramRun& program : run_.programs) {
      program.report = program.collector.finish(context_.variables(), device.memory_use());
    }
    run_.cache = programs_->counts();
    if (oracle_) run_.check = oracle_->result();
    return std::move(run_);
  }

 private:
  std::vector<graph::Value> run(int64_t index, const SizedSequence::Invocation& invocation, const Bench& bench) {
    const uint64_t misses = programs_->counts().misses;
    const std::shared_ptr<const specialise::SizedProgram> sized = programs_->get(invocation.sizes);
    const bool compiled = programs_->counts().misses > misses;
    if (index == 0 && !run_.options.data.resume.empty()) context_.restore(start_);
    const size_t at = place_of(invocation.sizes, sized->program.program());
    SizedProgramRun& program = run_.programs[at];
    program.bytes = sized->bytes;
    program.compiled += compiled ? 1 : 0;
    runtime::Job job = sized->program.create_job();
    try {
      run_job(job, invocation.inputs, index, sized->program.program().command_count, bench);
    } catch (const Error&) {
      if (bench.back_ends.failure()) throw_failure(*bench.back_ends.failure(), run_.options, sized->program.program());
      throw;
    }
    program.collector.add(job.result());
    run_.invocations.push_back({at, compiled, job.result().cycles});
    return job.outputs();
  }

  size_t place_of(const graph::GivenShapes& sizes, const compiler::Program& program) {
    const auto known = std::find_if(run_.programs.begin(), run_.programs.end(),
                                    [&](const SizedProgramRun& one) { return one.sizes == sizes; });
    if (known != run_.programs.end()) return static_cast<size_t>(known - run_.programs.begin());
    if (program.sizes.empty()) {
      add(sizes, program);
    } else {
      add(sizes, at_sizes(program, sizes, run_.subject.preset));
    }
    return run_.programs.size() - 1;
  }

  void add(const graph::GivenShapes& sizes, const compiler::Program& program) {
    report::RunInfo info = run_info(run_.options, run_.subject, program, std::nullopt);
    for (const platform::FaultClause& fault : run_.options.faults) info.injected.push_back(fault.text);
    run_.programs.push_back({sizes, report::Collector(std::move(info), program), 0, 0, {}});
  }

  SizedRun run_;
  SizedSequence& sequence_;
  runtime::Context context_;
  std::unique_ptr<specialise::SizedPrograms> programs_;
  runtime::Snapshot start_;
  std::optional<workload::Oracle> oracle_;
};

void print(const SizedRun& run, const SizedSequence& sequence) {
  print_head(run.options, run.subject, run.invocations.size());
  say("\n{}", to_text(run));
  const bool none_stay = std::all_of(run.programs.begin(), run.programs.end(),
                                     [](const SizedProgramRun& one) { return one.report->resident_bytes == 0; });
  print_conditions(run.options, run.subject, run.programs.front().report->info, none_stay);
  for (const workload::GraphPort& port : run.subject.outputs) {
    const std::string files = sequence.outputs.files_of(port.name);
    if (!files.empty()) say("output    {} -> {}\n", graph::printable(port.name), files);
  }
  if (run.check) print_check(*run.check, run.subject, run.invocations.size());
}

}  // namespace

int run_sized(RunOptions& options, const RunSubject& subject) {
  refuse_what_one_program_has(options, subject);
  SizedSequence sequence = subject.graph ? SizedSequence(options.data, *subject.graph)
                                         : SizedSequence(options.data, subject.inputs, subject.outputs);
  check_jobs(options.faults, sequence.invocations());
  const FirmwareConsole console(options.firmware_log);
  cosim::BackEnds back_ends(subject.preset.caps);
  choose_back_ends(options.back_ends, subject.preset.caps, back_ends);
  runtime::Device device = open_device(options, subject.preset, console, back_ends);
  Runner runner(options, subject, sequence, device);
  {
    const ConsoleGuard guard(console, device);
    tool::Progress progress(sequence.invocations(), "invocation", options.data.quiet);
    for (int64_t i = 0; i < sequence.invocations(); ++i) {
      runner.invoke(i, {console, device, back_ends, progress});
      console.show(device);
      progress.step();
    }
  }
  note_unstruck(options, device);
  tool::StagedFiles files;
  if (!options.data.save_state.empty()) workload::write_snapshot(files, options.data.save_state, runner.snapshot());
  const SizedRun run = runner.finish(device, back_ends);
  if (!options.json.empty()) files.write(options.json, to_json_text(run));
  files.commit();
  print(run, sequence);
  if (run.check) require_equal(*run.check, "");
  return 0;
}

void refuse_what_sequences_have(const RunOptions& options) {
  if (!options.specialise) return;
  throw Error(ErrorCode::kBadOption,
              "--specialise bounds the programs of a sequence whose sizes change: add --sequence and give an input a "
              "file for each invocation (several --input, or a folder), or leave it out");
}

}  // namespace npu::cli
