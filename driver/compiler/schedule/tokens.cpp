// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/tokens.h"

#include <algorithm>
#include <map>
#include <optional>

#include "hw/contract/queues.h"

namespace npu::compiler::backend {
namespace {

using contract::Queue;

constexpr int32_t kFarthest = 255;

// A set of more runs, such as a column of a tall matrix, counts as all the bytes from its first to its last one: a
// history of single bytes would take seconds for each such column. Then commands that write columns side by side wait
// for each other, which is more than they need.
constexpr int64_t kMostRuns = 16384;

using Clock = QueueCounts;

// Last accesses to a stretch of bytes.
struct State {
  std::optional<Queue> writer;
  int32_t writer_count = 0;  // commands of that queue up to and with the writer
  Clock readers;             // since the last write: commands up to and with the last reader; 0: none
};

// The last accesses to every byte of one memory, as stretches of equal history.
class History {
 public:
  // Adds what an access must wait for to `need`, and records the access of the `count`-th command of queue `queue`.
  void access(const ByteSet& set, Queue queue, int32_t count, Clock& need) {
    if (set.runs() > kMostRuns) {
      access_run(set.low, set.high, set.write, queue, count, need);
    } else {
      set.for_each_run([&](int64_t low, int64_t high) { access_run(low, high, set.write, queue, count, need); });
    }
  }

 private:
  struct Stretch {
    int64_t high;
    State state;
  };
  using Map = std::map<int64_t, Stretch>;

  // Makes `at` a boundary between stretches; returns the first stretch at or after it.
  Map::iterator cut(int64_t at) {
    auto it = stretches_.lower_bound(at);
    if (it == stretches_.begin()) return it;
    auto before = std::prev(it);
    if (before->second.high <= at) return it;
    const Stretch rest = before->second;
    before->second.high = at;
    return stretches_.emplace_hint(it, at, rest);
  }

  void access_run(int64_t low, int64_t high, bool write, Queue queue, int32_t count, Clock& need) {
    auto it = cut(low);
    const auto end = cut(high);
    int64_t at = low;
    while (it != end) {
      const State& state = it->second.state;
      if (state.writer) {
        int32_t& n = need[*state.writer];
        n = std::max(n, state.writer_count);
      }
      if (write) {
        join(need, state.readers);
        it = stretches_.erase(it);
        continue;
      }
      if (it->first > at) {
        Stretch gap{it->first, {}};
        gap.state.readers[queue] = count;
        stretches_.emplace_hint(it, at, gap);
      }
      it->second.state.readers[queue] = count;
      at = it->second.high;
      ++it;
    }
    if (write) {
      stretches_.emplace_hint(end, low, Stretch{high, {queue, count, {}}});
    } else if (at < high) {
      Stretch gap{high, {}};
      gap.state.readers[queue] = count;
      stretches_.emplace_hint(end, at, gap);
    }
  }

  Map stretches_;
};

}  // namespace

void join(QueueCounts& a, const QueueCounts& b) {
  for (const Queue q : contract::kQueuesOfEngines) a[q] = std::max(a[q], b[q]);
}

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
        if (set.write == write) histories[set.space].access(set, queue, count, needs[i]);
      }
    }
    needs[i][queue] = 0;
  }
  return needs;
}

void set_tokens(std::vector<Command>& commands, std::span<const QueueCounts> needs) {
  // One a command: what is known to be complete when it is.
  contract::EngineQueueTable<std::vector<Clock>> completed;
  for (size_t i = 0; i < commands.size(); ++i) {
    contract::Header& header = header_of(commands[i].body);
    header.wait.fill(0);
    const Queue queue = header.queue;
    if (!contract::engine_of(queue)) continue;
    const auto count = static_cast<int32_t>(completed[queue].size()) + 1;
    const Clock& need = needs[i];
    Clock known;
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
