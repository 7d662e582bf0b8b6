// SPDX-License-Identifier: Apache-2.0
// The sizes of a machine: what the model is built with. The named presets are part of the program; others are files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/contract/error.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/timing/dram_timing.h"

namespace npu::presets {

using timing::Dram;

// The keys of a machine's file that such a memory has, beside its name, and their values; in the file's order.
[[nodiscard]] std::vector<std::pair<std::string_view, uint32_t>> keys_of(const Dram& dram);

struct Preset {
  std::string name;  // "edge", or the file's name without its ending
  contract::Capabilities caps;
  Dram dram;

  friend bool operator==(const Preset&, const Preset&) = default;
};

// The machines that the program brings along, by size.
[[nodiscard]] std::vector<std::string> preset_names();

// The file of such a machine, with its comments; empty if there is none of that name.
[[nodiscard]] std::string_view preset_text(const std::string& name);

// The machine as a file with all keys and without a base, from which load_preset makes it again.
[[nodiscard]] std::string to_yaml(const Preset& preset);

// A machine by name, or from a YAML file with the keys of edge.yaml. With the key `base`, the name or the path of
// another machine, a file lists only what differs; a relative path starts at the file that has it. Throws
// Error(kBadPreset) that names file, key, value and what is allowed; Error(kCannotRead) when the file cannot be read.
[[nodiscard]] Preset load_preset(const std::string& name_or_path);

// The same from text; `source` names it in messages, `name` becomes the preset's, and a base's path starts at the
// working folder. Throws Error(kBadPreset), and Error(kCannotRead) for a base.
[[nodiscard]] Preset parse_preset(const std::string& name, const std::string& source, const std::string& text);

// The same of a text that stands for itself, as to_yaml() makes it: the key `base` is unknown in it, so no other file
// is read.
[[nodiscard]] Preset parse_whole_preset(const std::string& name, const std::string& source, const std::string& text);

}  // namespace npu::presets
