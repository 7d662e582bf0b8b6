// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sized_sequence.h"

#include <fmt/format.h>

#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::cli {

using contract::ErrorCode;
using graph::in_quotes;

namespace {

// State goes on from one invocation to the next, so it has one size in all of them.
void check_variables(const graph::Graph& before, const graph::Graph& now) {
  const workload::Declarations declared = workload::declarations_of(before);
  for (const auto& [identity, tensor] : workload::declarations_of(now)) {
    const auto other = declared.find(identity);
    if (other == declared.end() || other->second->shape == tensor->shape) continue;
    throw Error(
        ErrorCode::kVariableMismatch,
        fmt::format("variable {} becomes {}, but was {} in the invocations before: a variable keeps its size, so "
                    "run these sizes without those before, or fix its size with --shape",
                    in_quotes(identity), graph::describe_type(tensor->type, tensor->shape),
                    graph::describe_type(other->second->type, other->second->shape)));
  }
}

// The inputs with the sizes of their files, as far as these are open. Others are refused where elements are read.
std::vector<workload::GraphPort> with_sizes(std::vector<workload::GraphPort> inputs, const graph::GivenShapes& sizes) {
  for (workload::GraphPort& port : inputs) {
    const graph::Shape& given = sizes.at(port.name);
    if (given.size() != port.shape.size()) continue;
    for (size_t d = 0; d < given.size(); ++d) {
      if (port.shape[d] < 0) port.shape[d] = given[d];
    }
  }
  return inputs;
}

}  // namespace

bool SizedSequence::is_meant(const DataOptions& options, const std::vector<workload::GraphPort>& inputs) {
  return options.sequence && workload::FileSequence::is_meant(inputs, options.inputs);
}

SizedSequence::SizedSequence(DataOptions& options, const workload::Network& network)
    : SizedSequence(options, network.inputs, network.outputs) {
  network_ = network;
}

SizedSequence::SizedSequence(DataOptions& options, std::vector<workload::GraphPort> inputs,
                             const std::vector<workload::GraphPort>& outputs)
    : outputs(outputs, options.outputs, options.range.skip),
      options_(options),
      inputs_(std::move(inputs)),
      files_(inputs_, options.inputs, options.range) {
  files_.add_to(options.places);
  this->outputs.add_to(options.places, files_.invocations());
}

SizedSequence::Invocation SizedSequence::prepare(int64_t invocation) {
  Invocation result;
  in_invocation(invocation, [&] {
    const workload::FileSequence::Frame frame = files_.read(invocation);
    result.sizes = with_given_shapes(options_, frame.shapes);
    if (network_ && result.sizes != sizes_) resize(result.sizes);
    result.inputs =
        workload::FileSequence::values(frame, network_ ? network_->inputs : with_sizes(inputs_, frame.shapes));
  });
  return result;
}

void SizedSequence::resize(const graph::GivenShapes& sizes) {
  workload::Network sized = workload::with_sizes(*network_, sizes);
  check_network(options_, sized);
  check_variables(network_->graph, sized.graph);
  network_ = std::move(sized);
  sizes_ = sizes;
}

std::string SizedSequence::in_words(const workload::FileSequence& files, int64_t invocation) {
  return fmt::format("invocation {} ({})", files.first() + invocation, files.files_of(invocation));
}

}  // namespace npu::cli
