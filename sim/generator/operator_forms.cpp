// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/operator_forms.h"

#include <algorithm>

#include "driver/graph/operand_check.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::generator {
namespace {

using graph::Features;
using graph::Op;
using graph::RoundingMode;

graph::Operator& own_operator(OperatorSample& sample, Op op) {
  auto& operators = sample.graph.main().operators;
  const auto own = std::find_if(operators.begin(), operators.end(), [&](const auto& one) { return one.op == op; });
  NPU_CHECK(own != operators.end());
  return *own;
}

bool is_legal(const graph::Graph& graph) {
  try {
    graph::validate(graph);
    return true;
  } catch (const Error&) {
    return false;
  }
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

class FormList {
 public:
  void add(const graph::OperatorInfo& entry, const graph::TypeRow* row) {
    OperatorForm form{&entry, row != nullptr ? describe_row(entry, *row) : "", entry.any_of, 0, sample_of(entry, row)};
    if (row != nullptr) form.any_of = row->any_of, form.all_of = row->all_of;
    // The operands of what computes shapes are constants in every version.
    if (!graph::is_shape_operator(entry.op)) add_run_time_operands(form);
    if ((entry.attributes & graph::kHasRescale) != 0) {
      add_rounding(form, RoundingMode::kDoubleRound, graph::kExtDoubleRound, "DOUBLE_ROUND");
      add_rounding(form, RoundingMode::kInexactRound, graph::kExtInexactRound, "INEXACT_ROUND");
    }
    forms_.push_back(std::move(form));
  }

  std::vector<OperatorForm> take() { return std::move(forms_); }

 private:
  // Another one that needs an extension more.
  void add_changed(const OperatorForm& form, OperatorSample sample, Features extension, const std::string& what) {
    if (!is_legal(sample.graph)) return;
    std::string text = form.text.empty() ? what : form.text + ", " + what;
    forms_.push_back({form.info, std::move(text), form.any_of, form.all_of | extension, std::move(sample)});
  }

  // Shapes stay constants: those that operators compute are constants in the form that runs.
  void add_run_time_operands(const OperatorForm& form) {
    OperatorSample sample = form.sample;
    const graph::Operator own = own_operator(sample, form.info->op);
    for (size_t i = 0; i < own.inputs.size(); ++i) {
      const graph::Operand& operand = graph::operand_of(form.info->inputs, i);
      if (!operand.constant || operand.kind == graph::OperandKind::kShape) continue;
      add_changed(form, with_run_time_operand(sample, own.inputs[i]), graph::kExtDynamic,
                  std::string(operand.name).append(" at run time"));
    }
  }

  void add_rounding(const OperatorForm& form, RoundingMode mode, Features extension, const std::string& what) {
    OperatorSample sample = form.sample;
    own_operator(sample, form.info->op).attributes.rounding_mode = mode;
    add_changed(form, std::move(sample), extension, what);
  }

  std::vector<OperatorForm> forms_;
};

}  // namespace

std::vector<OperatorForm> operator_forms() {
  FormList list;
  for (uint32_t i = 1; i < graph::kOpCount; ++i) {
    const graph::OperatorInfo& entry = graph::info(static_cast<Op>(i));
    for (const graph::TypeRow& row : entry.types) list.add(entry, &row);
    if (entry.types.empty()) list.add(entry, nullptr);
  }
  return list.take();
}

}  // namespace npu::generator
