// SPDX-License-Identifier: Apache-2.0
// The engine interface: one tile in, result bytes and its memory ports at work out. Plain C++, no SystemC.
// Implemented by the model (mxu_model.h, vpu_model.h) and by back ends that clock RTL (sim/cosim); called by hw/model's
// units.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/memory_view.h"
#include "hw/engine/tile.h"
#include "hw/engine/tile_ports.h"
#include "hw/timing/cycles.h"

namespace npu::engine {

struct TileResult {
  contract::ErrorCode error = contract::ErrorCode::kOk;
  uint64_t cycles = 0;  // with ideal memory: fill + steady + drain
  uint64_t fill = 0, steady = 0, drain = 0;
  uint64_t macs = 0;
  TilePorts ports;  // without a schedule when the caller asked for function only

  void set_time(const timing::Cycles& time, TilePorts at_work) {
    cycles = time.total();
    fill = time.fill;
    steady = time.steady;
    drain = time.drain;
    ports = std::move(at_work);
  }
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Computes the tile on the bytes that `memory` resolves; with `timed` false, cycles stay 0, and ports empty.
  // Errors in the result: fault_bad_command for another engine's tile, and what resolve_box() refuses.
  virtual TileResult run(const Tile& tile, MemoryView& memory, bool timed) = 0;
  // The same, but may leave the result's bytes to finish(), if there is no error. The tile has to stay where it is.
  virtual TileResult start(const Tile& tile, MemoryView& memory, bool timed) { return run(tile, memory, timed); }
  // What start() left. In any thread, as long as no other one touches the tile's bytes or this engine; throws nothing.
  virtual void finish() {}
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
