// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/tokens.h"

#include <algorithm>
#include <map>

#include "hw/contract/queues.h"

namespace npu::compiler::backend {
namespace {

using contract::Queue;

constexpr int32_t kFarthest = 255;

// A set of more runs, such as a column of a tall matrix, counts as all the bytes from its first to its last one: a
// history of single bytes would take seconds for each such column. Then commands that write columns side by side wait
// for each other, which is more than they need.
constexpr int64_t kMostRuns = 16384;

// Adds what the access must wait for to `need`, and records it as one of the `count`-th command of queue `queue`.
void access(History& history, const ByteSet& set, Queue queue, int32_t count, QueueCounts& need) {
  if (set.runs() > kMostRuns) {
    history.access(set.low, set.high, set.write, queue, count, need);
  } else {
    set.for_each_run([&](int64_t low, int64_t high) { history.access(low, high, set.write, queue, count, need); });
  }
}

}  // namespace

std::vector<QueueCounts> find_needs(const std::vector<Command>& commands,
                                    const std::vector<std::vector<ByteSet>>& footprints) {
  std::map<uint32_t, History> histories;  // by space
  QueueCounts issued;
  std::vector<QueueCounts> needs(commands.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    const Queue queue = header_of(commands[i].body).queue;
    if (is_control(commands[i].body)) histories.clear();  // it waits for all that is before it
    if (!contract::engine_of(queue)) continue;            // the sequencer's own commands wait for nothing
    const int32_t count = ++issued[queue];
    for (const bool write : {false, true}) {  // reads first: a command does not wait for itself
      for (const ByteSet& set : footprints[i]) {
        if (set.write == write) access(histories[set.space], set, queue, count, needs[i]);
      }
    }
    needs[i][queue] = 0;
  }
  return needs;
}

void set_tokens(std::vector<Command>& commands, std::span<const QueueCounts> needs) {
  // One a command: what is known to be complete when it is.
  contract::EngineQueueTable<std::vector<QueueCounts>> completed;
  for (size_t i = 0; i < commands.size(); ++i) {
    contract::Header& header = header_of(commands[i].body);
    header.wait.fill(0);
    const Queue queue = header.queue;
    if (!contract::engine_of(queue)) continue;
    const auto count = static_cast<int32_t>(completed[queue].size()) + 1;
    const QueueCounts& need = needs[i];
    QueueCounts known;
    if (count > 1) known = completed[queue].back();

    // The command that a token on each queue would name.
    contract::EngineQueueTable<int32_t> named;
    for (const Queue q : contract::kQueuesOfEngines) {
      if (need[q] <= known[q]) continue;
      const auto issued = static_cast<int32_t>(completed[q].size());
      named[q] = std::max(need[q], issued - kFarthest + 1);  // farther back cannot be named; later is stronger
    }
    for (const Queue q : contract::kQueuesOfEngines) {
      if (named[q] == 0) continue;
      bool implied = false;
      for (const Queue other : contract::kQueuesOfEngines) {
        if (implied || other == q || named[other] == 0) continue;
        implied = completed[other][static_cast<size_t>(named[other] - 1)][q] >= need[q];
      }
      if (implied) {
        named[q] = 0;
        continue;
      }
      header.wait[contract::index_of(q)] =
          static_cast<uint8_t>(static_cast<int32_t>(completed[q].size()) - named[q] + 1);
    }
    for (const Queue q : contract::kQueuesOfEngines) {
      if (named[q] != 0) join(known, completed[q][static_cast<size_t>(named[q] - 1)]);
    }
    known[queue] = count;
    completed[queue].push_back(known);
  }
}

}  // namespace npu::compiler::backend
