// SPDX-License-Identifier: Apache-2.0
// The operators of TOSA with their types, and what the reference and a machine run of them: the content of
// `npu operators`.
#pragma once

#include <string>
#include <vector>

#include "driver/graph/operators.h"
#include "hw/presets/preset.h"
#include "sim/inspect/feature_support.h"

namespace npu::inspect {

// An operator with one combination of types.
struct OperatorRow {
  std::string types;  // empty: any
  std::vector<std::string> any_of, all_of;
  bool reference = false;
  std::string engine, reason;  // of the machine: an engine, or why not
};

// An operator with a row for each of its combinations of types, or one where it takes any.
struct OperatorSupport {
  const graph::OperatorInfo* info = nullptr;
  std::vector<OperatorRow> rows;
};

// All operators, in the order of graph::Op. The smallest network of an operator (sim/generator) decides.
[[nodiscard]] std::vector<OperatorSupport> inspect_operators(const presets::Preset& preset);

// For people; `machine` is its name.
[[nodiscard]] std::string to_text(const std::vector<OperatorSupport>& operators, const std::string& machine);
// As a JSON document in ASCII, the schema npu-operators, with the profiles and extensions.
[[nodiscard]] std::string to_json_text(const std::vector<OperatorSupport>& operators, const std::string& machine,
                                       const std::vector<FeatureSupport>& features);

}  // namespace npu::inspect
