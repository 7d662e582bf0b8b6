// SPDX-License-Identifier: Apache-2.0
// Executions that may end with an error of variables, on the device and on the reference, in a context each.
#pragma once

#include <string>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/error.h"
#include "sim/reference/reference.h"

namespace npu::test {

class Both {
 public:
  struct Ends {
    contract::ErrorCode reference = contract::ErrorCode::kOk, device = contract::ErrorCode::kOk;
    std::string text;  // of the device's error
  };

  Both(runtime::Device& device, const runtime::ContextOptions& options = {})
      : device_(device), options_(options), context_(device.create_context(options)) {}

  // Compiles and loads a graph; run() names it by the result. Throws what these throw.
  size_t load(graph::Graph graph);
  Ends run(size_t graph, const std::vector<graph::Value>& inputs);
  // Of the last run of the graph, where both ended well, and of all variables: what differs; empty: nothing. A variable
  // that the reference does not have must have no value on the device.
  [[nodiscard]] std::string difference(size_t graph);
  // Elements that difference() has compared.
  [[nodiscard]] int64_t compared() const { return compared_; }
  [[nodiscard]] const std::vector<graph::Value>& outputs(size_t graph) const { return loaded_.at(graph).job.outputs(); }
  [[nodiscard]] runtime::Context& context() { return context_; }
  [[nodiscard]] reference::Context& state() { return state_; }

 private:
  struct Loaded {
    graph::Graph graph;
    runtime::LoadedProgram program;
    runtime::Job job;
    std::vector<graph::Value> want;
  };

  runtime::Device& device_;
  runtime::ContextOptions options_;
  runtime::Context context_;
  reference::Context state_;
  std::vector<Loaded> loaded_;
  int64_t compared_ = 0;
};

}  // namespace npu::test
