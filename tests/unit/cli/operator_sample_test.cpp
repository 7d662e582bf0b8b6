// SPDX-License-Identifier: Apache-2.0
// Every row of the operator table has a sample, whose operator uses just that row.
#include "sim/cli/operator_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "driver/graph/analyse.h"

namespace npu::cli {
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
  for (uint32_t i = 1; i < graph::kOpCount; ++i) {
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

}  // namespace
}  // namespace npu::cli
