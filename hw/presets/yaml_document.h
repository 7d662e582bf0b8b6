// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>

namespace npu::presets {

// The only document of a text; nullopt where there is none or a second one. YAML::LoadAll takes all memory for texts
// such as "," from which yaml-cpp makes documents without end. Throws YAML::Exception for what is not YAML.
[[nodiscard]] std::optional<YAML::Node> only_document(const std::string& text);

}  // namespace npu::presets
