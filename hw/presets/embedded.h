// SPDX-License-Identifier: Apache-2.0
// The preset files as the build found them; embedded.cpp is generated from *.yaml by CMakeLists.txt.
#pragma once

#include <span>
#include <string_view>

namespace npu::presets {

struct EmbeddedPreset {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const EmbeddedPreset> embedded_presets();

}  // namespace npu::presets
