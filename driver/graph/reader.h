// SPDX-License-Identifier: Apache-2.0
// Reads .tosa files: TOSA 1.0, and 1.1 files that use only what 1.0 has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::graph {

// Reads a file of at most 2 GiB. The graph is well formed as data (names resolved, constants as long as their types
// say) but not validated: see validate.h. Variables stored as IDENTITY become kVariableRead and kVariableWrite; shapes
// become tensors of type kShape behind the block's tensors; a variable without variable_name gets that of the VARIABLE
// operator that declares it, else one that no other file has. Throws Error: cannot_read; file_damaged;
// version_unsupported, also for a file that asks for a later reader; unknown_operator; feature_unsupported for what
// only later versions have, fields of tables that the schema lacks among them; bad_structure for names that do not
// resolve or occur twice; bad_argument for attributes that are not the operator's; bad_type, bad_shape, bad_data for
// tensors; budget_exceeded for more than the reader's limits.
[[nodiscard]] Graph read_tosa(const std::filesystem::path& path);

// The same for bytes in memory, which the graph keeps and points into. `name` is for messages.
[[nodiscard]] Graph parse_tosa(std::shared_ptr<const std::vector<uint8_t>> file, std::string_view name);

}  // namespace npu::graph
