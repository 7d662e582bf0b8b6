// SPDX-License-Identifier: Apache-2.0
#include "sim/conformance/judge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "driver/graph/analyse.h"
#include "driver/graph/float_format.h"
#include "driver/graph/level.h"
#include "driver/graph/npy.h"
#include "driver/graph/operators.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/reference/reference.h"
#include "sim/tool/process.h"
#include "sim/workload/network.h"

namespace npu::conformance {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

constexpr int kIllegalGraph = contract::exit_status(ErrorCode::kBadArgument);
constexpr int kUnsupportedStatus = contract::exit_status(ErrorCode::kOperatorUnsupported);

Verdict failed(std::string reason) { return {Outcome::kFailed, std::move(reason)}; }
Verdict broken(std::string reason) { return {Outcome::kBroken, std::move(reason)}; }

std::string with_code(const Error& error) { return fmt::format("{} [{}]", error.what(), contract::name(error.code())); }

// What a refusal means for a test. An unpredictable result is no refusal: only an illegal graph is one.
Verdict refused(const ConformanceTest& test, const Error& error) {
  switch (error.code()) {
    case ErrorCode::kCannotRead:
    case ErrorCode::kBadNpy:
    case ErrorCode::kFileDamaged:
      return broken(with_code(error));
    default:
      break;
  }
  if (error.exit_status() == kUnsupportedStatus) return {Outcome::kUnsupported, with_code(error)};
  if (!test.expected_failure) {
    const bool too_small = error.code() == ErrorCode::kDramFull;
    return {too_small ? Outcome::kUnsupported : Outcome::kFailed, with_code(error)};
  }
  if (error.exit_status() == kIllegalGraph) return {};
  return failed("refused, but not as an illegal graph: " + with_code(error));
}

std::vector<graph::Value> read_inputs(const ConformanceTest& test, const workload::Network& network) {
  if (test.inputs.size() != network.inputs.size()) {
    throw Error(ErrorCode::kBadInput, fmt::format("the descriptor lists {} inputs, the network has {}",
                                                  test.inputs.size(), network.inputs.size()));
  }
  std::vector<graph::Value> values;
  for (const workload::GraphPort& port : network.inputs) {
    const auto input = std::find_if(test.inputs.begin(), test.inputs.end(),
                                    [&](const TestInput& candidate) { return candidate.name == port.name; });
    if (input == test.inputs.end()) {
      throw Error(ErrorCode::kBadInput, "the descriptor does not list input " + in_quotes(port.name));
    }
    values.push_back(graph::to_value(graph::read_npy(input->file), port.type, &port.shape, port.is_unsigned,
                                     "input " + in_quotes(port.name)));
  }
  return values;
}

Verdict compare_exactly(const TestOutput& output, const graph::Value& value) {
  graph::Value golden;
  try {
    golden = graph::to_value(graph::read_npy(output.golden), value.type, &value.shape, true,
                             "the golden of " + in_quotes(output.name));
  } catch (const Error& error) {
    // A golden of another type or shape contradicts the result; one that cannot be read says nothing about it.
    return error.code() == ErrorCode::kBadInput ? failed(with_code(error)) : broken(with_code(error));
  }
  const graph::Difference difference = graph::compare(value, golden);
  if (difference.differing == 0) return {};
  return failed(fmt::format("output {}: {} of {} elements differ, the first at index {}", in_quotes(output.name),
                            difference.differing, difference.compared, difference.first));
}

Verdict judge_output(const ConformanceTest& test, const TestOutput& output, const workload::GraphPort& port,
                     const graph::Value& value, OfficialChecker& checker) {
  for (const fs::path& file : {output.golden, output.bounds}) {
    std::error_code ignored;
    if (!file.empty() && !fs::is_regular_file(file, ignored)) {
      return broken("there is no golden " + in_quotes(file.filename().string()));
    }
  }
  if (!graph::float_format(value.type) && (output.mode.empty() || output.mode == "EXACT")) {
    return compare_exactly(output, value);
  }
  if (output.mode.empty()) {
    return broken(
        fmt::format("output {}: the descriptor does not say how to judge floating point", in_quotes(output.name)));
  }
  const fs::path file = checker.new_file();
  graph::write_npy(file, graph::to_npy(value, port.is_unsigned));
  const Verdict verdict = checker.judge(test, output, file);
  std::error_code ignored;
  fs::remove(file, ignored);
  return verdict;
}

Verdict judge_outputs(const ConformanceTest& test, const workload::Network& network,
                      const std::vector<graph::Value>& values, OfficialChecker& checker) {
  if (test.outputs.size() != network.outputs.size()) {
    return failed(fmt::format("the descriptor lists {} outputs, the network has {}", test.outputs.size(),
                              network.outputs.size()));
  }
  for (const TestOutput& output : test.outputs) {
    const auto port = std::find_if(network.outputs.begin(), network.outputs.end(),
                                   [&](const workload::GraphPort& candidate) { return candidate.name == output.name; });
    if (port == network.outputs.end()) return failed("the network has no output " + in_quotes(output.name));
    const auto index = static_cast<size_t>(port - network.outputs.begin());
    Verdict verdict = judge_output(test, output, *port, values[index], checker);
    if (verdict.outcome != Outcome::kPassed) return verdict;
  }
  return {};
}

Verdict run_and_judge(const ConformanceTest& test, const workload::Network& network, const Run& run,
                      OfficialChecker& checker) {
  // The suite is made for level 8K, where nesting that is too deep is an error.
  graph::check_level(network.graph, graph::Level::k8K);
  const std::vector<graph::Value> values = run(network, read_inputs(test, network));
  if (test.expected_failure) return failed("the graph is illegal, but it ran");
  return judge_outputs(test, network, values, checker);
}

// What `body` gives, or what its error means.
template <typename Body>
Verdict guarded(const ConformanceTest& test, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    return refused(test, error);
  } catch (const std::bad_alloc&) {
    return broken("this computer has not enough memory for that");
  }
}

// Those of the first operator of the descriptor's name; networks have others around it.
std::string types_tested(const ConformanceTest& test, const graph::Graph& network) {
  for (const graph::Operator& op : network.main().operators) {
    if (name(op.op) != test.operator_name) continue;
    const graph::TypeRow* row = graph::type_row(network, network.main(), op);
    return row != nullptr ? describe_row(graph::info(op.op), *row) : "";
  }
  return "";
}

// The program itself rather than the script in front of it, which starts Python for each test.
fs::path program_behind(const fs::path& tools) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(tools.parent_path() / "lib", ignored)) {
    const fs::path program = entry.path() / "site-packages" / "bin" / "tosa_verify";
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return tools / "tosa_verify";
}

// The last line that the program wrote, fit for one line.
std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return "it says nothing";
  const size_t start = text.find_last_of('\n', end);
  return in_quotes(text.substr(start + 1, end - start));
}

}  // namespace

OfficialChecker::OfficialChecker() {
  if (const std::optional<fs::path> tools = tool::find_tools({"tosa_verify"})) {
    tools_ = *tools;
    program_ = program_behind(tools_);
  }
}

fs::path OfficialChecker::new_file() { return folder_.path() / fmt::format("{}.npy", next_++); }

Verdict OfficialChecker::judge(const ConformanceTest& test, const TestOutput& output, const fs::path& result) const {
  if (program_.empty()) {
    return broken("the official checker tosa_verify, which judges floating point, is missing; run sim/setup.sh python");
  }
  std::vector<std::string> arguments = {
      program_.string(), "--test_desc=desc.json", "--imp_result_file=" + result.string(),
      "--ref_result_file=" + output.golden.filename().string(), "--ofm_name=" + output.name};
  if (!output.bounds.empty()) arguments.push_back("--bnd_result_file=" + output.bounds.filename().string());
  const tool::ProcessResult process = tool::run_process(arguments, test.folder, tools_);
  constexpr int kCompliant = 0, kNotCompliant = 2;
  if (process.status == kCompliant) return {};
  if (process.status == kNotCompliant) {
    return failed(fmt::format("output {} is not compliant ({}); the official checker says {}", in_quotes(output.name),
                              output.mode, last_line(process.output)));
  }
  return broken(fmt::format("the official checker cannot judge output {}, status {}: {}", in_quotes(output.name),
                            process.status, last_line(process.output)));
}

Run reference_runner() {
  return [](const workload::Network& network, const std::vector<graph::Value>& inputs) {
    reference::Context context;
    return reference::run(network.graph, inputs, context);
  };
}

Verdict judge(const ConformanceTest& test, const Run& run, OfficialChecker& checker) {
  std::string types;
  Verdict verdict = guarded(test, [&] {
    const workload::Network network = workload::load_network(test.network);
    types = types_tested(test, network.declared ? *network.declared : network.graph);
    return run_and_judge(test, network, run, checker);
  });
  verdict.types = std::move(types);
  return verdict;
}

}  // namespace npu::conformance
