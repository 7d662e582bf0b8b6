// SPDX-License-Identifier: Apache-2.0
// What a loaded program takes of a device's DRAM, and what of it driver and firmware share: the compiler checks it, the
// runtime allocates it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/compiler/size_table.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"

namespace npu::compiler {

// Pieces of device memory start at pages, so that the rows and banks that a program meets hardly depend on what else is
// loaded.
inline constexpr uint64_t kDramPage = 4096;

// Bytes that driver and firmware share on a device with so much DRAM: a quarter of the smallest device; on others a
// sixteenth, as far as hundreds of programs need it. They end where the control CPU's sight of the DRAM ends.
constexpr uint64_t shared_memory_bytes(uint64_t dram_bytes) {
  return std::clamp<uint64_t>(dram_bytes / 16, 256 << 10, 1 << 20);
}

// Bytes of DRAM from a variable's first place to its second one.
constexpr uint64_t variable_dram_distance(uint32_t bytes) {
  return (uint64_t{bytes} + contract::kVariableDramUnit - 1) / contract::kVariableDramUnit *
         contract::kVariableDramUnit;
}

// Bytes of DRAM that a variable takes, with one place or two.
constexpr uint64_t variable_dram_bytes(uint32_t bytes, bool two_places) {
  return bytes + (two_places ? variable_dram_distance(bytes) : 0);
}

// Bytes of a program, piece by piece.
struct DramNeeds {
  bool program = true;  // false: variables alone
  uint64_t constants = 0, commands = 0, workspace = 0, input = 0, output = 0, events = 0;
  uint64_t save = 0;      // no piece when it is 0, as for the table of segments
  uint64_t segments = 0;  // the table that the firmware reads
  uint64_t sizes = 0;     // the table of sizes, which it reads too; then it writes the commands
  std::vector<uint64_t> variables;
  // Of what is loaded before it.
  std::vector<uint64_t> others;
  uint64_t other_tables = 0;  // that the control CPU must see, whole pages

  // As the runtime allocates them.
  [[nodiscard]] std::vector<uint64_t> pieces() const {
    std::vector<uint64_t> list;
    if (program) list = {constants, workspace, input, output, events};
    if (program && sizes == 0) list.insert(list.begin() + 1, commands);
    if (save > 0) list.push_back(save);
    list.insert(list.begin(), others.begin(), others.end());
    list.insert(list.end(), variables.begin(), variables.end());
    return list;
  }
  [[nodiscard]] static uint64_t in_pages(uint64_t bytes) {
    return (std::max<uint64_t>(bytes, 1) + kDramPage - 1) / kDramPage * kDramPage;
  }
  // Bytes of what the control CPU must see.
  [[nodiscard]] uint64_t tables() const {
    return other_tables + (segments > 0 ? in_pages(segments) : 0) +
           (sizes > 0 ? in_pages(sizes) + in_pages(commands) : 0);
  }
  [[nodiscard]] uint64_t total() const {
    uint64_t sum = tables();
    for (const uint64_t bytes : pieces()) sum += in_pages(bytes);
    return sum;
  }
  void load_behind(const DramNeeds& first) {
    const std::vector<uint64_t> before = first.pieces();
    others.insert(others.begin(), before.begin(), before.end());
    other_tables += first.tables();
  }
  [[nodiscard]] std::string describe() const {
    uint64_t of_variables = 0, of_others = other_tables;
    for (const uint64_t bytes : variables) of_variables += bytes;
    for (const uint64_t bytes : others) of_others += in_pages(bytes);
    std::string text = "constants " + std::to_string(constants);
    const auto add = [&](const char* name, uint64_t bytes) { text.append(name).append(std::to_string(bytes)); };
    add(", commands ", commands);
    add(", workspace ", workspace);
    add(", inputs ", input);
    add(", outputs ", output);
    add(", events ", events);
    add(", saved state ", save);
    add(", segments ", segments);
    if (sizes > 0) add(", table of sizes ", sizes);
    add(", variables ", of_variables);
    if (of_others > 0) add(", others ", of_others);
    return text;
  }
};

// Bytes of the persistent SRAM that one place of a variable takes: whole accesses of the port.
[[nodiscard]] inline uint64_t persistent_place_bytes(uint32_t bytes, const contract::Capabilities& capabilities) {
  const uint64_t port = capabilities.psram_port_bytes;
  return (bytes + port - 1) / port * port;
}

// Bytes of the persistent SRAM that variables can have: from the first multiple of the port's width behind the table.
[[nodiscard]] inline uint64_t persistent_capacity(const contract::Capabilities& capabilities) {
  const uint64_t port = capabilities.psram_port_bytes;
  const uint64_t entries = uint64_t{capabilities.var_entries} * contract::VariableEntry::kBytes;
  const uint64_t table = (entries + port - 1) / port * port;
  return capabilities.psram_bytes > table ? capabilities.psram_bytes - table : 0;
}

// Without its variables. `firmware`: the device has a control CPU.
[[nodiscard]] inline DramNeeds needs_of(const Program& program, bool firmware) {
  DramNeeds needs;
  needs.constants = program.constants.size();
  needs.commands = program.commands.size() * sizeof(uint32_t);
  needs.workspace = program.workspace_bytes;
  needs.input = program.input_bytes;
  needs.output = program.output_bytes;
  needs.events = uint64_t{program.event_capacity} * contract::Event::kBytes;
  needs.save = program.save_bytes;
  needs.segments = firmware ? program.segments.size() * contract::Segment::kBytes : 0;
  // Behind the table stand the sizes that the commands are for.
  const bool sized = firmware && !program.sizes.empty();
  needs.sizes = sized ? encoded_bytes(program.sizes) + program.sizes.symbols.size() * sizeof(int64_t) : 0;
  return needs;
}

// Whether a device that holds nothing else has room. `firmware`: it has a control CPU, which must see the table.
[[nodiscard]] inline bool fits_into(const DramNeeds& needs, uint64_t dram_bytes, bool firmware) {
  const uint64_t seen = std::min<uint64_t>(dram_bytes, contract::kCpuDramBytes);
  const uint64_t taken = firmware ? shared_memory_bytes(dram_bytes) + needs.tables() : 0;
  if (taken > seen) return false;
  // Without the memory in the middle it is one piece.
  std::array<uint64_t, 2> free = {firmware ? seen - taken : dram_bytes, firmware ? dram_bytes - seen : 0};
  for (const uint64_t bytes : needs.pieces()) {
    const uint64_t size = DramNeeds::in_pages(bytes);
    const auto place = std::find_if(free.begin(), free.end(), [&](uint64_t room) { return size <= room; });
    if (place == free.end()) return false;
    *place -= size;
  }
  return true;
}

// The least dram_mib of a machine that holds it.
[[nodiscard]] inline uint64_t least_dram_mib(const DramNeeds& needs, bool firmware) {
  uint64_t bytes = 0;
  for (const uint64_t piece : needs.pieces()) bytes += piece;
  uint64_t mib = std::max<uint64_t>(bytes >> 20, 1);
  while (!fits_into(needs, mib << 20, firmware)) ++mib;
  return mib;
}

}  // namespace npu::compiler
