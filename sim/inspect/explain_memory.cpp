// SPDX-License-Identifier: Apache-2.0
// The scratchpad over the steps of a program.
#include <algorithm>
#include <set>

#include "sim/inspect/explain.h"

namespace npu::inspect {
namespace {

using compiler::Explanation;

// The places of a program, as time goes on.
class PlaceSweep {
 public:
  explicit PlaceSweep(const Explanation& facts) : size_(facts.scratchpad_bytes) {
    for (const Explanation::Place& place : facts.places) order_.push_back(&place);
    std::stable_sort(order_.begin(), order_.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  }

  // What is taken, and the largest piece that is free, in the tick of [first, last] in which most is taken.
  StepMemory busiest(int64_t first, int64_t last) {
    std::erase_if(active_, [&](const Explanation::Place* place) { return place->last < first; });
    for (; next_ < order_.size() && order_[next_]->first <= last; ++next_) {
      if (order_[next_]->last >= first) active_.push_back(order_[next_]);
    }
    std::set<int64_t> ticks = {first};
    for (const Explanation::Place* place : active_) ticks.insert(std::clamp(place->first, first, last));
    StepMemory most;
    most.used = -1;
    for (const int64_t tick : ticks) {
      const StepMemory now = at(tick);
      if (now.used > most.used) most = now;
    }
    return most;
  }

 private:
  [[nodiscard]] StepMemory at(int64_t tick) const {
    std::vector<const Explanation::Place*> held;
    for (const Explanation::Place* place : active_) {
      if (place->first <= tick && tick <= place->last) held.push_back(place);
    }
    std::sort(held.begin(), held.end(), [](const auto* a, const auto* b) { return a->address < b->address; });
    StepMemory memory;
    int64_t end = 0;
    for (const Explanation::Place* place : held) {
      memory.used += place->bytes;
      memory.largest_piece = std::max(memory.largest_piece, place->address - end);
      end = std::max(end, place->address + place->bytes);
    }
    memory.largest_piece = std::max(memory.largest_piece, size_ - end);
    memory.free = size_ - memory.used;
    return memory;
  }

  int64_t size_;
  std::vector<const Explanation::Place*> order_, active_;
  size_t next_ = 0;
};

}  // namespace

int64_t StepMemory::fragmented() const { return std::max<int64_t>(0, std::min(denied, free) - largest_piece); }

double MemoryLine::lost() const { return size == 0 ? 0 : static_cast<double>(most_lost) / static_cast<double>(size); }

MemoryLine memory_line(const Explanation& facts) {
  MemoryLine line;
  line.size = facts.scratchpad_bytes;
  for (const Explanation::Place& place : facts.places) line.peak = std::max(line.peak, place.address + place.bytes);
  std::vector<int64_t> denied(facts.step_count);
  for (const Explanation::Denied& one : facts.denied) {
    line.most_lost = std::max(line.most_lost, one.lost);
    for (uint32_t s = one.first; s <= one.last && s < denied.size(); ++s) denied[s] = std::max(denied[s], one.bytes);
  }
  PlaceSweep sweep(facts);
  for (const Explanation::Step& step : facts.steps) {
    StepMemory memory = sweep.busiest(step.index * facts.ticks, (step.index + int64_t{1}) * facts.ticks - 1);
    memory.step = step.index;
    memory.denied = denied[step.index];
    line.live_peak = std::max(line.live_peak, memory.used);
    line.steps.push_back(memory);
  }
  return line;
}

}  // namespace npu::inspect
