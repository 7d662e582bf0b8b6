// SPDX-License-Identifier: Apache-2.0
// Functions of one size or two that operators on shapes have, and relations of sizes, in 64 bits with sign. They have
// the contract's numbers: where sizes stay open until a job starts, the device computes the same (size_table). Source:
// the draft of the TOSA 1.1 specification, "Shape Operators".
#pragma once

#include <cstdint>

#include "hw/contract/gen/commands.h"

namespace npu::graph {

using contract::SizeOperation;
using contract::SizeRelation;

// Of operations but kConstant, which is none of sizes.
[[nodiscard]] inline bool is_unary(SizeOperation function) {
  return function == SizeOperation::kExp2 || function == SizeOperation::kLog2Floor ||
         function == SizeOperation::kLog2Ceil;
}
[[nodiscard]] inline bool is_unary(SizeRelation relation) {
  return relation == SizeRelation::kPowerOfTwo || relation == SizeRelation::kDefined;
}

// Undefined: what has to hold instead, in words.
struct SizeResult {
  int64_t value = 0;
  const char* undefined = nullptr;
};

// A function of one size takes `a`. kQuotient is no operator's: of a RESHAPE, it is the size that the others leave.
[[nodiscard]] SizeResult apply(SizeOperation function, int64_t a, int64_t b);

// Whether a relation holds of sizes that are defined.
[[nodiscard]] bool related(SizeRelation relation, int64_t left, int64_t right);

}  // namespace npu::graph
