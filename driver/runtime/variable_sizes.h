// SPDX-License-Identifier: Apache-2.0
// Sizes of variables. Programs for sizes within bounds leave some open: the first job that declares the variable binds
// them, and so does a value from the host, until the variable is cleared.
#pragma once

#include <cstdint>
#include <string>

#include "driver/compiler/program.h"
#include "driver/graph/graph.h"

namespace npu::runtime {

// A dimension that nothing has bound so far.
inline constexpr int64_t kOpenSize = -1;

struct VariableSizes {
  graph::Shape shape;    // kOpenSize where a dimension is open
  graph::Shape largest;  // that there is room for; of the same rank

  friend bool operator==(const VariableSizes&, const VariableSizes&) = default;
};

// As a program declares it.
[[nodiscard]] VariableSizes sizes_of(const compiler::Variable& variable);
[[nodiscard]] bool has_open(const graph::Shape& shape);
// `shape`, with sizes of `largest` where it is open.
[[nodiscard]] graph::Shape filled(const VariableSizes& sizes);

// Whether one variable can have both: what is bound is equal, or has room in the other.
[[nodiscard]] bool agree(const VariableSizes& a, const VariableSizes& b);
// What both together leave open, and need room for. They agree.
[[nodiscard]] VariableSizes merged(const VariableSizes& a, const VariableSizes& b);

// "INT8[5, 16]", or "INT8[up to 64, 16]" where a dimension is open.
[[nodiscard]] std::string describe(graph::DType type, const VariableSizes& sizes);

}  // namespace npu::runtime
