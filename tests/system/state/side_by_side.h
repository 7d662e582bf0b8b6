// SPDX-License-Identifier: Apache-2.0
// A device and the reference that take the same steps: outputs and variables are compared after each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/snapshot.h"
#include "sim/reference/reference.h"

namespace npu::test {

struct Compared {
  int64_t outputs = 0, state = 0, differing = 0;  // elements
  int64_t distinct = 0;                           // different bytes among the outputs: a network that says something
};

// One context on a device and one of the reference. Reports every element that differs as a failure of the test.
class SideBySide {
 public:
  SideBySide(runtime::Device& device, const runtime::ContextOptions& options = {})
      : device_(device), context_(device.create_context(options)) {}

  // Compiles and loads a graph; steps name it by the result.
  size_t load(graph::Graph graph, const compiler::Options& options = {});
  void step(size_t graph, const std::vector<graph::Value>& inputs) {
    run(graph, inputs);
    compare(graph);
  }
  // The two halves of a step: what is between them has seen the job, and not yet the host that reads all variables.
  void run(size_t graph, const std::vector<graph::Value>& inputs);
  // The parts of run(), for jobs that are in flight together: the device's job, its end (throws what Job::wait() does),
  // and the reference's step.
  void start(size_t graph, const std::vector<graph::Value>& inputs, const runtime::JobOptions& options = {});
  runtime::RunResult wait(size_t graph);
  void follow(size_t graph, const std::vector<graph::Value>& inputs);
  void compare(size_t graph);

  // Clears the device's variables and gives them the reference's content, whatever the device held.
  void start_again();

  [[nodiscard]] runtime::Context& context() { return context_; }
  // The content that a variable has now on the reference.
  [[nodiscard]] const graph::Value& state(const std::string& identity) const {
    return reference_.variables.at(identity).value;
  }
  [[nodiscard]] const compiler::Program& program(size_t graph) const { return loaded_.at(graph).program.program(); }
  // Of the last step of a graph.
  [[nodiscard]] const std::vector<graph::Value>& outputs(size_t graph) const { return loaded_.at(graph).job.outputs(); }
  [[nodiscard]] const Compared& compared() const { return compared_; }
  // Prints what was compared; expects that it was something, that nothing differs, and that outputs take `distinct`
  // different bytes at least.
  void report(const std::string& what, int64_t distinct = 8) const;

 private:
  struct Loaded {
    graph::Graph graph;
    runtime::LoadedProgram program;
    runtime::Job job;
    std::vector<graph::Value> want;  // outputs of the last step
  };
  void compare(const graph::Value& got, const graph::Value& want, const std::string& what, int64_t& count);

  runtime::Device& device_;
  runtime::Context context_;
  reference::Context reference_;
  std::vector<Loaded> loaded_;
  Compared compared_;
  std::map<uint8_t, int64_t> bytes_;
  int64_t steps_ = 0;
};

}  // namespace npu::test
