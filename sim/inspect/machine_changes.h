// SPDX-License-Identifier: Apache-2.0
// Machines that differ from one in a single resource: what a designer would try first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/presets/preset.h"

namespace npu::inspect {

// A key of a machine's file, those of its memory without "dram.".
struct KeyChange {
  std::string_view key;
  bool of_dram = false;
  uint32_t from = 0, to = 0;
};

struct MachineChange {
  std::string_view resource;    // "scratchpad"
  std::vector<KeyChange> keys;  // one, or those that make the resource together
  presets::Preset machine;      // with them
};

// A step of each resource that leaves a legal machine: twice as much, or half of a time or of a table to walk through.
[[nodiscard]] std::vector<MachineChange> list_changes(const presets::Preset& machine);

// "spm_bytes: 2097152 (+1048576), dram.t_cas_ns: 9 (-9)"
[[nodiscard]] std::string to_text(const MachineChange& change);

}  // namespace npu::inspect
