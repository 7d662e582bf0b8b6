// SPDX-License-Identifier: Apache-2.0
// Every row of the operator table has a sample, whose operator uses just that row.
#include "sim/generator/operator_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "driver/graph/analyse.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::generator {
namespace {

using graph::Op;

void expect_row(const graph::OperatorInfo& entry, const graph::TypeRow* row) {
  SCOPED_TRACE(std::string(name(entry.op)) + " " + (row != nullptr ? describe_row(entry, *row) : ""));
  const OperatorSample sample = sample_of(entry, row);
  const graph::Block& block = sample.graph.main();
  EXPECT_EQ(sample.inputs.size(), block.inputs.size());
  const auto own = std::find_if(block.operators.begin(), block.operators.end(),
                                [&](const graph::Operator& op) { return op.op == entry.op; });
  ASSERT_NE(own, block.operators.end());
  EXPECT_EQ(graph::type_row(sample.graph, block, *own), row);
}

TEST(OperatorSample, UsesItsRowOfTheTable) {
  for (uint32_t i = 1; i < graph::kTensorOpCount; ++i) {
    const graph::OperatorInfo& entry = graph::info(static_cast<Op>(i));
    for (const graph::TypeRow& row : entry.types) expect_row(entry, &row);
    if (entry.types.empty()) expect_row(entry, nullptr);
  }
}

TEST(OperatorSample, RowsOfAnOperatorDifferInWords) {
  for (uint32_t i = 1; i < graph::kOpCount; ++i) {
    const graph::OperatorInfo& entry = graph::info(static_cast<Op>(i));
    std::set<std::string> texts;
    for (const graph::TypeRow& row : entry.types) texts.insert(describe_row(entry, row));
    EXPECT_EQ(texts.size(), entry.types.size()) << name(entry.op);
  }
}

TEST(OperatorSample, NamesTypesByTheirOperands) {
  const graph::OperatorInfo& convolution = graph::info(Op::kConv2d);
  EXPECT_EQ(describe_row(convolution, convolution.types[1]), "input INT8, weight INT4, output INT32, acc_type INT32");
  EXPECT_EQ(describe_row(graph::info(Op::kAdd), graph::info(Op::kAdd).types[0]), "INT32");
  EXPECT_EQ(describe_row(graph::info(Op::kConst), graph::info(Op::kConst).types[0]), "BOOL");
}

// The exit status of what validation says; 0 for a legal graph.
int status_of(const graph::Graph& graph) {
  try {
    graph::validate(graph);
    return 0;
  } catch (const Error& error) {
    return error.exit_status();
  }
}

// The shape operand whose numbers are sizes or factors; none of PAD, where 0 is legal.
std::optional<size_t> sizes_operand(Op op) {
  if (op == Op::kReshape || op == Op::kTile || op == Op::kResize) return 0;
  return op == Op::kSlice ? std::optional<size_t>(1) : std::nullopt;
}

// Each returns how many graphs it tried.
int expect_no_empty_tensor(const graph::OperatorInfo& entry, const graph::Graph& good) {
  int tried = 0;
  for (size_t t = 0; t < good.main().tensors.size(); ++t) {
    const graph::Tensor& tensor = good.main().tensors[t];
    for (size_t d = 0; d < tensor.shape.size(); ++d, ++tried) {
      graph::Graph bad = good;
      bad.main().tensors[t].shape[d] = 0;
      // In a variable a size of 0 is how exporters write an unknown one.
      EXPECT_EQ(status_of(bad), tensor.variable ? 3 : 2)
          << name(entry.op) << ", dimension " << d << " of " << tensor.name;
    }
  }
  return tried;
}

int expect_no_step_of_0(const graph::OperatorInfo& entry, const graph::Graph& good) {
  struct Steps {
    std::vector<int32_t> graph::Attributes::*list;
    graph::AttributeSet bit;
  };
  int tried = 0;
  for (const Steps& steps : {Steps{&graph::Attributes::kernel, graph::kHasKernel},
                             {&graph::Attributes::stride, graph::kHasStride},
                             {&graph::Attributes::dilation, graph::kHasDilation}}) {
    if ((entry.attributes & steps.bit) == 0) continue;
    const auto& operators = good.main().operators;
    const auto own =
        std::find_if(operators.begin(), operators.end(), [&](const auto& op) { return op.op == entry.op; });
    for (size_t d = 0; d < (own->attributes.*steps.list).size(); ++d, ++tried) {
      graph::Graph bad = good;
      (bad.main().operators[static_cast<size_t>(own - operators.begin())].attributes.*steps.list)[d] = 0;
      EXPECT_EQ(status_of(bad), 2) << name(entry.op) << ", a kernel, stride or dilation";
    }
  }
  return tried;
}

int expect_no_factor_of_0(const graph::OperatorInfo& entry, const graph::Graph& good) {
  static constexpr std::array<uint8_t, 64> kZeros{};
  std::optional<size_t> index = sizes_operand(entry.op);
  if (!index) return 0;
  graph::Graph bad = good;
  for (graph::Tensor& tensor : bad.main().tensors) {
    if (tensor.type != graph::DType::kShape || (*index)-- != 0) continue;
    tensor.data = std::span(kZeros).first(tensor.data.size());
  }
  EXPECT_EQ(status_of(bad), 2) << name(entry.op) << ", sizes or factors";
  return 1;
}

// No dimension, window or factor may be 0, whichever operator and tensor has it: the graph is refused before anything
// computes with it.
TEST(OperatorSample, WithASizeOf0IsIllegal) {
  int tensors = 0, steps = 0, factors = 0;
  for (uint32_t i = 1; i < graph::kTensorOpCount; ++i) {
    const graph::OperatorInfo& entry = graph::info(static_cast<Op>(i));
    const graph::Graph good = sample_of(entry, entry.types.empty() ? nullptr : entry.types.data()).graph;
    ASSERT_EQ(status_of(good), 0) << name(entry.op);
    tensors += expect_no_empty_tensor(entry, good);
    steps += expect_no_step_of_0(entry, good);
    factors += expect_no_factor_of_0(entry, good);
  }
  EXPECT_GT(tensors, 200);
  EXPECT_GE(steps, 20);  // of four convolutions and two poolings
  EXPECT_EQ(factors, 4);
}

}  // namespace
}  // namespace npu::generator
