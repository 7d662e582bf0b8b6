// SPDX-License-Identifier: Apache-2.0
// `npu reference`: the software reference with the data options of `npu run`.
#include <cstdio>
#include <optional>
#include <string>

#include "driver/graph/text.h"
#include "sim/cli/command.h"
#include "sim/cli/data_options.h"
#include "sim/cli/load_network.h"
#include "sim/cli/options.h"
#include "sim/cli/sized_sequence.h"
#include "sim/report/table.h"
#include "sim/tool/progress.h"
#include "sim/tool/say.h"
#include "sim/workload/data.h"
#include "sim/workload/network.h"
#include "sim/workload/oracle.h"
#include "sim/workload/state_file.h"

namespace npu::cli {

namespace po = boost::program_options;
using tool::say;

namespace {

constexpr CommandHelp kReferenceHelp = {
    "npu reference FILE [--input [NAME=]FILE.npy]... [options]",
    "Runs a network on the bit-exact software reference, operator by operator as the TOSA specification says.\n"
    "Variables start cleared, or as a run before left them (--resume).",
    "  npu reference net.tosa --input input.npy --outputs out/\n"
    "  npu reference net.tosa --input a=left.npy --input b=right.npy --outputs out/\n"
    "  npu reference wake_word.tosa --input frames.npy --sequence --outputs out/\n"
    "  npu reference wake_word.tosa --input frames.npy --sequence --invocations 20 --save-state s.state\n"
    "  npu reference wake_word.tosa --input frames.npy --sequence --skip 20 --resume s.state --outputs out/\n"
    "  npu reference open.tosa --input frames/ --sequence --outputs out/   (frames/0.npy, 1.npy, ... of any sizes)\n"};

// What is left to do and to say when all invocations have run.
void finish(const DataOptions& data, const workload::Network& network, const runtime::Snapshot& start,
            const workload::Oracle& oracle, int64_t invocations, tool::StagedFiles& files) {
  if (!data.save_state.empty()) {
    workload::write_snapshot(
        files, data.save_state,
        workload::from_reference(oracle.state(), network, start, static_cast<uint64_t>(invocations)));
  }
  files.commit();
  say("reference {} invocation{} of {}\n", report::grouped(static_cast<uint64_t>(invocations)),
      invocations == 1 ? "" : "s", network.path.string());
}

int run_sized(DataOptions& data, const workload::Network& network) {
  SizedSequence sequence(data, network);
  const runtime::Snapshot start = workload::start_of(data.resume, network);
  workload::Oracle oracle(network, data.zero_init, workload::to_reference(start));
  {
    tool::Progress progress(sequence.invocations(), "invocation", data.quiet);
    for (int64_t i = 0; i < sequence.invocations(); ++i) {
      const SizedSequence::Invocation invocation = sequence.prepare(i);
      sequence.outputs.add(oracle.run(sequence.network(), invocation.inputs));
      progress.step();
    }
  }
  tool::StagedFiles files;
  finish(data, network, start, oracle, sequence.invocations(), files);
  for (const workload::GraphPort& port : network.outputs) {
    const std::string written = sequence.outputs.files_of(port.name);
    say("output    {}{}\n", graph::printable(port.name), written.empty() ? "" : " -> " + written);
  }
  if (!data.save_state.empty()) say("state     -> {}\n", data.save_state);
  return 0;
}

}  // namespace

int run_reference(const Arguments& arguments) {
  po::options_description options, hidden;
  po::positional_options_description positional;
  add_data_options(options);
  add_file_and_inputs(hidden, positional);
  const auto values = parse(arguments, kReferenceHelp, options, hidden, positional);
  if (!values) return 0;
  DataOptions data = data_options(*values);
  const workload::Network network =
      load_network(data, required(*values, "file", "the network's FILE", "npu reference"));
  check_network(data, network);
  if (!data.outputs.empty()) tool::check_folder_writable(data.outputs);
  if (SizedSequence::is_meant(data, network.inputs)) return run_sized(data, network);
  workload::add_outputs(data.places, network.outputs, data.outputs);
  const runtime::Snapshot start = workload::start_of(data.resume, network);
  const workload::InputData inputs(network.inputs, data.inputs, data.sequence, data.range);

  workload::Oracle oracle(network, data.zero_init, workload::to_reference(start));
  std::optional<workload::OutputData> outputs;
  if (!data.outputs.empty()) outputs.emplace(network.outputs, inputs.stacked());
  {
    tool::Progress progress(inputs.invocations(), "invocation", data.quiet);
    for (int64_t i = 0; i < inputs.invocations(); ++i) {
      const std::vector<graph::Value> values = oracle.run(inputs.invocation(i));
      if (outputs) outputs->add(values);
      progress.step();
    }
  }
  tool::StagedFiles files;
  if (outputs) outputs->write(files, data.outputs);
  finish(data, network, start, oracle, inputs.invocations(), files);
  for (const workload::GraphPort& port : network.outputs) {
    say("output    {} {}{}\n", graph::printable(port.name), graph::describe_type(port.type, port.shape),
        data.outputs.empty()
            ? ""
            : " -> " + (std::filesystem::path(data.outputs) / (workload::file_name_for(port.name) + ".npy")).string());
  }
  if (!data.save_state.empty()) say("state     -> {}\n", data.save_state);
  return 0;
}

}  // namespace npu::cli
