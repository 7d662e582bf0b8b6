// SPDX-License-Identifier: Apache-2.0
// The commands of a program in the order in which their effects must appear, and the constants that they load.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/compiler/schedule/layout.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler::backend {

struct Command {
  enum class Part : uint8_t { kLoad, kCompute, kStore };  // a copy is kCompute
  Body body;
  Part part = Part::kCompute;
  uint32_t step = 0;  // of the module
  // What it is for, and which of several commands for that; ascending as emit() makes them. The same in streams of
  // other sizes that are emitted on one grid.
  uint32_t place = 0, number = 0;
};

// Whether it loads constants into a tile buffer.
[[nodiscard]] bool loads_constants(const Command& command);

struct Stream {
  // Queue and layer are set, tokens are not. A label has its number as `index`, a branch that of its label as `target`
  // and `target_index`: where they lie is known when the stream is encoded.
  std::vector<Command> commands;
  std::vector<uint8_t> constants;
  std::vector<int64_t> layer_tiles;  // compute commands, one a layer
};

struct Emission {
  bool contents = true;   // else the constants stay empty, and their offsets mean nothing: enough to estimate the time
  bool resident = false;  // constants are read where they stay, in region `resident`, and not loaded
  // Of the same steps for the largest sizes, which `layout` was made for: tiles begin where theirs begin, and have
  // their slots; those that begin behind the end of this module's are left out. Null: those of `layout`.
  const Analysis* grid = nullptr;
  const Module* grid_module = nullptr;  // that they are of
};

[[nodiscard]] Stream emit(const Module& module, const Layout& layout, const contract::Capabilities& capabilities,
                          const Emission& how);

}  // namespace npu::compiler::backend
