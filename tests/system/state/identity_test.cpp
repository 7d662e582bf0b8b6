// SPDX-License-Identifier: Apache-2.0
// Variables that their files give no name, in contexts that several files share.
#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <random>

#include "driver/graph/builder.h"
#include "driver/graph/reader.h"
#include "driver/graph/writer.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

// A file that adds its input to a variable without a name, as some exporters write it: every such file has the tensors
// that any other has. `start` is the initial value.
std::vector<uint8_t> nameless_file(int start) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kInt32, {4});
  const graph::TensorId state = b.variable("state", graph::DType::kInt32, {4}, {{static_cast<double>(start)}});
  const graph::TensorId sum = b.add(b.read(state), x);
  b.write(state, sum);
  b.output(sum, "y");
  graph::Graph graph = b.build();
  for (graph::Tensor& tensor : graph.main().tensors) tensor.variable_name.clear();
  return graph::serialize(graph);
}

graph::Graph read(const std::vector<uint8_t>& file) {
  return graph::parse_tosa(std::make_shared<const std::vector<uint8_t>>(file), "a file");
}

TEST(Identity, NamelessVariablesAreTheirFilesOwn) {
  constexpr uint32_t kSeed = 3;
  std::cout << "seed " << kSeed << "\n";
  std::mt19937 random(kSeed);
  runtime::Device device = open_device(options("edge"));
  SideBySide both(device);
  const graph::Graph one = read(nameless_file(1000)), other = read(nameless_file(-1000));
  const size_t first = both.load(one), second = both.load(other), again = both.load(read(nameless_file(1000)));
  std::vector<int32_t> sums = {1000, -1000};
  for (int step = 0; step < 48 && !HasFailure(); ++step) {
    const auto value = static_cast<uint8_t>(random() % 100);
    graph::Value x{graph::DType::kInt32, {4}, std::vector<uint8_t>(16)};
    for (size_t i = 0; i < 16; i += 4) x.bytes[i] = value;
    const size_t program = std::vector{first, second, again}[random() % 3];
    both.step(program, {x});
    // What the rule says, beside what device and reference agree on.
    int32_t& sum = sums[program == second ? 1 : 0];
    sum += value;
    int32_t got = 0;
    std::memcpy(&got, both.outputs(program)[0].bytes.data(), sizeof(got));
    EXPECT_EQ(got, sum) << "program " << program << " in step " << step;
  }
  EXPECT_EQ(both.context().variables().size(), 2U) << "one for each file, however often it is loaded";
  both.report("two files without names in one context");
}

}  // namespace
}  // namespace npu::test
