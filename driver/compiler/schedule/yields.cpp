// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/yields.h"

#include <algorithm>
#include <map>
#include <utility>

namespace npu::compiler::backend {
namespace {

bool is_queued(const Command& command) { return header_of(command.body).queue != contract::Queue::kSequencer; }

class Chooser {
 public:
  Chooser(const std::vector<Command>& commands, const Timeline& timeline, const std::vector<int64_t>& live,
          double limit)
      : commands_(commands), timeline_(timeline), live_(live), limit_(limit) {
    end_ = commands.size();
    while (end_ > 0 && !is_queued(commands[end_ - 1])) --end_;
  }

  Yields run() {
    const std::vector<Loop> loops = find_loops();
    size_t last = 0;
    for (const Loop& loop : loops) {
      last = add_points(last, loop.head);
      last = add(last, loop.head);
    }
    const size_t end = last > end_ ? commands_.size() : end_;  // a loop may come behind the last queued command
    last = add_points(last, end);
    yields_.tail = end > 0 ? done(end) - left(last) : 0;
    for (const Loop& loop : loops) close(loop);
    return std::move(yields_);
  }

 private:
  struct Loop {
    size_t head = 0, back = 0;  // the first command behind its label, and the branch back
  };

  // By their heads.
  [[nodiscard]] std::vector<Loop> find_loops() const {
    std::map<uint32_t, size_t> heads;  // by label
    std::vector<Loop> loops;
    for (size_t i = 0; i < commands_.size(); ++i) {
      if (const auto* label = std::get_if<contract::LabelCommand>(&commands_[i].body)) heads[label->index] = i + 1;
      const auto* branch = std::get_if<contract::BranchCommand>(&commands_[i].body);
      if (branch != nullptr && branch->mode == contract::BranchMode::kRepeat) {
        loops.push_back({heads.at(branch->target), i});
      }
    }
    std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.head < b.head; });
    return loops;
  }

  size_t add(size_t last, size_t next) {
    yields_.points.push_back({next, done(next) - left(last)});
    return next;
  }

  // Points between `last` and `end`. Returns the last one, or `last`.
  size_t add_points(size_t last, size_t end) {
    while (end > 0 && done(end) - done(last) > limit_) {
      const size_t next = choose(last, end);
      if (next >= end) break;
      last = add(last, next);
    }
    return last;
  }

  // The point at a loop's head is also passed from the last one in the loop.
  void close(const Loop& loop) {
    YieldPoint* head = nullptr;
    size_t last = loop.head;
    for (YieldPoint& point : yields_.points) {
      if (point.before == loop.head) head = &point;
      if (point.before > loop.head && point.before <= loop.back) last = point.before;
    }
    if (head != nullptr) head->cycles = std::max(head->cycles, done(loop.back + 1) - left(last));
  }

  // When everything before command `at` is done, and when the sequencer comes to it.
  [[nodiscard]] double done(size_t at) const { return at == 0 ? 0 : timeline_.completed[at - 1]; }
  [[nodiscard]] double left(size_t at) const { return at == 0 ? 0 : timeline_.issued[at - 1]; }

  // A point behind `last`; `end` when none before it is of use.
  [[nodiscard]] size_t choose(size_t last, size_t end) const {
    size_t best = last + 1;
    while (best < end && done(best) <= done(last)) ++best;  // nothing would be gained
    const double latest = std::max(done(best), done(last) + limit_);
    for (size_t at = best + 1; at < end && done(at) <= latest; ++at) {
      // An early point is there only until a later one is found.
      if (done(best) - done(last) < limit_ / 2 || live_[at] <= live_[best]) best = at;
    }
    return best;
  }

  const std::vector<Command>& commands_;
  const Timeline& timeline_;
  const std::vector<int64_t>& live_;
  const double limit_;
  Yields yields_;
  size_t end_ = 0;  // behind the last command that is queued
};

}  // namespace

Yields choose_yields(const std::vector<Command>& commands, const Timeline& timeline, const std::vector<int64_t>& live,
                     uint32_t segment_cycles) {
  return Chooser(commands, timeline, live, segment_cycles).run();
}

Yields no_yields(const Timeline& timeline) { return {{}, timeline.completed.empty() ? 0 : timeline.completed.back()}; }

}  // namespace npu::compiler::backend
