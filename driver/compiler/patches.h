// SPDX-License-Identifier: Apache-2.0
// Notes what of a command only the loader knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "driver/compiler/program.h"

namespace npu::compiler {

// Of a command that stands at word `start` of the stream.
template <typename Command>
void add_patches(const Command& command, size_t start, std::vector<Patch>& patches) {
  for_each_variable(command, [&](const contract::PlacedField& place, uint32_t variable) {
    patches.push_back({static_cast<uint32_t>(start + place.word), place.field, Patch::Source::kVariable, variable});
  });
}

}  // namespace npu::compiler
