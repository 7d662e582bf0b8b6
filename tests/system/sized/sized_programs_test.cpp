// SPDX-License-Identifier: Apache-2.0
// Programs that were compiled for sizes within bounds, run at many of them by the firmware, against the reference.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "driver/compiler/bounds.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "hw/presets/preset.h"
#include "sim/reference/reference.h"
#include "tests/system/device/bench.h"
#include "tests/system/sized/open_networks.h"
#include "tests/system/state/networks.h"

namespace npu::test {
namespace {

using compiler::Program;
using Sizes = std::vector<int64_t>;

bool is_for(const Program& program, const Sizes& sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& symbol = program.sizes.symbols[i];
    if (sizes[i] < symbol.least || sizes[i] > symbol.most) return false;
  }
  return true;
}

Sizes random_sizes(const OpenNetwork& network, std::mt19937& random) {
  Sizes sizes;
  for (const compiler::SizeBounds& bounds : network.bounds) {
    sizes.push_back(std::uniform_int_distribution<int64_t>(bounds.least, bounds.most)(random));
  }
  return sizes;
}

// One invocation at sizes after the other: the state goes on.
void run_at_random_sizes(const OpenNetwork& network, runtime::Device& device, int invocations, uint32_t seed) {
  SCOPED_TRACE(network.name);
  std::mt19937 random(seed);
  graph::Graph open = network.graph;
  graph::validate(open, graph::Sizes::kMayBeUnknown);
  const std::vector<Program> programs = compiler::compile_bounds(open, network.bounds, device.capabilities());
  size_t rules = 0, words = 0;
  for (const Program& program : programs) {
    for (const auto& rule : program.sizes.rules) {
      ++rules;
      words += rule.words.size();
    }
  }
  runtime::Context context = device.create_context();
  std::vector<runtime::LoadedProgram> loaded;
  for (const Program& program : programs) loaded.push_back(context.load(program));
  reference::Context state;
  int64_t compared = 0;
  for (int i = 0; i < invocations; ++i) {
    const Sizes sizes = random_sizes(network, random);
    size_t number = 0;
    while (number < programs.size() && !is_for(programs[number], sizes)) ++number;
    ASSERT_LT(number, programs.size());
    const Program fixed = compiler::at_sizes(programs[number], sizes);
    graph::GivenShapes given;
    std::vector<graph::Value> inputs;
    for (const compiler::Port& port : fixed.inputs) {
      given[port.name] = port.shape;
      inputs.push_back(random_value(port.type, port.shape, random));
    }
    graph::Graph sized = graph::resolve(open, given);
    graph::validate(sized);
    const std::vector<graph::Value> want = reference::run(sized, inputs, state);
    runtime::Job job = loaded[number].create_job();
    for (size_t k = 0; k < inputs.size(); ++k) job.set_input(k, inputs[k]);
    static_cast<void>(job.run());
    for (size_t k = 0; k < want.size(); ++k) {
      const graph::Difference difference = graph::compare(job.outputs().at(k), want[k]);
      compared += difference.compared;
      ASSERT_EQ(difference.differing, 0) << "sizes " << testing::PrintToString(sizes);
    }
  }
  std::cout << network.name << ": " << programs.size() << " programs, " << rules << " rules for " << words
            << " words; 0 differing of " << compared << " elements at " << invocations << " sizes (seed " << seed
            << ")\n";
}

class SizedPrograms : public testing::TestWithParam<std::string> {};

TEST_P(SizedPrograms, AreEqualToTheReferenceAtRandomSizes) {
  runtime::Device device = open_device(options(GetParam()));
  for (const OpenNetwork& network : open_networks()) run_at_random_sizes(network, device, 40, 1);
}

TEST_P(SizedPrograms, OfATransformerTakeSequencesOfAnyLength) {
  const std::optional<Network> transformer = zoo_network("transformer_relu_int8");
  if (!transformer) GTEST_SKIP() << "needs the folder of networks";
  const OpenNetwork network{"transformer", open_up(transformer->graph, 32, 1), {{"TosaInput_0.1", 1, 48}}};
  runtime::Device device = open_device(options(GetParam()));
  run_at_random_sizes(network, device, 12, 1);
}

INSTANTIATE_TEST_SUITE_P(Machines, SizedPrograms, testing::Values("edge", "nano"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace npu::test
