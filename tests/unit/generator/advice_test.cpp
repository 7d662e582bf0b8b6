// SPDX-License-Identifier: Apache-2.0
// Where the compiler says that `npu reference` runs what the device does not, the reference runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "driver/compiler/support.h"
#include "driver/graph/builder.h"
#include "driver/graph/operand_check.h"
#include "driver/graph/validate.h"
#include "hw/presets/preset.h"
#include "sim/generator/operator_sample.h"
#include "sim/reference/reference.h"

namespace npu::generator {
namespace {

using graph::Op;

// Whether something is refused with that advice; what is has to run on the reference.
bool is_sent_to_reference(const OperatorSample& sample) {
  const auto rows = compiler::support(sample.graph, presets::load_preset("edge").caps);
  const bool sent = std::any_of(rows.begin(), rows.end(), [](const compiler::SupportRow& row) {
    return !row.ok && row.way_out.find("npu reference") != std::string::npos;
  });
  if (!sent) return false;
  reference::Context context;
  EXPECT_NO_THROW(static_cast<void>(reference::run(sample.graph, sample.inputs, context)));
  return true;
}

// The sample with an operand that is a constant as an input, which EXT-DYNAMIC allows.
OperatorSample with_run_time_operand(OperatorSample sample, graph::TensorId id) {
  graph::Block& block = sample.graph.main();
  sample.inputs.push_back(graph::value_of_constant(block.tensors[id]));
  block.tensors[id].data = {};
  block.tensors[id].has_data = false;
  std::erase_if(block.operators, [&](const graph::Operator& op) { return op.outputs == std::vector{id}; });
  block.inputs.push_back(id);
  return sample;
}

template <typename Visit>
void for_each_sample(Visit visit) {
  for (uint32_t i = 1; i < graph::kOpCount; ++i) {
    const graph::OperatorInfo& entry = graph::info(static_cast<Op>(i));
    for (const graph::TypeRow& row : entry.types) {
      SCOPED_TRACE(std::string(name(entry.op)) + " " + describe_row(entry, row));
      visit(entry, sample_of(entry, &row));
    }
    if (!entry.types.empty()) continue;
    SCOPED_TRACE(name(entry.op));
    visit(entry, sample_of(entry, nullptr));
  }
}

TEST(Advice, TheReferenceRunsTheOperatorsThatAreSentToIt) {
  int sent = 0;
  for_each_sample(
      [&](const graph::OperatorInfo&, const OperatorSample& sample) { sent += is_sent_to_reference(sample) ? 1 : 0; });
  EXPECT_GT(sent, 0);
}

TEST(Advice, TheReferenceRunsTheRunTimeOperandsThatAreSentToIt) {
  int sent = 0;
  for_each_sample([&](const graph::OperatorInfo& entry, const OperatorSample& sample) {
    const graph::Block& block = sample.graph.main();
    const auto own = std::find_if(block.operators.begin(), block.operators.end(),
                                  [&](const graph::Operator& op) { return op.op == entry.op; });
    for (size_t i = 0; own != block.operators.end() && i < own->inputs.size(); ++i) {
      const graph::Operand& operand = graph::operand_of(entry.inputs, i);
      if (!operand.constant || operand.kind == graph::OperandKind::kShape) continue;
      const OperatorSample changed = with_run_time_operand(sample, own->inputs[i]);
      ASSERT_NO_THROW(graph::validate(changed.graph)) << operand.name;
      sent += is_sent_to_reference(changed) ? 1 : 0;
    }
  });
  EXPECT_GT(sent, 0);
}

TEST(Advice, TheReferenceRunsWindowsThatAreSentToIt) {
  graph::GraphBuilder b;
  b.output(b.max_pool2d(b.input("x", graph::DType::kInt8, {1, 70001, 1, 1}), {70000, 1}, {1, 1}, {0, 0, 0, 0}));
  OperatorSample sample{b.build(), {}};
  sample.inputs.push_back({graph::DType::kInt8, {1, 70001, 1, 1}, std::vector<uint8_t>(70001, 3)});
  EXPECT_TRUE(is_sent_to_reference(sample));
}

}  // namespace
}  // namespace npu::generator
