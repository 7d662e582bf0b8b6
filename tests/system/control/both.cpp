// SPDX-License-Identifier: Apache-2.0
#include "tests/system/control/both.h"

#include <fmt/format.h>

#include "driver/graph/validate.h"
#include "tests/unit/errors/code_of.h"

namespace npu::test {

using contract::ErrorCode;

size_t Both::load(graph::Graph graph) {
  graph::validate(graph);
  compiler::Options compiling;
  compiling.schedule.two_places = options_.double_buffer;
  runtime::LoadedProgram program = context_.load(compiler::compile(graph, device_.capabilities(), compiling));
  runtime::Job job = program.create_job();
  loaded_.push_back({std::move(graph), std::move(program), std::move(job), {}});
  return loaded_.size() - 1;
}

Both::Ends Both::run(size_t graph, const std::vector<graph::Value>& inputs) {
  Loaded& loaded = loaded_.at(graph);
  Ends ends;
  ends.reference = code_of([&] { loaded.want = reference::run(loaded.graph, inputs, state_); });
  for (size_t i = 0; i < inputs.size(); ++i) loaded.job.set_input(i, inputs[i]);
  ends.device = code_of([&] { static_cast<void>(loaded.job.run()); }, &ends.text);
  return ends;
}

std::string Both::difference(size_t graph) {
  const auto differs = [&](const graph::Value& got, const graph::Value& want) {
    const graph::Difference difference = graph::compare(got, want);
    compared_ += difference.compared;
    return difference.differing;
  };
  const Loaded& loaded = loaded_.at(graph);
  const std::vector<graph::Value> got = loaded.job.outputs();
  for (size_t i = 0; i < loaded.want.size(); ++i) {
    if (const int64_t count = differs(got.at(i), loaded.want[i]); count > 0) {
      return fmt::format("{} elements of output {} differ", count, i);
    }
  }
  for (const runtime::VariableInfo& info : context_.variables()) {
    const auto known = state_.variables.find(info.identity);
    const bool written = known != state_.variables.end() && known->second.is_written;
    if (info.is_written != written) return fmt::format("only one side has a value of variable {}", info.identity);
    if (!written) continue;
    const graph::Value value = context_.read_variable(info.identity);
    if (const int64_t count = differs(value, known->second.value); count > 0) {
      return fmt::format("{} elements of variable {} differ", count, info.identity);
    }
  }
  return {};
}

}  // namespace npu::test
