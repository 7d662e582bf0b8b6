// SPDX-License-Identifier: Apache-2.0
// Whether programs fit into a machine, and what to change in its file when they do not. The advice is tried: the
// programs are compiled for the changed machine before a message names it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/dram_needs.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// The machine has too little of something. The message says of what, without a full stop and without a way out.
class NoRoom : public Error {
 public:
  using Error::Error;
};

// What programs take of a machine beside its scratchpad, together.
struct MachineNeeds {
  struct Shared {
    bool in_dram = false;  // as the first program has it
    bool written = false;  // by any program
  };
  std::vector<std::map<std::string, Shared>> shared;  // variables by identity, of each context
  uint64_t programs = 0, variables = 0;
  uint64_t persistent_bytes = 0;  // of variables, in whole accesses of the persistent SRAM's port
  DramNeeds dram;

  // `two_places`: of its variables that are written. `context`: its variables are those of earlier programs of the same
  // context with the same identity.
  void add(const Program& program, const contract::Capabilities& machine, bool two_places, bool firmware,
           size_t context = 0);
};

// Compiles for a machine. Throws NoRoom.
using Attempt = std::function<MachineNeeds(const contract::Capabilities&)>;

// Compiles for `machine`, and returns when it holds everything; nothing is compiled after that. Else throws Error
// (scratchpad_full, variable_table_full, dram_full) that names all keys of the machine's file that have to change, with
// the least values that are enough, or says that no machine is. `firmware`: the device has a control CPU.
// `what`: is held, "it".
void require_room(const contract::Capabilities& machine, bool firmware, const Attempt& attempt, std::string_view what);

}  // namespace npu::compiler
