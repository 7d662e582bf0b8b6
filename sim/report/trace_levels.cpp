// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace_levels.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hw/contract/error.h"
#include "hw/contract/gen/accesses.h"
#include "hw/contract/stream.h"

namespace npu::report {
namespace {

using contract::Event;
using contract::MemoryAccess;

ScratchpadUse use_of(const MemoryAccess& access) {
  ScratchpadUse use;
  use.write = access.access == contract::Access::kWrite;
  use.low = static_cast<int64_t>(access.base.offset) + access.first;
  use.high = use.low + static_cast<int64_t>(access.run);
  int64_t run = static_cast<int64_t>(access.run);
  for (uint32_t d = MemoryAccess::kMaxRank; d-- > MemoryAccess::kMaxRank - access.rank;) {
    const MemoryAccess::Dim& dim = access.dims[d];
    if (dim.count <= 1 || dim.stride == 0) continue;
    const auto count = static_cast<int64_t>(dim.count);
    use.dense &= dim.stride == run;
    run = dim.stride * count;
    (dim.stride < 0 ? use.low : use.high) += (count - 1) * dim.stride;
  }
  use.dense &= access.moves == MemoryAccess::kAll;
  return use;
}

// Changes of a level, and the level that they make.
class Changes {
 public:
  void add(uint64_t begin, uint64_t end, double value) {
    if (begin >= end || value == 0) return;
    changes_.push_back({begin, value, 1});
    changes_.push_back({end, -value, -1});
  }

  std::vector<Level> levels() {
    std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.cycle < b.cycle; });
    std::vector<Level> levels;
    double value = 0;
    int64_t open = 0;
    for (size_t i = 0; i < changes_.size();) {
      const uint64_t cycle = changes_[i].cycle;
      for (; i < changes_.size() && changes_[i].cycle == cycle; ++i) {
        value += changes_[i].value;
        open += changes_[i].open;
      }
      if (open == 0) value = 0;  // rather than what rounding leaves
      levels.push_back({cycle, std::max(0.0, value)});
    }
    return levels;
  }

 private:
  struct Change {
    uint64_t cycle;
    double value;
    int64_t open;
  };
  std::vector<Change> changes_;
};

// Which bytes of the scratchpad hold something, and since when. In this way each byte counts at most once at a time,
// whatever the commands do.
class HeldBytes {
 public:
  void write(const ScratchpadUse& use, uint64_t begin, uint64_t end) {
    cut(use);
    if (use.dense) {
      for_each(use, [&](int64_t low, const Span& span) { close(low, span, begin); });
      held_.erase(held_.lower_bound(use.low), held_.lower_bound(use.high));
      held_[use.low] = {use.high, begin, end};
      return;
    }
    int64_t at = use.low;
    std::vector<std::pair<int64_t, Span>> fresh;
    for_each(use, [&](int64_t low, Span& span) {
      if (at < low) fresh.emplace_back(at, Span{low, begin, end});
      span.until = std::max(span.until, end);
      at = span.high;
    });
    if (at < use.high) fresh.emplace_back(at, Span{use.high, begin, end});
    held_.insert(fresh.begin(), fresh.end());
  }

  void read(const ScratchpadUse& use, uint64_t end) {
    cut(use);
    for_each(use, [&](int64_t, Span& span) { span.until = std::max(span.until, end); });
  }

  std::vector<Level> levels() {
    for (const auto& [low, span] : held_) close(low, span, span.until);
    held_.clear();
    return changes_.levels();
  }

 private:
  struct Span {
    int64_t high = 0;
    uint64_t begin = 0, until = 0;
  };

  // So that spans begin or end at both ends of the use.
  void cut(const ScratchpadUse& use) {
    for (const int64_t at : {use.low, use.high}) {
      auto behind = held_.upper_bound(at);
      if (behind == held_.begin()) continue;
      auto& [low, span] = *std::prev(behind);
      if (low == at || span.high <= at) continue;
      held_[at] = span;
      span.high = at;
    }
  }

  template <typename Visit>
  void for_each(const ScratchpadUse& use, Visit&& visit) {
    for (auto span = held_.lower_bound(use.low); span != held_.end() && span->first < use.high; ++span) {
      visit(span->first, span->second);
    }
  }

  // `before`: the bytes are written anew.
  void close(int64_t low, const Span& span, uint64_t before) {
    changes_.add(span.begin, std::min(span.until, before), static_cast<double>(span.high - low));
  }

  std::map<int64_t, Span> held_;  // by their first byte; they do not overlap
  Changes changes_;
};

}  // namespace

std::vector<std::vector<ScratchpadUse>> list_scratchpad_uses(const compiler::Program& program) {
  std::vector<std::vector<ScratchpadUse>> uses;
  uses.reserve(program.command_count);
  const std::span<const uint32_t> stream = std::span(program.commands).first(program.main_words);
  const bool whole = contract::for_each_command(stream, [&](const contract::Header&, std::span<const uint32_t> words) {
    std::vector<ScratchpadUse>& own = uses.emplace_back();
    const auto note = [&](const MemoryAccess& access) {
      if (access.base.region != contract::Region::kScratchpad || access.run == 0 || access.moves == 0) return;
      own.push_back(use_of(access));
    };
    std::visit([&](const auto& command) { for_each_access(command, note); }, contract::decode_command(words));
    return true;
  });
  NPU_CHECK(whole);
  return uses;
}

std::vector<Level> scratchpad_levels(std::span<const Event> events, std::span<const std::vector<ScratchpadUse>> uses) {
  HeldBytes held;
  for (const Event& event : events) {
    if (event.command >= uses.size()) continue;
    // A command reads before it writes, where it does both.
    for (const ScratchpadUse& use : uses[event.command]) {
      if (!use.write) held.read(use, event.completed);
    }
    for (const ScratchpadUse& use : uses[event.command]) {
      if (use.write) held.write(use, event.started, event.completed);
    }
  }
  return held.levels();
}

std::vector<Level> dram_in_flight(std::span<const Event> events) {
  Changes changes;
  for (const Event& event : events) {
    changes.add(event.started, event.completed, static_cast<double>(uint64_t{event.dram_read} + event.dram_written));
  }
  return changes.levels();
}

std::vector<Level> dram_rates(std::span<const Event> events) {
  Changes changes;
  for (const Event& event : events) {
    if (event.completed <= event.started) continue;
    const auto bytes = static_cast<double>(uint64_t{event.dram_read} + event.dram_written);
    changes.add(event.started, event.completed, bytes / static_cast<double>(event.completed - event.started));
  }
  return changes.levels();
}

}  // namespace npu::report
