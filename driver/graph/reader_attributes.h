// SPDX-License-Identifier: Apache-2.0
// The part of the reader that knows what each attribute table holds. Private to this folder.
#pragma once

#include <string>

#include "driver/graph/graph.h"
#include "driver/graph/reader_budget.h"
#include "driver/graph/tosa_generated.h"
#include "hw/contract/error.h"

namespace npu::graph {

// An enum value that the schema does not define.
class UnknownValue : public Error {
 public:
  explicit UnknownValue(const std::string& reason) : Error(contract::ErrorCode::kBadArgument, reason) {}
};

// Copies the fields of attribute table `table` of a verified operator. Throws with only the reason (the caller adds
// where): Error(bad_argument) when a table that has fields is missing; UnknownValue.
void decode_attributes(const tosa::TosaOperator& op, tosa::Attribute table, Budget& budget, Attributes& out);

}  // namespace npu::graph
