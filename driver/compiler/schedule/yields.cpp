// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/yields.h"

#include <algorithm>

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
    Yields yields;
    size_t last = 0;
    while (end_ > 0 && done(end_) - done(last) > limit_) {
      const size_t next = choose(last);
      if (next >= end_) break;
      yields.points.push_back({next, done(next) - left(last)});
      last = next;
    }
    yields.tail = end_ > 0 ? done(end_) - left(last) : 0;
    return yields;
  }

 private:
  // When everything before command `at` is done, and when the sequencer comes to it.
  [[nodiscard]] double done(size_t at) const { return at == 0 ? 0 : timeline_.completed[at - 1]; }
  [[nodiscard]] double left(size_t at) const { return at == 0 ? 0 : timeline_.issued[at - 1]; }

  // A point behind `last`; `end_` when none is of use.
  [[nodiscard]] size_t choose(size_t last) const {
    size_t best = last + 1;
    while (best < end_ && done(best) <= done(last)) ++best;  // nothing would be gained
    const double latest = std::max(done(best), done(last) + limit_);
    for (size_t at = best + 1; at < end_ && done(at) <= latest; ++at) {
      // An early point is there only until a later one is found.
      if (done(best) - done(last) < limit_ / 2 || live_[at] <= live_[best]) best = at;
    }
    return best;
  }

  const std::vector<Command>& commands_;
  const Timeline& timeline_;
  const std::vector<int64_t>& live_;
  const double limit_;
  size_t end_ = 0;  // behind the last command that is queued
};

}  // namespace

Yields choose_yields(const std::vector<Command>& commands, const Timeline& timeline, const std::vector<int64_t>& live,
                     uint32_t segment_cycles) {
  return Chooser(commands, timeline, live, segment_cycles).run();
}

Yields no_yields(const Timeline& timeline) { return {{}, timeline.completed.empty() ? 0 : timeline.completed.back()}; }

}  // namespace npu::compiler::backend
