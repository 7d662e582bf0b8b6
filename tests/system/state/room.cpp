// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/room.h"

namespace npu::test {

using contract::ErrorCode;

constexpr uint64_t kEntryBytes = 16;

Room::Room(const contract::Capabilities& caps)
    : entries_(caps.var_entries),
      capacity_(caps.psram_bytes - caps.var_entries * kEntryBytes),
      port_bytes_(caps.psram_port_bytes) {}

ErrorCode Room::declare(int context, const std::vector<compiler::Variable>& variables, bool double_buffer, bool power) {
  Places& places = contexts_[context];
  const Places before = places;
  std::vector<std::string> fresh;
  for (const compiler::Variable& variable : variables) {
    const bool known = places.contains(variable.identity);
    const ErrorCode code = declare(places, variable, double_buffer, power);
    if (code == ErrorCode::kOk) {
      if (!known) fresh.push_back(variable.identity);
      continue;
    }
    places = before;
    return code;
  }
  for (const std::string& identity : fresh) spilled_ += places.at(identity).in_dram ? 1 : 0;
  return ErrorCode::kOk;
}

ErrorCode Room::declare(Places& places, const compiler::Variable& variable, bool double_buffer, bool power) {
  Place to{{variable.type, variable.shape}, variable.bytes, variable.written, variable.in_dram};
  const auto known = places.find(variable.identity);
  const bool fresh = known == places.end();
  if (fresh && entries() == entries_) return ErrorCode::kVariableTableFull;
  if (!fresh) {
    if (known->second.form != to.form) return ErrorCode::kVariableMismatch;
    to.written |= known->second.written;
    to.in_dram &= known->second.in_dram;
  }
  to.two_places = double_buffer && to.written;
  const bool moves = fresh || to.in_dram != known->second.in_dram || to.two_places != known->second.two_places;
  if (moves && !power) return ErrorCode::kFaultPower;
  // The place that it leaves is free for the new one.
  const uint64_t others = sram_bytes() - (fresh ? 0 : sram_bytes(known->second));
  if (moves && others + sram_bytes(to) > capacity_) return ErrorCode::kPersistentFull;
  places[variable.identity] = to;
  return ErrorCode::kOk;
}

uint64_t Room::entries() const {
  uint64_t sum = 0;
  for (const auto& [context, places] : contexts_) sum += places.size();
  return sum;
}

uint64_t Room::sram_bytes() const {
  uint64_t sum = 0;
  for (const auto& [context, places] : contexts_) {
    for (const auto& [identity, place] : places) sum += sram_bytes(place);
  }
  return sum;
}

uint64_t Room::sram_bytes(const Place& place) const {
  const uint64_t one = (place.bytes + port_bytes_ - 1) / port_bytes_ * port_bytes_;
  return place.in_dram ? 0 : place.two_places ? 2 * one : one;
}

}  // namespace npu::test
