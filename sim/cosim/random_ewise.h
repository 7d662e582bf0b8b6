// SPDX-License-Identifier: Apache-2.0
// Random element-wise tiles of the VPU.
#pragma once

#include <cstdint>
#include <string>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "sim/cosim/made_tile.h"
#include "sim/cosim/random.h"

namespace npu::cosim {

// A command whose operands have their places; the memory is not filled yet.
struct EwisePlan {
  contract::VpuEwiseCommand command;
  int64_t bytes = 0;      // of the scratchpad
  bool floats = false;    // some of the types and operations are of floating point
  bool tame = false;      // small values and shifts: few results wrap or meet the ends of their type
  bool in_place = false;  // the first result takes the place of an operand
  bool long_program = false;

  [[nodiscard]] int64_t elements() const;
  [[nodiscard]] std::string kind() const;
};

// Random programs over random iteration spaces: every micro-operation and type (of floating point with `floats` alone),
// with broadcast, gaps, reversal, tables and per-channel parameters. Operands 0 to 2 are a parameter block with an
// entry a channel and both tables.
[[nodiscard]] EwisePlan random_ewise(Random& random, bool floats = false);
// Of at most `most_cycles`, and with no more registers and tables than the machine's VPU has room for. Throws
// npu::Error (bad_input) when there is none.
[[nodiscard]] EwisePlan random_ewise(Random& random, const contract::Capabilities& caps, uint64_t most_cycles);
// Repeats micro-operations up to the most that a program may have, over any of so many registers, so that results
// are forwarded at every distance.
void lengthen(EwisePlan& plan, Random& random, uint32_t registers);

[[nodiscard]] MadeTile<contract::VpuEwiseCommand> make_ewise_tile(const EwisePlan& plan, Random& random);

[[nodiscard]] std::string describe(const contract::VpuEwiseCommand& command);

}  // namespace npu::cosim
