// SPDX-License-Identifier: Apache-2.0
// Presets whose RTL was built.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hw/contract/error.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::rtl {

// Their names.
[[nodiscard]] std::span<const char* const> built_presets();

// The sizes of one's blocks; all else is 0. Throws npu::Error (bad_preset) for others.
[[nodiscard]] contract::Capabilities sizes_of(std::string_view preset);

[[noreturn]] inline void no_such_preset(std::string_view preset) {
  std::string names;
  for (const char* name : built_presets()) names += (names.empty() ? "" : ", ") + std::string(name);
  throw Error(contract::ErrorCode::kBadPreset, "the RTL of preset '" + std::string(preset) +
                                                   "' was not built; there is RTL for " + names +
                                                   " (NPU_RTL_PRESETS in cmake/verilated.cmake)");
}

// The wrapper of one's block, made of its sizes and `args`. Throws as sizes_of does.
template <class Block, class Nano, class Edge, class... Args>
[[nodiscard]] std::unique_ptr<Block> make_of_preset(std::string_view preset, Args&&... args) {
  const contract::Capabilities sizes = sizes_of(preset);
  if (preset == "nano") return std::make_unique<Nano>(sizes, std::forward<Args>(args)...);
  return std::make_unique<Edge>(sizes, std::forward<Args>(args)...);
}

}  // namespace npu::rtl
