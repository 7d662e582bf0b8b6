// SPDX-License-Identifier: Apache-2.0
#include "tests/system/sized/sized_stream.h"

#include <gtest/gtest.h>

#include <utility>

#include "driver/graph/validate.h"
#include "tests/system/state/networks.h"

namespace npu::test {
namespace {

graph::Graph checked(graph::Graph graph) {
  graph::validate(graph);
  return graph;
}

}  // namespace

SizedStream::SizedStream(runtime::Device& device, const OpenNetwork& network, const graph::Graph& open,
                         const std::vector<compiler::Program>& programs, bool double_buffer)
    : open_(open),
      network_(network),
      context(device.create_context({.zero_init = true, .double_buffer = double_buffer})),
      programs_(context, programs, true) {}

std::vector<graph::Value> SizedStream::run_reference(const Sizes& sizes, std::mt19937& random) {
  const graph::Graph sized = graph::resolve(open_, shapes(sizes));
  start_with_zeros(sized);
  inputs_ = random_inputs(sized, random);
  return reference::run(checked(sized), inputs_, reference);
}

int64_t SizedStream::run(const Sizes& sizes, std::mt19937& random) {
  const std::vector<graph::Value> want = run_reference(sizes, random);
  runtime::Job job = programs_.get(shapes(sizes))->program.create_job();
  for (size_t k = 0; k < inputs_.size(); ++k) job.set_input(k, inputs_[k]);
  static_cast<void>(job.run());
  int64_t compared = 0;
  for (size_t k = 0; k < want.size(); ++k) {
    const graph::Difference difference = graph::compare(job.outputs().at(k), want[k]);
    EXPECT_EQ(difference.differing, 0) << "sizes " << testing::PrintToString(sizes);
    compared += difference.compared;
  }
  return compared + compare_variables();
}

void SizedStream::clear() {
  context.clear();
  reference.variables.clear();
}

contract::ErrorCode SizedStream::error_of(const Sizes& sizes, std::string& message) {
  runtime::Job job = programs_.get(shapes(sizes))->program.create_job();
  const graph::GivenShapes given = shapes(sizes);
  std::mt19937 random(1);
  for (const graph::TensorId id : open_.main().inputs) {
    const graph::Tensor& tensor = open_.main().tensors[id];
    job.set_input(tensor.name, random_value(tensor.type, given.at(tensor.name), random));
  }
  try {
    job.start();
  } catch (const Error& error) {
    message = error.what();
    return error.code();
  }
  return contract::ErrorCode::kOk;
}

graph::GivenShapes SizedStream::shapes(const Sizes& sizes) const {
  graph::GivenShapes given;
  for (const graph::TensorId id : open_.main().inputs) {
    const graph::Tensor& tensor = open_.main().tensors[id];
    graph::Shape shape = tensor.shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      for (size_t i = 0; i < sizes.size(); ++i) {
        if (network_.bounds[i].name == tensor.name + "." + std::to_string(d)) shape[d] = sizes[i];
      }
    }
    given[tensor.name] = shape;
  }
  return given;
}

void SizedStream::start_with_zeros(const graph::Graph& sized) {
  for (const graph::Tensor& tensor : sized.main().tensors) {
    if (!tensor.variable || tensor.has_data) continue;
    const auto bytes = static_cast<size_t>(*graph::element_count(tensor.shape) * graph::machine_width(tensor.type));
    reference::VariableState zeros{{tensor.type, tensor.shape, std::vector<uint8_t>(bytes)}, true};
    reference.variables.emplace(graph::variable_identity(tensor), std::move(zeros));
  }
}

int64_t SizedStream::compare_variables() {
  int64_t compared = 0;
  for (const runtime::VariableInfo& info : context.variables()) {
    const graph::Value got = context.read_variable(info.identity);
    const graph::Difference difference = graph::compare(got, reference.variables.at(info.identity).value);
    EXPECT_EQ(difference.differing, 0) << info.identity;
    EXPECT_EQ(info.shape, got.shape);
    compared += difference.compared;
  }
  return compared;
}

}  // namespace npu::test
