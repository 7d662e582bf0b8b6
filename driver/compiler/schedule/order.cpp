// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/order.h"

#include <algorithm>

#include "hw/contract/gen/accesses.h"

namespace npu::compiler::backend {
namespace {

// Asks for one kind: no other command changes what the table says of a variable while it touches none of its bytes.
bool is_declaration(const Command& command) { return std::holds_alternative<contract::DeclareCommand>(command.body); }

bool reads_variable(const Command& load) {
  bool reads = false;
  const auto note = [&](const contract::MemoryAccess& access) {
    reads |= access.access == contract::Access::kRead && access.base.region == contract::Region::kVariable;
  };
  std::visit([&](const auto& command) { for_each_access(command, note); }, load.body);
  return reads;
}

}  // namespace

void hoist_loads(std::vector<Command>& commands, std::vector<std::vector<ByteSet>>& footprints, uint32_t lookahead) {
  // Anchors are the commands that stay; loads are put before one of them (or at the end).
  std::vector<size_t> anchors;
  std::vector<std::vector<size_t>> before(1);
  struct QueueState {
    size_t last = 0;                // position of the load before
    std::vector<size_t> positions;  // where each load stood at first
  };
  contract::EngineQueueTable<QueueState> queues;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].part != Command::Part::kLoad) {
      anchors.push_back(i);
      before.emplace_back();
      continue;
    }
    QueueState& queue = queues[header_of(commands[i].body).queue];
    const size_t n = queue.positions.size();
    size_t limit = queue.last;
    if (n >= lookahead) limit = std::max(limit, queue.positions[n - lookahead] + 1);
    size_t at = anchors.size();
    queue.positions.push_back(at);
    limit = std::min(limit, at);
    // A declaration touches no bytes, but the sequencer executes it in its turn.
    const bool state = reads_variable(commands[i]);
    const auto conflicts = [&](size_t other) {
      return is_control(commands[other].body) || may_conflict(footprints[i], footprints[other]) ||
             (state && is_declaration(commands[other]));
    };
    while (at > limit && std::none_of(before[at].begin(), before[at].end(), conflicts) && !conflicts(anchors[at - 1]))
      --at;
    queue.last = at;
    before[at].push_back(i);
  }
  std::vector<Command> ordered;
  std::vector<std::vector<ByteSet>> sets;
  ordered.reserve(commands.size());
  sets.reserve(commands.size());
  const auto take = [&](size_t i) {
    ordered.push_back(std::move(commands[i]));
    sets.push_back(std::move(footprints[i]));
  };
  for (size_t at = 0; at < before.size(); ++at) {
    for (size_t i : before[at]) take(i);
    if (at < anchors.size()) take(anchors[at]);
  }
  commands = std::move(ordered);
  footprints = std::move(sets);
}

}  // namespace npu::compiler::backend
