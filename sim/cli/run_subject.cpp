// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_subject.h"

#include <fmt/format.h>

#include <utility>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/data_options.h"
#include "sim/cli/load_network.h"
#include "sim/workload/state_file.h"

namespace npu::cli {

using contract::ErrorCode;
using graph::in_quotes;

namespace {

void refuse_what_compiling_decides(const RunOptions& options) {
  for (const auto& [given, name] :
       {std::pair{options.state_in_dram, "--state-in-dram"}, std::pair{options.double_buffer, "--double-buffer"},
        std::pair{options.resident_constants, "--resident-constants"},
        std::pair{options.most_iterations.has_value(), "--most-iterations"},
        std::pair{!options.dims.empty(), "--dim"}}) {
    if (!given) continue;
    throw Error(ErrorCode::kBadOption,
                fmt::format("{} is compiled, and so part of it or not: {} belongs to npu compile",
                            in_quotes(options.file), name));
  }
  if (options.specialise) {
    throw Error(ErrorCode::kBadOption, fmt::format("{} is compiled, and --specialise bounds programs that npu run "
                                                   "compiles: leave it out",
                                                   in_quotes(options.file)));
  }
  if (options.data.shapes.empty()) return;
  throw Error(ErrorCode::kBadOption, fmt::format("{} is compiled, and its sizes are fixed, or those of its data: leave "
                                                 "out --shape",
                                                 in_quotes(options.file)));
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
  if (options.graph.empty()) return subject;
  subject.graph =
      compiled.is_sized() ? load_network(options.data, options.graph) : workload::load_network(options.graph);
  require_same_network(subject, options.graph);
  return subject;
}

RunSubject load_graph(const RunOptions& options) {
  if (!options.graph.empty()) {
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
  subject.most_iterations = options.most_iterations.value_or(graph::kMostIterations);
  return subject;
}

}  // namespace

std::string RunSubject::network_sha256() const {
  return compiled ? compiled->network_sha256 : workload::sha256_of(*graph);
}

compiler::Options RunSubject::compiler_options(bool firmware) const {
  compiler::Options options;
  options.schedule.state_in_dram = state_in_dram;
  options.schedule.two_places = double_buffer;
  options.schedule.resident_constants = resident_constants;
  options.schedule.dram = preset.dram;
  options.firmware = firmware;
  options.most_iterations = most_iterations;
  return options;
}

compiler::Program RunSubject::program(const contract::Capabilities& device, bool firmware) const {
  if (compiled) return compiled->programs.front();
  return compiler::compile(graph->graph, device, compiler_options(firmware));
}

runtime::Snapshot RunSubject::start(const std::string& resume) const {
  if (graph) return workload::start_of(resume, *graph);
  return resume.empty() ? runtime::Snapshot{} : workload::read_snapshot(resume);
}

RunSubject load_subject(const RunOptions& options) {
  RunSubject subject = workload::is_compiled(options.file) ? load_compiled(options) : load_graph(options);
  if (subject.graph) check_network(options.data, *subject.graph);
  return subject;
}

}  // namespace npu::cli
