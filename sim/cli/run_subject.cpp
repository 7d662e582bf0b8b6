// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/compiler/bounds.h"
#include "driver/compiler/schedule.h"
#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "driver/runtime/variable_sizes.h"
#include "driver/specialise/bounded_programs.h"
#include "hw/contract/error.h"
#include "sim/cli/data_options.h"
#include "sim/cli/load_network.h"
#include "sim/cli/sized_sequence.h"
#include "sim/tool/progress.h"
#include "sim/workload/state_file.h"

namespace npu::cli {

using contract::ErrorCode;
using graph::in_quotes;

namespace {

void refuse_what_compiling_decides(const RunOptions& options) {
  for (const auto& [given, name] :
       {std::pair{options.state_in_dram, "--state-in-dram"}, std::pair{options.double_buffer, "--double-buffer"},
        std::pair{options.resident_constants, "--resident-constants"}, std::pair{options.promote, "--promote"},
        std::pair{options.most_iterations.has_value(), "--most-iterations"},
        std::pair{!options.dims.empty(), "--dim"}}) {
    if (!given) continue;
    throw Error(ErrorCode::kBadOption,
                fmt::format("{} is compiled already: {} belongs to npu compile", in_quotes(options.file), name));
  }
  if (options.specialise) {
    throw Error(ErrorCode::kBadOption, fmt::format("{} is compiled, and --specialise bounds programs that npu run "
                                                   "compiles: leave it out",
                                                   in_quotes(options.file)));
  }
}

// Only sizes within bounds are still to be chosen, and files of a sequence bring theirs.
void refuse_shapes(const RunOptions& options, const RunSubject& subject) {
  if (options.data.shapes.empty()) return;
  const bool files = SizedSequence::is_meant(options.data, subject.inputs);
  if (subject.is_sized() && !files) return;
  throw Error(ErrorCode::kBadOption,
              fmt::format("{} is compiled, and its sizes are {}: leave out --shape", in_quotes(options.file),
                          subject.is_sized() ? "those of the file of each invocation" : "fixed"));
}

void refuse_what_needs_the_graph(const RunOptions& options) {
  for (const auto& [given, name] :
       {std::pair{options.check, "--check reference"}, std::pair{options.data.level.has_value(), "--level"},
        std::pair{options.data.strict, "--strict"}}) {
    if (!given) continue;
    throw Error(ErrorCode::kBadOption, fmt::format("{} needs the network, which the compiled program {} does not hold: "
                                                   "name its file with --graph",
                                                   name, in_quotes(options.file)));
  }
}

void require_same_network(const RunSubject& subject, const std::string& file) {
  const std::string sha256 = workload::sha256_of(*subject.graph), &wanted = subject.compiled->network_sha256;
  if (sha256 == wanted) return;
  throw Error(ErrorCode::kBadOption,
              fmt::format("--graph {} is not the network that {} was compiled from: its SHA-256 is {}, not {}; name "
                          "the file {} of then, or compile this one",
                          in_quotes(file), in_quotes(subject.file.string()), sha256, graph::printable(wanted),
                          in_quotes(subject.compiled->network)));
}

// The machine in the file, which the same checks make as one of --config; a file without it leaves it to --config.
presets::Preset machine_of(const program_file::ProgramFile& file, const RunOptions& options) {
  if (options.machine_given) return presets::load_preset(options.machine.config);
  if (file.machine.empty()) {
    throw Error(ErrorCode::kBadOption, fmt::format("{} does not hold the machine that it was compiled for: name it "
                                                   "with --config",
                                                   in_quotes(options.file)));
  }
  return presets::parse_whole_preset(file.machine_name, options.file, file.machine);
}

std::vector<workload::GraphPort> ports_of(const std::vector<compiler::Port>& ports) {
  std::vector<workload::GraphPort> result;
  for (const compiler::Port& port : ports) {
    result.push_back({port.name, port.type, port.shape, port.accepts_unsigned});
    graph::Shape& shape = result.back().shape;
    for (size_t d = 0; d < port.sizes.size(); ++d) {
      if (port.sizes[d] >= 0) shape[d] = -1;
    }
  }
  return result;
}

// The program of one choice of sizes, with estimates of its own.
compiler::Program fixed_program(const std::vector<compiler::Program>& programs, const graph::GivenShapes& sizes,
                                const presets::Preset& preset) {
  compiler::Program fixed = specialise::fixed_program(programs, sizes);
  compiler::estimate(preset.caps, preset.dram, fixed);
  return fixed;
}

// --shape may say how large a variable is, too: that follows from the inputs.
void check_variables(const graph::GivenShapes& shapes, const compiler::Program& fixed) {
  const auto named = [](const auto& all, const auto& name_of, const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const auto& one) { return name_of(one) == name; });
  };
  for (const auto& [name, shape] : shapes) {
    if (named(
            fixed.inputs, [](const compiler::Port& port) { return port.name; }, name) != fixed.inputs.end())
      continue;
    const auto variable = named(
        fixed.variables, [](const compiler::Variable& one) { return one.identity; }, name);
    if (variable == fixed.variables.end() || variable->shape == shape) continue;
    throw Error(ErrorCode::kSizeMismatch,
                fmt::format("variable {} is {} by the sizes of the inputs, but --shape gives {}", in_quotes(name),
                            graph::describe_type(variable->type, variable->shape), graph::to_string(shape)));
  }
}

// One choice of sizes is left of those within bounds, as if it had been compiled for it.
void fix_sizes(const RunOptions& options, RunSubject& subject) {
  const graph::GivenShapes sizes = shapes_of_data(options.data, subject.inputs);
  std::vector<std::string> names;
  for (const workload::GraphPort& input : subject.inputs) names.push_back(input.name);
  for (const compiler::Variable& one : subject.compiled->programs.front().variables) names.push_back(one.identity);
  workload::require_names(names, sizes);
  workload::require_shapes(subject.inputs, sizes);
  compiler::Program fixed = fixed_program(subject.compiled->programs, sizes, subject.preset);
  subject.open_variables = subject.compiled->programs.front().variables;
  check_variables(options.data.shapes, fixed);
  subject.inputs = ports_of(fixed.inputs);
  subject.outputs = ports_of(fixed.outputs);
  subject.compiled->programs = {std::move(fixed)};
}

RunSubject load_compiled(const RunOptions& options) {
  refuse_what_compiling_decides(options);
  if (options.graph.empty()) refuse_what_needs_the_graph(options);
  RunSubject subject;
  subject.file = options.file;
  subject.compiled = program_file::read(options.file);
  const program_file::ProgramFile& compiled = *subject.compiled;
  subject.preset = machine_of(compiled, options);
  program_file::require_device(compiled, subject.preset.caps);
  subject.network_file = compiled.network;
  subject.inputs = ports_of(compiled.programs.front().inputs);
  subject.outputs = ports_of(compiled.programs.front().outputs);
  subject.state_in_dram = compiled.state_in_dram;
  subject.double_buffer = compiled.two_places;
  refuse_shapes(options, subject);
  if (!options.graph.empty()) {
    subject.graph =
        compiled.is_sized() ? load_network(options.data, options.graph) : workload::load_network(options.graph);
    require_same_network(subject, options.graph);
  }
  if (subject.is_sized() && !SizedSequence::is_meant(options.data, subject.inputs)) fix_sizes(options, subject);
  return subject;
}

RunSubject load_graph(const RunOptions& options) {
  if (!options.graph.empty()) {
    static_cast<void>(workload::load_open_network(options.file));  // throws what is wrong with a file that is none
    throw Error(ErrorCode::kBadOption,
                fmt::format("--graph names the network of a compiled program, but {} is a network itself: leave it out",
                            in_quotes(options.file)));
  }
  RunSubject subject;
  subject.file = subject.network_file = options.file;
  subject.preset = presets::load_preset(options.machine.config);
  subject.graph = load_network(options.data, options.file);
  subject.inputs = subject.graph->inputs;
  subject.outputs = subject.graph->outputs;
  subject.state_in_dram = options.state_in_dram;
  subject.double_buffer = options.double_buffer;
  subject.resident_constants = options.resident_constants;
  subject.promote = options.promote;
  subject.most_iterations = options.most_iterations.value_or(graph::kMostIterations);
  return subject;
}

}  // namespace

std::string RunSubject::network_sha256() const {
  return compiled ? compiled->network_sha256 : workload::sha256_of(*graph);
}

std::vector<compiler::Promotion> RunSubject::promotions() const {
  return promote ? compiler::promotions(graph->graph, preset.caps) : std::vector<compiler::Promotion>();
}

compiler::Options RunSubject::compiler_options(bool firmware) const {
  compiler::Options options;
  options.schedule.state_in_dram = state_in_dram;
  options.schedule.two_places = double_buffer;
  options.schedule.resident_constants = resident_constants;
  options.schedule.dram = preset.dram;
  options.firmware = firmware;
  options.most_iterations = most_iterations;
  options.promote_to_fp32 = promote;
  return options;
}

std::vector<compiler::Program> RunSubject::bounded_programs(const RunOptions& options,
                                                            const contract::Capabilities& device) const {
  if (compiled) return compiled->programs;
  tool::Progress progress(1, "compilation", options.data.quiet);
  return compiler::compile_bounds(
      graph->open ? *graph->open : graph->graph, options.dims, device, compiler_options(!options.bypass_firmware),
      [&](uint64_t done, uint64_t all) { progress.part(static_cast<double>(done) / static_cast<double>(all)); });
}

compiler::Program RunSubject::program(const RunOptions& options, const contract::Capabilities& device) const {
  if (compiled) return compiled->programs.front();
  if (options.dims.empty()) return compiler::compile(graph->graph, device, compiler_options(!options.bypass_firmware));
  graph::GivenShapes sizes;
  for (const workload::GraphPort& input : inputs) sizes.emplace(input.name, input.shape);
  return fixed_program(bounded_programs(options, device), sizes, preset);
}

runtime::Snapshot RunSubject::start(const std::string& resume) const {
  if (graph) return workload::start_of(resume, *graph);
  if (resume.empty()) return {};
  runtime::Snapshot snapshot = workload::read_snapshot(resume);
  // Whether the rest fits is found on the device.
  for (runtime::SnapshotVariable& variable : snapshot.variables) {
    const auto declared = [&](const compiler::Variable& one) {
      return one.identity == variable.identity && one.type == variable.type;
    };
    const auto open = std::find_if(open_variables.begin(), open_variables.end(), declared);
    if (open == open_variables.end()) continue;
    const std::vector<compiler::Variable>& all = compiled->programs.front().variables;
    const auto fixed = std::find_if(all.begin(), all.end(), declared);
    if (fixed == all.end()) continue;
    workload::take_size(runtime::sizes_of(*open).shape, fixed->shape, resume, variable);
  }
  return snapshot;
}

RunSubject load_subject(const RunOptions& options) {
  RunSubject subject = workload::is_compiled(options.file) ? load_compiled(options) : load_graph(options);
  if (subject.graph) check_network(options.data, *subject.graph);
  return subject;
}

}  // namespace npu::cli
