// SPDX-License-Identifier: Apache-2.0
// How one step is cut into tiles: sizes, loop order, and the tile buffers in the scratchpad.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/schedule.h"
#include "driver/compiler/schedule/tiled_step.h"

namespace npu::compiler::backend {

// Where the data of a buffer lives while the steps use it.
enum class Home : uint8_t { kScratchpad, kDram, kPersistent, kConstant };

// What one DMA transfer brings into the scratchpad or takes out of it. Constants of a step that change with the same
// axes are packed together, so that one long run brings them all.
struct Bundle {
  enum class Kind : uint8_t { kConstant, kLoad, kStore, kScratch };  // kScratch: memory without any transfer
  Kind kind = Kind::kLoad;
  bool dram = true;  // else the transfer stays on chip: a layout that the engine cannot walk
  uint32_t axes = 0;
  std::vector<uint32_t> operands;
  int64_t slot_bytes = 0;
  uint32_t slots = 1;  // 2: double buffered
  int64_t moves = 1;   // transfers in all
};

struct TilePlan {
  bool fits = false;
  std::vector<int64_t> size;    // of a tile, one an axis
  std::vector<uint32_t> order;  // axes, outermost loop first
  std::vector<Bundle> bundles;
  std::vector<int32_t> bundle_of;  // one an operand; -1: addressed where it lives
  int64_t bytes = 0;               // of all slots
  int64_t tiles = 1;
  double cycles = 0;        // estimate
  double prologue = 0;      // part of it: the first loads, which an earlier step could hide
  int64_t available = 0;    // bytes that it was made for
  int64_t least_bytes = 0;  // the smallest scratchpad that would do
  std::string largest;      // then the largest operand, for people: "weights, 1280 bytes"
};

inline constexpr int64_t kSlotAlignment = 64;
inline constexpr int64_t kPartAlignment = 16;  // of an operand within a bundle

// With this, equal times take the smaller buffers and leave room for prefetching.
inline constexpr double kByteCycles = 1.0 / 4096;

// What is the same for all steps of a program.
struct PlanSettings {
  const contract::Capabilities& capabilities;
  const ScheduleOptions& options;
  bool fetches = true;               // weigh what fetching commands takes of the port to DRAM; else keep runs long
  double byte_cycles = kByteCycles;  // that a byte of the scratchpad is worth to what else could lie there
};

// What the steps around one do to it.
struct Surroundings {
  double overlap = 0;  // cycles of another engine's step next to this one that could run beside it if both are cut
  double exposed = 1;  // part of the loading of its constants that work of earlier steps cannot hide
};

// The tiling of least estimated time whose tile buffers take at most `available` bytes; `fits` is false when there is
// none. homes: one an operand (of operands without a buffer: kConstant).
[[nodiscard]] TilePlan plan_step(const TiledStep& step, std::span<const Home> homes, int64_t available,
                                 const Surroundings& around, const PlanSettings& settings);

[[nodiscard]] Tile first_tile(const TilePlan& plan);
// All tiles of a plan in execution order.
[[nodiscard]] std::vector<Tile> tiles_of(const TiledStep& step, const TilePlan& plan);

// Where a tile stands on the axes of a bundle: tiles of equal places use the same content.
[[nodiscard]] std::vector<int64_t> place_of(const Bundle& bundle, const Tile& tile);

// Offset of each operand of a bundle in its slot for one tile, and their end.
[[nodiscard]] std::vector<int64_t> parts_of(const TiledStep& step, const Bundle& bundle, const Tile& tile);

}  // namespace npu::compiler::backend
