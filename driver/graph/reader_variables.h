// SPDX-License-Identifier: Apache-2.0
// Gives every variable of a file an identity. Private to this folder.
#pragma once

#include <cstdint>
#include <span>

#include "driver/graph/graph.h"
#include "driver/graph/reader_budget.h"

namespace npu::graph {

// Sets the variable_name of variable tensors that have none. Tensors of one name are one variable in all blocks. It is
// known by the name of the VARIABLE operator that declares it; without one, by the checksum of the file's bytes and the
// tensor's name: the same in every process that reads this file, and no other file's (exporters call the tensors of
// every network Variable_0, Variable_1, ...). Throws Error(budget_exceeded).
void name_variables(Graph& graph, std::span<const uint8_t> file, Budget& budget);

}  // namespace npu::graph
