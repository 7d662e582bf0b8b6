// SPDX-License-Identifier: Apache-2.0
// The levels of the specification: how large arguments may be for a result that every implementation of the level
// gives. Source: TOSA 1.0 specification, "Levels".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/graph/graph.h"
#include "hw/contract/error.h"

namespace npu::graph {

enum class Level : uint8_t { kNone, k8K };

struct LevelLimits {
  std::string_view name;  // "none", "8K"
  int64_t rank, kernel, stride, scale, log2_size, nesting, list, shape;
};
[[nodiscard]] const LevelLimits& limits(Level level);
// The level of a name, in any case; nullopt for others.
[[nodiscard]] std::optional<Level> level_from_name(std::string_view name);

// Iterations of a loop that reference and device allow where nothing else is said. No level bounds them.
inline constexpr uint32_t kMostIterations = 10'000'000;

// What the levels bound of an operator: "kernel", "stride", ...; ranks, sizes and nesting are bounded everywhere.
struct LevelBound {
  std::string_view quantity;
  int64_t LevelLimits::*most;
};
[[nodiscard]] std::vector<LevelBound> level_bounds(Op op);

// What is above a level, in words; empty when the level allows the graph. The graph must be validated.
struct LevelExcess {
  std::string text;
  // Ranks and nesting are errors of the graph (bad_shape, bad_structure); all others make its result unpredictable.
  contract::ErrorCode code = contract::ErrorCode::kRequireFailed;
};
[[nodiscard]] std::vector<LevelExcess> above(const Graph& graph, Level level);

// Throws Error for the first thing above the level, with its code.
void check_level(const Graph& graph, Level level);

}  // namespace npu::graph
