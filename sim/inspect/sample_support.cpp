// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/sample_support.h"

#include <algorithm>

#include "driver/compiler/compile.h"
#include "driver/compiler/support.h"
#include "hw/contract/error.h"
#include "sim/reference/call.h"
#include "sim/reference/reference.h"

namespace npu::inspect {
namespace {

using contract::ErrorCode;

bool is_refusal(const Error& error) {
  return error.exit_status() == contract::exit_status(ErrorCode::kOperatorUnsupported);
}

}  // namespace

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

MachineAnswer ask_machine(graph::Op op, const graph::Graph& sample, const presets::Preset& preset) {
  const auto rows = compiler::support(sample, preset.caps);
  const auto own = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name(op); });
  if (own != rows.end() && !own->ok) return {"", own->reason};
  try {
    static_cast<void>(compiler::compile(sample, preset.caps));
    return {own != rows.end() ? own->engine : "constant", ""};
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return {"", error.what()};
  }
}

}  // namespace npu::inspect
