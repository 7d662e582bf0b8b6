// SPDX-License-Identifier: Apache-2.0
// A graph that leaves sizes open, compiled once for all sizes within bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/compiler/program.h"
#include "driver/graph/graph.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// Of a size that the graph leaves open, both included.
struct SizeBounds {
  std::string name;  // as `npu info` has it: "x.0" is dimension 0 of input x
  int64_t least = 1, most = 1;
};

// Choices of sizes that one compilation looks at, at most: it makes sure of each of them.
inline constexpr uint64_t kMostChoices = 1 << 14;

// Programs that together are for all sizes within the bounds. The first one whose bounds (Program::sizes) hold given
// sizes is for them. They are few: sizes of which one is 1 often have steps of their own, and small ones are slow in a
// program for large ones. `graph` has passed validate() with Sizes::kMayBeUnknown. `progress`, if any, is told how much
// of all work is done, in parts without a unit.
// Throws Error: bad_option for a bound that is missing, twice, unknown, or wider than a size that the graph decides;
// size_mismatch where no sizes within the bounds fit the graph; budget_exceeded for more than kMostChoices;
// feature_unsupported for sizes that do not follow from those of inputs; and what compile() throws.
[[nodiscard]] std::vector<Program> compile_bounds(
    const graph::Graph& graph, std::span<const SizeBounds> bounds, const contract::Capabilities& capabilities,
    const Options& options = {}, const std::function<void(uint64_t done, uint64_t all)>& progress = {});

// The same program for one choice of sizes, which are fixed then: one a symbol, within its bounds, and as its
// conditions demand. Its estimates stay those of the largest sizes, until estimate() (schedule.h) makes them anew.
[[nodiscard]] Program at_sizes(const Program& program, std::span<const int64_t> sizes);

}  // namespace npu::compiler
