// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/operator_support.h"

#include "sim/generator/operator_sample.h"
#include "sim/inspect/sample_support.h"

namespace npu::inspect {
namespace {

std::vector<std::string> names_of(graph::Features set) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < graph::kFeatureCount; ++i) {
    if ((set >> i & 1) != 0) names.emplace_back(graph::feature_name(1u << i));
  }
  return names;
}

OperatorRow row_of(const graph::OperatorInfo& entry, const graph::TypeRow* types, const presets::Preset& preset) {
  OperatorRow row;
  if (types != nullptr) row.types = describe_row(entry, *types);
  row.any_of = names_of(types != nullptr ? types->any_of : entry.any_of);
  row.all_of = names_of(types != nullptr ? types->all_of : 0);
  const generator::OperatorSample sample = generator::sample_of(entry, types);
  row.reference = reference_runs(sample);
  const MachineAnswer answer = ask_machine(entry.op, sample.graph, preset);
  row.engine = answer.engine;
  row.reason = answer.reason;
  return row;
}

}  // namespace

std::vector<OperatorSupport> inspect_operators(const presets::Preset& preset) {
  std::vector<OperatorSupport> entries;
  for (uint32_t i = 1; i < graph::kOpCount; ++i) {
    OperatorSupport entry{&graph::info(static_cast<graph::Op>(i)), {}};
    for (const graph::TypeRow& types : entry.info->types) entry.rows.push_back(row_of(*entry.info, &types, preset));
    if (entry.info->types.empty()) entry.rows.push_back(row_of(*entry.info, nullptr, preset));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace npu::inspect
