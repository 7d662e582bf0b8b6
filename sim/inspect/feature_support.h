// SPDX-License-Identifier: Apache-2.0
// Which profiles and extensions of TOSA the reference and machines run whole: part of `npu operators` and `npu doctor`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "driver/graph/feature_status.h"
#include "hw/presets/preset.h"

namespace npu::inspect {

// What one of them runs.
struct FeatureCoverage {
  std::string runner;                // "reference", or a machine's name
  std::vector<std::string> missing;  // "RESCALE: input INT8, output INT8, shift at run time", ...
};

// What a profile allows, or an extension by itself or beside a profile or another extension: the rows of the table of
// operators; of EXT-DYNAMIC those with an operand at run time, of EXT-DOUBLEROUND and EXT-INEXACTROUND those of RESCALE
// with that rounding.
struct FeatureSupport {
  std::string feature, with;  // "EXT-VARIABLE" with "PRO-INT"; nothing for what needs no other
  graph::FeatureStatus status = graph::FeatureStatus::kComplete;
  size_t rows = 0;
  std::vector<FeatureCoverage> runners;  // the reference, then the machines
};

// In the order of graph::Features. The smallest network of a row decides.
[[nodiscard]] std::vector<FeatureSupport> inspect_features(const std::vector<presets::Preset>& machines);
// The machines that come with the program; with `other`, too, where it is none of them.
[[nodiscard]] std::vector<presets::Preset> machines_with(const presets::Preset& other);
[[nodiscard]] std::vector<presets::Preset> built_in_machines();

// For people: a table, and what is missing.
[[nodiscard]] std::string to_text(const std::vector<FeatureSupport>& features);
// A list of objects.
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<FeatureSupport>& features);

}  // namespace npu::inspect
