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

// Bytes of a program, piece by piece.
struct DramNeeds {
  uint64_t constants = 0, commands = 0, workspace = 0, input = 0, output = 0, events = 0;
  uint64_t save = 0;      // no piece when it is 0, as for the table of segments
  uint64_t segments = 0;  // the table that the firmware reads
  std::vector<uint64_t> variables;
  uint64_t others = 0;  // of what is loaded already

  // As the runtime allocates them.
  [[nodiscard]] std::vector<uint64_t> pieces() const {
    std::vector<uint64_t> sizes = {constants, commands, workspace, input, output, events};
    if (save > 0) sizes.push_back(save);
    if (others > 0) sizes.insert(sizes.begin(), others);
    sizes.insert(sizes.end(), variables.begin(), variables.end());
    return sizes;
  }
  [[nodiscard]] static uint64_t in_pages(uint64_t bytes) {
    return (std::max<uint64_t>(bytes, 1) + kDramPage - 1) / kDramPage * kDramPage;
  }
  [[nodiscard]] uint64_t total() const {
    uint64_t sum = segments > 0 ? in_pages(segments) : 0;
    for (const uint64_t bytes : pieces()) sum += in_pages(bytes);
    return sum;
  }
  [[nodiscard]] std::string describe() const {
    uint64_t of_variables = 0;
    for (const uint64_t bytes : variables) of_variables += bytes;
    std::string text = "constants " + std::to_string(constants);
    const auto add = [&](const char* name, uint64_t bytes) { text.append(name).append(std::to_string(bytes)); };
    add(", commands ", commands);
    add(", workspace ", workspace);
    add(", inputs ", input);
    add(", outputs ", output);
    add(", events ", events);
    add(", saved state ", save);
    add(", segments ", segments);
    add(", variables ", of_variables);
    return text;
  }
};

// Without its variables. `firmware`: the device has a control CPU.
[[nodiscard]] inline DramNeeds needs_of(const Program& program, bool firmware) {
  DramNeeds needs;
  needs.constants = program.constants.size();
  needs.commands = program.commands.size() * sizeof(uint32_t);
  needs.workspace = program.workspace_bytes;
  needs.input = program.input_bytes;
  needs.output = program.output_bytes;
  needs.events = uint64_t{program.command_count} * contract::Event::kBytes;
  needs.save = program.save_bytes;
  needs.segments = firmware ? program.segments.size() * contract::Segment::kBytes : 0;
  return needs;
}

// Whether a device that holds nothing else has room. `firmware`: it has a control CPU, which must see the table.
[[nodiscard]] inline bool fits_into(const DramNeeds& needs, uint64_t dram_bytes, bool firmware) {
  const uint64_t seen = std::min<uint64_t>(dram_bytes, contract::kCpuDramBytes);
  const uint64_t table = needs.segments > 0 ? DramNeeds::in_pages(needs.segments) : 0;
  const uint64_t taken = firmware ? shared_memory_bytes(dram_bytes) + table : 0;
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
