// SPDX-License-Identifier: Apache-2.0
// The engine interface: one tile in, result bytes and a schedule of memory beats out. Plain C++, no SystemC.
// Implemented by the model (mxu_model.h, vpu_model.h) and by back ends that clock RTL (sim/cosim); called by hw/model's
// units.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/memory_view.h"
#include "hw/engine/tile.h"

namespace npu::engine {

enum class Port : uint8_t { kActivation, kWeight, kParameter, kOperand, kResult };

// A run of equal memory accesses: `beats` accesses of `bytes` each, the k-th at cycle start + k * interval and at
// byte offset address + k * step of its region (first resolved byte = address.offset). A stream that is read again and
// again starts over after `wrap` bytes: with wrap != 0 the offset is (k * step) % wrap.
struct BeatRun {
  Port port;
  Access access;
  contract::Address address;
  int64_t step = 0;
  uint32_t beats = 0;
  uint32_t bytes = 0;
  uint64_t start = 0;
  uint32_t interval = 1;
  int64_t wrap = 0;
};

// Cycles of a schedule that a device hands over to memory at once: within them, beats are late together.
inline constexpr uint64_t kChunkCycles = 256;

struct TileResult {
  contract::ErrorCode error = contract::ErrorCode::kOk;
  uint64_t cycles = 0;  // with ideal memory: fill + steady + drain
  uint64_t fill = 0, steady = 0, drain = 0;
  uint64_t macs = 0;
  std::vector<BeatRun> beats;  // empty when the caller asked for function only
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Computes the tile on the bytes that `memory` resolves; with `timed` false, cycles and beats stay 0 and empty.
  // Errors in the result: fault_bad_command for another engine's tile, and what resolve_box() refuses.
  virtual TileResult run(const Tile& tile, MemoryView& memory, bool timed) = 0;
  // Of words that are still to be checked.
  TileResult run(std::span<const uint32_t> command, MemoryView& memory, bool timed);
};

// What an engine answers when it computes nothing.
[[nodiscard]] inline TileResult refused(contract::ErrorCode error) {
  TileResult result;
  result.error = error;
  return result;
}

inline TileResult Engine::run(std::span<const uint32_t> command, MemoryView& memory, bool timed) {
  Tile tile;
  const contract::ErrorCode error = parse_tile(command, tile);
  return error == contract::ErrorCode::kOk ? run(tile, memory, timed) : refused(error);
}

}  // namespace npu::engine
