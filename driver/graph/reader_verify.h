// SPDX-License-Identifier: Apache-2.0
// Checks the structure of a .tosa flatbuffer before anything is read from it. Private to this folder.
#pragma once

#include <cstdint>
#include <span>

#include "driver/graph/reader_budget.h"
#include "driver/graph/tosa_generated.h"

namespace npu::graph {

// The root table, when every offset that a reader of regions, blocks, tensors and operators follows stays inside the
// file. Time is bounded by the file's size and the budget, though lists may overlap. Throws Error: file_damaged,
// budget_exceeded.
[[nodiscard]] const tosa::TosaGraph& verify_file(std::span<const uint8_t> file, Budget& budget);

}  // namespace npu::graph
