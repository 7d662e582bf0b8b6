// SPDX-License-Identifier: Apache-2.0
// Writes .tosa files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::graph {

struct WriteOptions {
  // VARIABLE, VARIABLE_READ and VARIABLE_WRITE under their own numbers instead of as IDENTITY, which is how exporters
  // write them and the only form that the official reference model reads.
  bool variable_opcodes = false;
};

// The bytes of a file. Reading them gives the same graph, but for the order of tensors: shapes come last.
// Throws Error(budget_exceeded) for more than a file can hold (2 GiB).
[[nodiscard]] std::vector<uint8_t> serialize(const Graph& graph, const WriteOptions& options = {});

// Throws Error: budget_exceeded, cannot_write; nothing half-written stays.
void write_tosa(const std::filesystem::path& path, const Graph& graph, const WriteOptions& options = {});

}  // namespace npu::graph
