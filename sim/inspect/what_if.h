// SPDX-License-Identifier: Apache-2.0
// What a network costs on machines that differ in one resource: the content of `npu what-if`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/inspect/machine_changes.h"

namespace npu::inspect {

struct WhatIfRow {
  MachineChange change;
  std::optional<uint64_t> cycles;  // of all invocations; nullopt: the machine cannot run the network
  std::string why_not;             // in a sentence
};

struct WhatIf {
  std::string file;
  presets::Preset machine;
  uint64_t invocations = 0, cycles = 0;  // of the machine as it is, all invocations
  std::vector<WhatIfRow> rows;
};

// The best first; of equal ones that with fewer keys, in the order of list_changes(). What cannot run comes last.
void sort_by_cycles(WhatIf& what_if);

// For people: the best `count` that save cycles; the others are counted.
[[nodiscard]] std::string to_text(const WhatIf& what_if, size_t count);
// All as a JSON document in ASCII, the schema npu-what-if.
[[nodiscard]] std::string to_json_text(const WhatIf& what_if);

}  // namespace npu::inspect
