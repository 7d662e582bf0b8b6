// SPDX-License-Identifier: Apache-2.0
#include "sim/report/state.h"

#include <algorithm>
#include <utility>

namespace npu::report {
namespace {

using contract::Event;

// Reads and writes of a command, each variable once a use.
std::vector<VariableAccess> accesses_of(const CommandInfo& info) {
  std::vector<VariableAccess> list;
  for (const VariableAccess& access : info.variables) {
    const bool known = std::any_of(list.begin(), list.end(), [&](const VariableAccess& other) {
      return other.variable == access.variable && other.use == access.use;
    });
    if (access.use != VariableUse::kDeclare && !known) list.push_back(access);
  }
  return list;
}

__extension__ using Wide = unsigned __int128;

// What `whole` a command moved for one of the variables that it uses in the same way.
uint64_t part_of(uint64_t whole, uint64_t before, uint64_t size, uint64_t all) {
  const auto until = [&](uint64_t bytes) { return static_cast<uint64_t>(static_cast<Wide>(whole) * bytes / all); };
  return until(before + size) - until(before);
}

}  // namespace

StateBytes& StateBytes::operator+=(const StateBytes& more) {
  sram_read += more.sram_read;
  sram_written += more.sram_written;
  dram_read += more.dram_read;
  dram_written += more.dram_written;
  return *this;
}

std::vector<StateUse> state_uses(std::span<const Event> events, std::span<const CommandInfo> commands) {
  std::vector<StateUse> uses;
  for (const Event& event : events) {
    if (event.command >= commands.size()) continue;
    for (const VariableAccess& access : accesses_of(commands[event.command])) {
      const auto same = std::find_if(uses.begin(), uses.end(), [&](const StateUse& use) {
        return use.variable == access.variable && use.layer == event.layer && use.use == access.use;
      });
      if (same == uses.end()) {
        uses.push_back({access.variable, event.layer, access.use, event.started, event.completed, 1});
        continue;
      }
      same->start = std::min(same->start, event.started);
      same->end = std::max(same->end, event.completed);
      ++same->commands;
    }
  }
  std::stable_sort(uses.begin(), uses.end(), [](const StateUse& a, const StateUse& b) { return a.start < b.start; });
  return uses;
}

StateCollector::StateCollector(const compiler::Program& program) : traffic_(program.variables.size()) {
  for (const compiler::Variable& variable : program.variables) {
    sizes_.push_back(std::max<uint64_t>(variable.bytes, 1));
  }
}

void StateCollector::add(std::span<const Event> events, std::span<const CommandInfo> commands) {
  const uint64_t invocation = invocations_++;
  if (traffic_.empty()) return;
  for (const Event& event : events) {
    if (event.command < commands.size()) count(event, accesses_of(commands[event.command]));
  }
  std::vector<StateUse> uses = state_uses(events, commands);
  if (left_out_ > 0) {
    ++left_out_;
  } else if (!timeline_.empty() && timeline_.back().uses == uses) {
    timeline_.back().last = invocation;
  } else if (timeline_.size() == kMaxRanges) {
    ++left_out_;
  } else {
    timeline_.push_back({invocation, invocation, std::move(uses)});
  }
}

void StateCollector::count(const Event& event, const std::vector<VariableAccess>& accesses) {
  if (accesses.empty()) return;
  const uint64_t cycles = event.completed - event.started;
  cycles_ += cycles;
  uint64_t all[2] = {}, before[2] = {};  // bytes of the variables that are read, and written
  const auto way = [](const VariableAccess& access) { return access.use == VariableUse::kWrite ? 1 : 0; };
  for (const VariableAccess& access : accesses) {
    if (access.variable < sizes_.size()) all[way(access)] += sizes_[access.variable];
  }
  std::vector<uint32_t> counted;
  for (const VariableAccess& access : accesses) {
    if (access.variable >= sizes_.size()) continue;
    VariableTraffic& traffic = traffic_[access.variable];
    const uint64_t size = sizes_[access.variable];
    const auto part = [&](uint64_t bytes) { return part_of(bytes, before[way(access)], size, all[way(access)]); };
    // DRAM on a variable's side can only be its own: engines do not reach it, and DMA has one source and one
    // destination.
    if (access.use == VariableUse::kWrite) {
      traffic.bytes += {0, part(event.psram_written), 0, part(event.dram_written)};
    } else {
      traffic.bytes += {part(event.psram_read), 0, part(event.dram_read), 0};
    }
    before[way(access)] += size;
    note_user(access, event.layer);
    if (std::find(counted.begin(), counted.end(), access.variable) != counted.end()) continue;
    traffic.cycles += cycles;
    counted.push_back(access.variable);
  }
}

void StateCollector::note_user(const VariableAccess& access, uint32_t layer) {
  std::vector<VariableUser>& users = traffic_[access.variable].users;
  const auto known = std::find_if(users.begin(), users.end(), [&](const VariableUser& user) {
    return user.layer == layer && user.use == access.use;
  });
  if (known == users.end()) {
    users.push_back({layer, access.use, 1});
  } else {
    ++known->commands;
  }
}

bool is_extension_type(graph::DType type) {
  return type != graph::DType::kInt8 && type != graph::DType::kFp16 && type != graph::DType::kFp32;
}

}  // namespace npu::report
