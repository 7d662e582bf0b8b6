// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/side_by_side.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "driver/graph/validate.h"

namespace npu::test {

size_t SideBySide::load(graph::Graph graph, const compiler::Options& options) {
  graph::validate(graph);
  runtime::LoadedProgram program = context_.load(compiler::compile(graph, device_.capabilities(), options));
  runtime::Job job = program.create_job();
  loaded_.push_back({std::move(graph), std::move(program), std::move(job), {}});
  return loaded_.size() - 1;
}

void SideBySide::run(size_t graph, const std::vector<graph::Value>& inputs) {
  follow(graph, inputs);
  start(graph, inputs);
  static_cast<void>(wait(graph));
}

void SideBySide::start(size_t graph, const std::vector<graph::Value>& inputs, const runtime::JobOptions& options) {
  Loaded& loaded = loaded_.at(graph);
  loaded.job = loaded.program.create_job(options);
  for (size_t i = 0; i < inputs.size(); ++i) loaded.job.set_input(i, inputs[i]);
  loaded.job.start();
}

runtime::RunResult SideBySide::wait(size_t graph) {
  runtime::Job& job = loaded_.at(graph).job;
  EXPECT_TRUE(job.wait(std::chrono::hours(1)));
  return job.result();
}

void SideBySide::follow(size_t graph, const std::vector<graph::Value>& inputs) {
  Loaded& loaded = loaded_.at(graph);
  loaded.want = reference::run(loaded.graph, inputs, reference_);
}

void SideBySide::compare(size_t graph) {
  const std::vector<graph::Value>& want = loaded_.at(graph).want;
  const std::vector<graph::Value>& got = outputs(graph);
  ASSERT_EQ(got.size(), want.size());
  const std::string when = " after step " + std::to_string(steps_++);
  for (size_t i = 0; i < want.size(); ++i) {
    compare(got[i], want[i], "output " + std::to_string(i) + when, compared_.outputs);
    for (const uint8_t byte : got[i].bytes) ++bytes_[byte];
  }
  for (const auto& [identity, state] : reference_.variables) {
    if (state.is_written) compare(context_.read_variable(identity), state.value, identity + when, compared_.state);
  }
  compared_.distinct = static_cast<int64_t>(bytes_.size());
}

void SideBySide::start_again() {
  runtime::Snapshot snapshot;
  for (const auto& [identity, state] : reference_.variables) {
    runtime::SnapshotVariable variable;
    variable.identity = identity;
    variable.type = state.value.type;
    variable.shape = state.value.shape;
    variable.is_written = state.is_written;
    if (state.is_written) variable.bytes = state.value.bytes;
    snapshot.variables.push_back(std::move(variable));
  }
  context_.clear();
  context_.restore(snapshot);
}

void SideBySide::compare(const graph::Value& got, const graph::Value& want, const std::string& what, int64_t& count) {
  const graph::Difference difference = graph::compare(got, want);
  EXPECT_EQ(difference.differing, 0) << what << ", first at element " << difference.first;
  count += difference.compared;
  compared_.differing += difference.differing;
}

void SideBySide::report(const std::string& what, int64_t distinct) const {
  EXPECT_GT(compared_.outputs, 0) << what;
  EXPECT_GT(compared_.state, 0) << what;
  EXPECT_EQ(compared_.differing, 0) << what;
  EXPECT_GE(compared_.distinct, distinct) << what << ": the outputs say too little";
  std::cout << what << ": " << compared_.differing << " of " << compared_.outputs << " output and " << compared_.state
            << " state elements differ over " << steps_ << " steps\n";
}

}  // namespace npu::test
