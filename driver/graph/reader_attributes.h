// SPDX-License-Identifier: Apache-2.0
// The part of the reader that knows what each attribute table holds. Private to this folder.
#pragma once

#include "driver/graph/graph.h"
#include "driver/graph/reader_budget.h"
#include "driver/graph/tosa_generated.h"

namespace npu::graph {

// Copies the fields of attribute table `table` of a verified operator. Throws Error(bad_argument) with only the reason
// (the caller adds where) when a table that has fields is missing, or for an enum value that the format does not
// define.
void decode_attributes(const tosa::TosaOperator& op, tosa::Attribute table, Budget& budget, Attributes& out);

}  // namespace npu::graph
