// SPDX-License-Identifier: Apache-2.0
// Checks the structure of a .tosa flatbuffer before anything is read from it. Private to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "driver/graph/reader_budget.h"
#include "driver/graph/tosa_generated.h"

namespace npu::graph {

// The root table, when every offset that a reader of regions, blocks, tensors and operators follows stays inside the
// file. Time is bounded by the file's size and the budget, though lists may overlap. `require_readable` gets the root
// before any region is looked at, when what it says of versions is verified: a later version may make of the others
// what this one calls damaged. Throws Error: file_damaged, budget_exceeded, feature_unsupported for fields that the
// schema lacks, and what `require_readable` throws.
[[nodiscard]] const tosa::TosaGraph& verify_file(std::span<const uint8_t> file, Budget& budget,
                                                 const std::function<void(const tosa::TosaGraph&)>& require_readable);

}  // namespace npu::graph
