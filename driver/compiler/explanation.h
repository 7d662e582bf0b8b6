// SPDX-License-Identifier: Apache-2.0
// What the compiler decided about a program, as plain data for those who explain it (sim/inspect/explain.h). Nothing
// here is needed to run the program, and no decision reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/contract/queues.h"

namespace npu::compiler {

struct Explanation {
  enum class Role : uint8_t {
    kConstants,
    kOperand,
    kResult,
    kRows,  // between fused steps, of which each keeps but the rows that the next one needs
  };

  // Where the bytes of an operand lie while its step runs, apart from tile buffers.
  enum class Home : uint8_t { kScratchpad, kDram, kPersistent, kResident };

  struct Axis {
    std::string name;
    int64_t extent = 1, tile = 1;  // of the largest tile
    [[nodiscard]] int64_t tiles() const { return (extent + tile - 1) / tile; }
  };

  // Why a step is cut into tiles.
  enum class Cut : uint8_t {
    kWhole,    // it is not
    kRoom,     // whole, its tile buffers take more of the scratchpad than there is
    kOverlap,  // so that transfers, or another engine, work beside it
  };

  // Slots in the scratchpad through which tiles of operands come or go.
  struct TileBuffer {
    Role role = Role::kOperand;
    bool dram = true;        // filled from DRAM or stored there; else on the chip
    int64_t slot_bytes = 0;  // 0: constants that stay elsewhere in the scratchpad
    int64_t slots = 1;
    int64_t moves = 1;  // transfers in all
    // Constants that another step's transfer brings (its index), or that are loaded before the loop of this step.
    std::optional<uint32_t> loaded_with, loaded_before;
  };

  struct Operand {
    std::string name;  // of the tensor; empty: the compiler made it
    Role role = Role::kOperand;
    Home home = Home::kDram;
    int64_t bytes = 0;         // that the step reads or writes; of constants that it makes and of rows: of a slot
    int32_t tile_buffer = -1;  // index; -1: the engine works on it where it lies
  };

  struct Step {
    uint32_t index = 0;            // in the compiler's list; some have no entry here: those that others took up
    std::vector<uint32_t> layers;  // of the program; several of fused steps
    std::optional<contract::Engine> engine;  // nullopt: the sequencer
    // Of tile work:
    std::vector<Axis> axes;
    int64_t tiles = 0;
    Cut cut = Cut::kWhole;
    int64_t room = 0;         // bytes that the plan was made for, beside the buffers that live in the scratchpad
    int64_t whole_bytes = 0;  // that its tile buffers would take uncut
    std::vector<Operand> operands;
    std::vector<TileBuffer> tile_buffers;
  };

  // Bytes [address, address + bytes) of the scratchpad that are taken from tick `first` to `last`.
  struct Place {
    std::string name;              // of the tensor; of slots, what they hold
    std::optional<uint32_t> step;  // that has the slot; nullopt: a tensor that lives in the scratchpad
    uint32_t tile_buffer = 0, slot = 0;
    bool joined = false;  // constants of this step and later ones, that one transfer loads
    Role role = Role::kOperand;
    int64_t address = 0, bytes = 0;
    int64_t first = 0, last = 0;
  };

  // Bytes that something asked for in steps [first, last], and did not get: what was free was in too small pieces.
  struct Denied {
    enum class Asked : uint8_t {
      kTiles,   // of step `first`
      kBuffer,  // the buffer
    };
    uint32_t first = 0, last = 0;
    int64_t bytes = 0;
    int64_t lost = 0;    // of them, to fragmentation: free in all of its steps, but not in pieces that would do
    std::string buffer;  // that lives in DRAM for it; empty: step `first` is cut smaller
    Asked asked = Asked::kTiles;
  };

  // A command of the stream that the estimate knows, in order. Those without an entry (begin, yields, end) take the
  // sequencer's time alone.
  struct Command {
    enum class Part : uint8_t { kLoad, kCompute, kStore };
    uint32_t command = 0;  // index in the stream
    uint32_t step = 0;     // Step::index
    Part part = Part::kCompute;
    // Cycles of the job, by the estimate: it is in its FIFO; its engine begins; it would have begun without waiting for
    // constants; its end.
    double issued = 0, started = 0, ready = 0, done = 0;
  };

  int64_t scratchpad_bytes = 0;  // that steps may use: without constants that stay
  int64_t ticks = 1;             // that a step takes; step s begins with tick s * ticks
  uint32_t step_count = 0;       // entries of the compiler's list
  std::vector<Step> steps;
  std::vector<Place> places;
  std::vector<Denied> denied;
  std::vector<Command> commands;
};

}  // namespace npu::compiler
