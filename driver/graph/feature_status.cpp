// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/feature_status.h"

#include <array>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

struct Feature {
  std::string_view name;
  FeatureStatus status;
};
constexpr std::array<Feature, kFeatureCount> kFeatures = {{
    {"PRO-INT", FeatureStatus::kComplete},
    {"PRO-FP", FeatureStatus::kComplete},
    {"EXT-INT16", FeatureStatus::kComplete},
    {"EXT-INT4", FeatureStatus::kComplete},
    {"EXT-BF16", FeatureStatus::kExperimental},
    {"EXT-FP8E4M3", FeatureStatus::kExperimental},
    {"EXT-FP8E5M2", FeatureStatus::kExperimental},
    {"EXT-FFT", FeatureStatus::kComplete},
    {"EXT-VARIABLE", FeatureStatus::kExperimental},
    {"EXT-CONTROLFLOW", FeatureStatus::kExperimental},
    {"EXT-DYNAMIC", FeatureStatus::kExperimental},
    {"EXT-DOUBLEROUND", FeatureStatus::kComplete},
    {"EXT-INEXACTROUND", FeatureStatus::kExperimental},
    {"PROPOSAL-VARIABLE", FeatureStatus::kProposal},
    {"EXT-SHAPE", FeatureStatus::kExperimental},
}};
constexpr std::array<std::string_view, 3> kStatusNames = {"complete", "experimental", "proposal"};

const Feature& feature_of(Features bit) {
  for (uint32_t i = 0; i < kFeatureCount; ++i) {
    if (bit == 1u << i) {
      return kFeatures[i];
    }
  }
  NPU_CHECK(false);
}

}  // namespace

std::string_view feature_name(Features bit) { return feature_of(bit).name; }
FeatureStatus feature_status(Features bit) { return feature_of(bit).status; }
std::string_view name(FeatureStatus status) { return kStatusNames[static_cast<size_t>(status)]; }

}  // namespace npu::graph
