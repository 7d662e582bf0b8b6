// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/operator_support.h"

#include <algorithm>

#include "driver/compiler/compile.h"
#include "driver/compiler/support.h"
#include "hw/contract/error.h"
#include "sim/generator/operator_sample.h"
#include "sim/reference/call.h"
#include "sim/reference/reference.h"

namespace npu::inspect {
namespace {

using contract::ErrorCode;

std::vector<std::string> names_of(graph::Features set) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < graph::kFeatureCount; ++i) {
    if ((set >> i & 1) != 0) names.emplace_back(graph::feature_name(1u << i));
  }
  return names;
}

bool is_refusal(const Error& error) {
  return error.exit_status() == contract::exit_status(ErrorCode::kOperatorUnsupported);
}

bool reference_runs(const generator::OperatorSample& sample) {
  reference::CustomOperators custom;
  custom.add("sample", "copy", [](reference::Call& call) { call.output(0).bytes = call.input(0).bytes; });
  reference::Context context;
  try {
    static_cast<void>(reference::run(sample.graph, sample.inputs, context, {}, {.custom = &custom}));
    return true;
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return false;
  }
}

void ask_machine(const graph::OperatorInfo& entry, const graph::Graph& sample, const presets::Preset& preset,
                 OperatorRow& row) {
  const auto rows = compiler::support(sample, preset.caps);
  const auto own = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == name(entry.op); });
  if (own != rows.end() && !own->ok) {
    row.reason = own->reason;
    return;
  }
  try {
    static_cast<void>(compiler::compile(sample, preset.caps));
    row.engine = own != rows.end() ? own->engine : "constant";
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    row.reason = error.what();
  }
}

OperatorRow row_of(const graph::OperatorInfo& entry, const graph::TypeRow* types, const presets::Preset& preset) {
  OperatorRow row;
  if (types != nullptr) row.types = describe_row(entry, *types);
  row.any_of = names_of(types != nullptr ? types->any_of : entry.any_of);
  row.all_of = names_of(types != nullptr ? types->all_of : 0);
  const generator::OperatorSample sample = generator::sample_of(entry, types);
  row.reference = reference_runs(sample);
  ask_machine(entry, sample.graph, preset, row);
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
