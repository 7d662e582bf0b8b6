// SPDX-License-Identifier: Apache-2.0
// Sizes as the graph has them (graph/dim.h) in a program's table of sizes.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "driver/compiler/size_table.h"
#include "driver/graph/dim.h"

namespace npu::compiler {

// Adds expressions to a table, each once.
class SizeExpressions {
 public:
  // `symbols`: those of the table, in its order. Both must outlive the object.
  SizeExpressions(std::span<const graph::SymbolId> symbols, SizeTable& table) : symbols_(symbols), table_(table) {}

  // The number of a value. Throws Error(argument_unsupported) for what the table has no form for, or no room.
  uint16_t number_of(const graph::Dim& dim);

 private:
  uint16_t constant(int64_t value);
  uint16_t factor(const graph::Dim::Factor& factor);
  uint16_t term(const graph::Dim::Term& term);
  uint16_t add(contract::SizeOperation operation, uint16_t a, int32_t immediate);

  std::span<const graph::SymbolId> symbols_;
  SizeTable& table_;
  std::map<graph::Dim, uint16_t> numbers_;
};

}  // namespace npu::compiler
