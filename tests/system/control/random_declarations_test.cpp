// SPDX-License-Identifier: Apache-2.0
// Random graphs whose blocks declare variables anywhere, several invocations each: the device ends as the reference
// does, with the same outputs and variables, or with an error of variables where that does.
//
// NPU_RANDOM_DECLARATIONS says how many graphs, from seed NPU_CONTROL_SEED on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <random>
#include <set>

#include "sim/generator/random_control.h"
#include "tests/system/control/both.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::test {
namespace {

using contract::ErrorCode;

constexpr int kInvocations = 5;

struct DeclaringMachine {
  const char* preset;
  bool two_places;
};

class RandomDeclarations : public testing::TestWithParam<DeclaringMachine> {
 protected:
  // What is wrong with a graph; empty: nothing.
  std::string problem_of(uint32_t seed) {
    const graph::Graph graph =
        generator::random_control(seed, {.operators = static_cast<int>(2 + seed % 7), .declares_anywhere = true});
    std::mt19937 random(seed);
    runtime::ContextOptions options;
    options.double_buffer = GetParam().two_places;
    Both both(device_, options);
    const size_t loaded = both.load(graph);
    for (int invocation = 0; invocation < kInvocations; ++invocation) {
      std::vector<graph::Value> inputs;
      for (const graph::TensorId id : graph.main().inputs) {
        const graph::Tensor& tensor = graph.main().tensors[id];
        inputs.push_back(compiler::testing::random_value(tensor.type, tensor.shape, random));
      }
      const Both::Ends ends = both.run(loaded, inputs);
      ++ends_[ends.reference];
      // The device leaves reads without use out, and may meet another error first.
      if (ends.reference == ErrorCode::kVariableUnwritten) return {};
      if (ends.reference != ErrorCode::kOk) {
        same_ += ends.device == ends.reference ? 1 : 0;
        if (kErrors.contains(ends.device)) return {};
      }
      if (ends.reference != ErrorCode::kOk || ends.device != ErrorCode::kOk) {
        return fmt::format("invocation {}: the reference ends with {}, the device with {}: {}", invocation,
                           contract::name(ends.reference), contract::name(ends.device), ends.text);
      }
      const std::string difference = both.difference(loaded);
      if (!difference.empty()) return fmt::format("invocation {}: {}", invocation, difference);
    }
    compared_ += both.compared();
    return {};
  }

  inline static const std::set<ErrorCode> kErrors = {ErrorCode::kVariableUndeclared, ErrorCode::kVariableRedeclared,
                                                     ErrorCode::kVariableUnwritten};

  runtime::Device device_ = open_graph_device(presets::load_preset(GetParam().preset));
  std::map<ErrorCode, uint32_t> ends_;  // of the reference
  uint32_t same_ = 0;                   // errors that the device calls the same
  int64_t compared_ = 0;
};

TEST_P(RandomDeclarations, EndAsOnTheReference) {
  const uint32_t first = number_from("NPU_CONTROL_SEED", 1), count = number_from("NPU_RANDOM_DECLARATIONS", 250);
  ASSERT_GT(count, 0U);
  std::cout << "seeds " << first << " to " << first + count - 1 << " (NPU_CONTROL_SEED, NPU_RANDOM_DECLARATIONS)\n";
  for (uint32_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    EXPECT_EQ(problem_of(seed), "") << "seed " << seed;
  }
  const uint32_t undeclared = ends_[ErrorCode::kVariableUndeclared], redeclared = ends_[ErrorCode::kVariableRedeclared];
  std::cout << compared_ << " elements compared; executions: " << ends_[ErrorCode::kOk] << " well, " << undeclared
            << " undeclared, " << redeclared << " redeclared, " << ends_[ErrorCode::kVariableUnwritten]
            << " unwritten; the device calls " << same_ << " errors the same\n";
  EXPECT_GT(compared_, 0);
  if (count < 100) return;  // a few may be of any kind
  EXPECT_GT(ends_[ErrorCode::kOk], count / 2);
  EXPECT_GT(undeclared, count / 20);
  EXPECT_GT(redeclared, count / 50);
  EXPECT_GT(same_, (undeclared + redeclared) * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomDeclarations,
                         testing::Values(DeclaringMachine{"edge", false}, DeclaringMachine{"nano", true}),
                         [](const auto& info) {
                           return fmt::format("{}{}", info.param.preset, info.param.two_places ? "_two_places" : "");
                         });

}  // namespace
}  // namespace npu::test
