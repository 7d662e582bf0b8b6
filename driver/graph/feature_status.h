// SPDX-License-Identifier: Apache-2.0
// How far the specification stands by its profiles and extensions.
#pragma once

#include <cstdint>
#include <string_view>

#include "driver/graph/operators.h"

namespace npu::graph {

enum class FeatureStatus : uint8_t {
  kComplete,      // final
  kExperimental,  // may change in a later version of the specification
  kProposal,      // not of the specification
};

// "complete", "experimental" or "proposal".
[[nodiscard]] std::string_view name(FeatureStatus status);
// Of one bit. Source: TOSA 1.0.2, the status of profiles and extensions, and for EXT-SHAPE the draft of 1.1.
[[nodiscard]] FeatureStatus feature_status(Features bit);

}  // namespace npu::graph
