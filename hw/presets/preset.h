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

namespace npu::presets {

// The memory behind the DMA port: one channel of banks with a row buffer each, or one whose accesses all take the same
// latency. Times are whole nanoseconds.
struct Dram {
  std::string name;            // "LPDDR4-3200 x32"
  uint32_t data_rate_mts = 0;  // million transfers a second
  uint32_t bus_bits = 0;       // width of a transfer
  uint32_t latency_ns = 0;     // of each access, until its first transfer; 0: what follows counts
  uint32_t banks = 0;
  uint32_t row_bytes = 0;  // a row of one bank, over the whole bus
  uint32_t t_rcd_ns = 0;   // activate to read or write
  uint32_t t_rp_ns = 0;    // precharge to activate
  uint32_t t_cas_ns = 0;   // read command to data
  uint32_t t_ras_ns = 0;   // activate to precharge, at least
  uint32_t t_wr_ns = 0;    // end of write data to precharge
  uint32_t t_refi_ns = 0;  // between refreshes
  uint32_t t_rfc_ns = 0;   // a refresh, in which all banks are busy and after which all rows are closed

  // Peak, bytes a second.
  [[nodiscard]] uint64_t bytes_per_second() const { return uint64_t{data_rate_mts} * 1'000'000 * (bus_bits / 8); }

  friend bool operator==(const Dram&, const Dram&) = default;
};

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
