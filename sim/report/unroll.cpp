// SPDX-License-Identifier: Apache-2.0
#include "sim/report/unroll.h"

#include <algorithm>
#include <tuple>

#include "hw/contract/queues.h"

namespace npu::report {
namespace {

// The sequencer takes up its own command in the cycle in which it has handed over the one before, at the earliest.
auto order_of(const contract::Event& event) {
  return std::make_tuple(event.issued, !contract::engine_of(contract::queue_of(event)).has_value());
}

}  // namespace

bool has_branches(std::span<const CommandInfo> commands) {
  return std::any_of(commands.begin(), commands.end(),
                     [](const CommandInfo& info) { return info.opcode == contract::Opcode::kBranch; });
}

Unrolled unroll(std::span<const contract::Event> events, std::span<const CommandInfo> commands,
                std::span<const CommandWork> work) {
  Unrolled out;
  out.events.assign(events.begin(), events.end());
  std::stable_sort(out.events.begin(), out.events.end(),
                   [](const contract::Event& a, const contract::Event& b) { return order_of(a) < order_of(b); });
  for (contract::Event& event : out.events) {
    const size_t command = event.command;
    event.command = static_cast<uint32_t>(out.commands.size());
    out.indices.push_back(static_cast<uint32_t>(command));
    CommandInfo unknown;
    unknown.queue = contract::queue_of(event);
    unknown.layer = event.layer;
    out.commands.push_back(command < commands.size() ? commands[command] : unknown);
    out.work.push_back(command < work.size() ? work[command] : CommandWork());
  }
  return out;
}

}  // namespace npu::report
