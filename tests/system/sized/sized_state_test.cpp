// SPDX-License-Identifier: Apache-2.0
// Variables of open size: the first job of a context says how large they are, until they are cleared.
#include <gtest/gtest.h>

#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "tests/system/device/bench.h"
#include "tests/system/sized/open_networks.h"
#include "tests/system/sized/sized_stream.h"
#include "tests/system/state/networks.h"
#include "tests/unit/errors/code_of.h"

namespace npu::test {
namespace {

using contract::ErrorCode;

struct OpenCell {
  OpenNetwork network;
  std::vector<Sizes> sizes;
};

std::vector<Sizes> batches(const std::vector<int64_t>& of) {
  std::vector<Sizes> sizes;
  for (const int64_t batch : of) sizes.push_back({batch});
  return sizes;
}

std::vector<OpenCell> cells() {
  const std::vector<Sizes> ten = batches({1, 2, 3, 5, 7, 8, 11, 13, 15, 16});
  std::vector<OpenCell> all;
  all.push_back({open_state(9, 40), {{1, 1}, {1, 40}, {9, 1}, {2, 3}, {3, 2}, {5, 17}, {8, 39}, {9, 40}}});
  all.push_back(
      {{"gru", with_open_batch(gru_step({.inputs = 12, .units = 20}, Precision::kInt8, 5)), {{"x.0", 1, 16}}}, ten});
  if (const std::optional<Network> lstm = zoo_network("lstm_step_int8")) {
    all.push_back({{"lstm", with_open_batch(lstm->graph), {{"TosaInput_0.0", 1, 16}}}, ten});
  }
  return all;
}

class SizedState : public testing::TestWithParam<std::string> {
 protected:
  // Calls `test` for each cell with its open graph and programs.
  template <typename Test>
  void for_each_cell(const Test& test) {
    for (const OpenCell& cell : cells()) {
      SCOPED_TRACE(cell.network.name);
      graph::Graph open = cell.network.graph;
      graph::validate(open, graph::Sizes::kMayBeUnknown);
      test(cell, open, compiler::compile_bounds(open, cell.network.bounds, device_.capabilities()));
    }
  }

  runtime::Device device_ = open_device(options(GetParam()));
  std::mt19937 random_{1};
};

TEST_P(SizedState, IsAsLargeAsTheFirstJobSays) {
  for_each_cell([&](const OpenCell& cell, const graph::Graph& open, const std::vector<compiler::Program>& programs) {
    int64_t compared = 0;
    for (const Sizes& sizes : cell.sizes) {
      SizedStream stream(device_, cell.network, open, programs);
      for (int i = 0; i < 3; ++i) compared += stream.run(sizes, random_);
    }
    std::cout << cell.network.name << ": " << programs.size() << " programs; 0 differing of " << compared
              << " elements of outputs and variables at " << cell.sizes.size() << " sizes\n";
  });
}

TEST_P(SizedState, KeepsItsSizeUntilItIsCleared) {
  for_each_cell([&](const OpenCell& cell, const graph::Graph& open, const std::vector<compiler::Program>& programs) {
    SizedStream stream(device_, cell.network, open, programs);
    for (size_t i = 0; i < 2; ++i) {
      const Sizes &sizes = cell.sizes.at(i + 1), &others = cell.sizes.at(i + 2);
      stream.run(sizes, random_);
      std::string message;
      EXPECT_EQ(stream.error_of(others, message), ErrorCode::kVariableMismatch) << message;
      for (const runtime::VariableInfo& info : stream.context.variables()) {
        EXPECT_EQ(info.largest.size(), info.shape.size());
        EXPECT_GE(info.room, info.bytes);
      }
      stream.run(sizes, random_);
      stream.clear();
    }
  });
}

TEST_P(SizedState, HasTwoPlacesOfItsSize) {
  for_each_cell([&](const OpenCell& cell, const graph::Graph& open, const std::vector<compiler::Program>&) {
    compiler::Options two_places;
    two_places.schedule.two_places = true;
    const auto programs = compiler::compile_bounds(open, cell.network.bounds, device_.capabilities(), two_places);
    for (const size_t i : {0, 2, 5}) {
      SizedStream stream(device_, cell.network, open, programs, true);
      for (int k = 0; k < 3; ++k) stream.run(cell.sizes.at(static_cast<size_t>(i)), random_);
    }
  });
}

TEST_P(SizedState, GoesOnFromASnapshot) {
  for_each_cell([&](const OpenCell& cell, const graph::Graph& open, const std::vector<compiler::Program>& programs) {
    SizedStream from(device_, cell.network, open, programs), to(device_, cell.network, open, programs);
    const Sizes &sizes = cell.sizes.at(3), &others = cell.sizes.at(4);
    from.run(sizes, random_);
    to.run(others, random_);
    const std::vector<uint8_t> file = runtime::serialise(from.context.snapshot());
    const runtime::Snapshot snapshot = runtime::parse_snapshot(file);
    EXPECT_EQ(snapshot, from.context.snapshot());
    to.context.restore(snapshot);
    to.reference = from.reference;
    to.run(sizes, random_);
    std::string message;
    EXPECT_EQ(to.error_of(others, message), ErrorCode::kVariableMismatch) << message;
  });
}

// Streams of one graph with programs for sizes within other bounds.
struct TwoBounds {
  explicit TwoBounds(runtime::Device& on) : device(on) {}

  [[nodiscard]] std::vector<compiler::Program> programs_of(const OpenNetwork& network) const {
    graph::validate(open, graph::Sizes::kMayBeUnknown);
    return compiler::compile_bounds(open, network.bounds, device.capabilities());
  }

  runtime::Device& device;
  const OpenNetwork large = open_state(9, 40), small = open_state(4, 40);
  const graph::Graph open = large.graph;
  const std::vector<compiler::Program> large_programs = programs_of(large), small_programs = programs_of(small);
  SizedStream of_large{device, large, open, large_programs}, of_small{device, small, open, small_programs};
};

TEST_P(SizedState, OfASnapshotMustBeWithinTheBounds) {
  TwoBounds two(device_);
  SizedStream &from = two.of_large, &to = two.of_small;
  from.run({5, 7}, random_);
  to.run({4, 7}, random_);
  EXPECT_EQ(code_of([&] { to.context.restore(from.context.snapshot()); }), ErrorCode::kSizeOutOfBounds);
  to.run({4, 7}, random_);
}

TEST_P(SizedState, IsOpenAgainWhereASnapshotHasNoValue) {
  TwoBounds two(device_);
  SizedStream &from = two.of_large, &to = two.of_small;
  from.run({5, 7}, random_);
  to.run({4, 7}, random_);
  runtime::Snapshot cleared = from.context.snapshot();
  cleared.variables.front().is_written = false;
  cleared.variables.front().bytes.clear();
  to.context.restore(cleared);
  to.reference.variables.clear();
  EXPECT_EQ(to.context.variables().front().shape, (graph::Shape{-1, -1}));
  to.run({3, 2}, random_);
  to.run({3, 2}, random_);
}

TEST_P(SizedState, IsAsLargeAsTheHostSays) {
  const OpenNetwork network = open_state(9, 40);
  graph::Graph open = network.graph;
  graph::validate(open, graph::Sizes::kMayBeUnknown);
  const auto programs = compiler::compile_bounds(open, network.bounds, device_.capabilities());
  SizedStream stream(device_, network, open, programs);
  stream.load({2, 2});
  const std::vector<runtime::VariableInfo> before = stream.context.variables();
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(before.front().shape, (graph::Shape{-1, -1}));
  EXPECT_EQ(before.front().largest, (graph::Shape{9, 40}));
  EXPECT_EQ(before.front().room, 360U);
  EXPECT_EQ(code_of([&] { static_cast<void>(stream.context.read_variable("kept")); }), ErrorCode::kVariableUnwritten);
  const graph::Value value = random_value(graph::DType::kInt8, {3, 4}, random_);
  const graph::Value large = random_value(graph::DType::kInt8, {10, 4}, random_);
  EXPECT_EQ(code_of([&] { stream.context.write_variable("kept", large); }), ErrorCode::kVariableMismatch);
  stream.context.write_variable("kept", value);
  stream.reference.variables["kept"] = {value, true};
  std::string message;
  EXPECT_EQ(stream.error_of({2, 2}, message), ErrorCode::kVariableMismatch) << message;
  stream.run({3, 4}, random_);
}

TEST_P(SizedState, IsThatOfAProgramOfFixedSizes) {
  const OpenNetwork network = open_state(9, 40);
  graph::Graph open = network.graph;
  graph::validate(open, graph::Sizes::kMayBeUnknown);
  const auto programs = compiler::compile_bounds(open, network.bounds, device_.capabilities());
  graph::Graph sized = graph::resolve(open, {{"x", {3, 4}}});
  graph::validate(sized);
  const compiler::Program fixed = compiler::compile(sized, device_.capabilities(), {});
  SizedStream stream(device_, network, open, programs);
  std::string message;
  {
    // What it declares may be smaller than what others need.
    const runtime::LoadedProgram loaded = stream.context.load(fixed);
    EXPECT_EQ(stream.context.variables().front().shape, (graph::Shape{3, 4}));
    EXPECT_EQ(stream.error_of({2, 4}, message), ErrorCode::kVariableMismatch);
    EXPECT_EQ(message,
              "variable 'kept' is INT8[3, 4] until it is cleared, but INT8[2, 4] by the sizes of this job; give inputs "
              "of the size that it has, or clear it first (in a snapshot: npu state clear).");
    stream.run({3, 4}, random_);
  }
  stream.clear();
  stream.run({9, 40}, random_);
  EXPECT_EQ(code_of([&] { static_cast<void>(stream.context.load(fixed)); }), ErrorCode::kVariableMismatch);
  stream.run({9, 40}, random_);
}

INSTANTIATE_TEST_SUITE_P(Machines, SizedState, testing::Values("edge", "nano"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace npu::test
