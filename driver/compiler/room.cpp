// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/room.h"

#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/contract/advice.h"

namespace npu::compiler {
namespace {

using contract::Capabilities;
using contract::ErrorCode;

uint64_t dram_bytes(const Capabilities& machine) { return uint64_t{machine.dram_mib} << 20; }

// Nullopt: the machine holds it.
std::optional<NoRoom> shortage(const MachineNeeds& needs, const Capabilities& machine, bool firmware) {
  const bool several = needs.programs > 1;
  if (needs.variables > machine.var_entries) {
    return NoRoom(ErrorCode::kVariableTableFull, (several ? "the networks have " : "the network has ") +
                                                     std::to_string(needs.variables) +
                                                     (several ? " variables together" : " variables") +
                                                     ", but the variable table of the machine has " +
                                                     std::to_string(machine.var_entries) + " entries");
  }
  if (fits_into(needs.dram, dram_bytes(machine), firmware)) return std::nullopt;
  std::string text = std::string(several ? "the networks need " : "the network needs ") +
                     std::to_string(needs.dram.total()) + " bytes of DRAM (" + needs.dram.describe() +
                     "), the device has " + std::to_string(dram_bytes(machine));
  if (firmware) {
    text += ", of which driver and firmware share " + std::to_string(shared_memory_bytes(dram_bytes(machine)));
  }
  return NoRoom(ErrorCode::kDramFull, text);
}

// Finds the smallest machine. No value is smaller than at first.
class Search {
 public:
  Search(const Capabilities& machine, bool firmware, const Attempt& attempt)
      : first_(machine), firmware_(firmware), attempt_(attempt) {}

  // The values that have to change.
  std::vector<contract::Need> run() {
    Capabilities machine = first_;
    MachineNeeds needs = grow(machine);
    // State that more persistent SRAM keeps needs no DRAM.
    while (dram_mib(needs) > most("dram_mib")) {
      if (uint64_t{machine.psram_bytes} * 2 > most("psram_bytes")) {
        throw NoRoom(ErrorCode::kDramFull, "that takes " + std::to_string(dram_mib(needs)) +
                                               " of dram_mib, which is at most " + std::to_string(most("dram_mib")));
      }
      machine.psram_bytes *= 2;
      needs = grow(machine);
    }
    machine.dram_mib = std::max(machine.dram_mib, static_cast<uint32_t>(dram_mib(needs)));
    std::vector<contract::Need> changes;
    for (const char* key : {"spm_bytes", "var_entries", "psram_bytes", "dram_mib"}) {
      const auto member = contract::find_capability(key).member;
      if (machine.*member != first_.*member) changes.push_back({key, machine.*member});
    }
    return changes;
  }

 private:
  [[nodiscard]] static uint64_t most(const char* key) { return contract::find_capability(key).max; }
  [[nodiscard]] uint64_t dram_mib(const MachineNeeds& needs) const { return least_dram_mib(needs.dram, firmware_); }

  // Sets everything but DRAM, and leaves the persistent SRAM as it is where its table fits.
  MachineNeeds grow(Capabilities& machine) const {
    for (;;) {
      machine.spm_bytes = first_.spm_bytes;
      MachineNeeds needs = with_scratchpad(machine);
      if (needs.variables <= machine.var_entries) return needs;
      const uint64_t entries = std::bit_ceil(needs.variables);
      if (entries > most("var_entries")) {
        throw NoRoom(ErrorCode::kVariableTableFull, "that takes " + std::to_string(entries) +
                                                        " of var_entries, which is at most " +
                                                        std::to_string(most("var_entries")));
      }
      machine.var_entries = static_cast<uint32_t>(entries);
      const auto table = static_cast<uint32_t>(entries * contract::VariableEntry::kBytes);
      machine.psram_bytes = std::max(machine.psram_bytes, std::bit_ceil(table + 1));
    }
  }

  MachineNeeds with_scratchpad(Capabilities& machine) const {
    for (;;) {
      try {
        return attempt_(machine);
      } catch (const NoRoom& error) {
        // The largest one is tried first: streams of very many commands cost time.
        const auto largest = static_cast<uint32_t>(most("spm_bytes"));
        if (machine.spm_bytes == largest) throw;
        if (machine.spm_bytes == first_.spm_bytes) {
          Capabilities last = machine;
          last.spm_bytes = largest;
          static_cast<void>(attempt_(last));
        }
        machine.spm_bytes *= 2;
      }
    }
  }

  const Capabilities& first_;
  const bool firmware_;
  const Attempt& attempt_;
};

std::string way_out(const Capabilities& machine, bool firmware, const Attempt& attempt, std::string_view what) {
  try {
    return contract::smallest_machine(Search(machine, firmware, attempt).run(), what);
  } catch (const NoRoom& error) {
    return "no machine holds " + std::string(what) + ": " + error.what() + "; make its tensors smaller";
  }
}

}  // namespace

void MachineNeeds::add(const Program& program, const Capabilities& machine, bool two_places, bool firmware,
                       size_t context) {
  DramNeeds next = needs_of(program, firmware);
  if (shared.size() <= context) shared.resize(context + 1);
  for (const Variable& variable : program.variables) {
    const auto places = [&](bool written) { return two_places && written ? 2U : 1U; };
    // A program that writes what earlier ones only read adds a place.
    const auto [known, fresh] = shared[context].try_emplace(variable.identity, Shared{variable.in_dram, false});
    const unsigned before = fresh ? 0 : places(known->second.written);
    known->second.written |= variable.written;
    const unsigned after = places(known->second.written);
    if (before == 0) ++variables;
    if (after == before) continue;
    if (variable.in_dram) {
      const uint64_t counted = before == 0 ? 0 : variable_dram_bytes(variable.bytes, false);
      next.variables.push_back(variable_dram_bytes(variable.bytes, after == 2) - counted);
    } else {
      persistent_bytes += (after - before) * persistent_place_bytes(variable.bytes, machine);
    }
  }
  if (programs++ > 0) next.load_behind(dram);
  dram = std::move(next);
}

void require_room(const Capabilities& machine, bool firmware, const Attempt& attempt, std::string_view what) {
  std::optional<NoRoom> lack;
  try {
    lack = shortage(attempt(machine), machine, firmware);
  } catch (const NoRoom& error) {
    lack = error;
  }
  if (lack) throw Error(lack->code(), lack->what() + ("; " + way_out(machine, firmware, attempt, what)));
}

}  // namespace npu::compiler
