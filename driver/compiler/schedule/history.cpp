// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/history.h"

#include <algorithm>

namespace npu::compiler::backend {
namespace {

using contract::Queue;

constexpr size_t kMostStretches = 128;  // of a chunk

}  // namespace

void join(QueueCounts& a, const QueueCounts& b) {
  for (const Queue q : contract::kQueuesOfEngines) a[q] = std::max(a[q], b[q]);
}

bool History::holds(size_t chunk, int64_t address) const {
  return chunk < chunks_.size() && chunks_[chunk].front().low <= address &&
         (chunk + 1 == chunks_.size() || address < chunks_[chunk + 1].front().low);
}

// The stretch that holds `address`.
History::Place History::find(int64_t address) const {
  size_t chunk = holds(last_, address) ? last_ : last_ + 1;
  if (!holds(chunk, address)) {
    const auto behind = std::upper_bound(chunks_.begin(), chunks_.end(), address,
                                         [](int64_t a, const Chunk& c) { return a < c.front().low; });
    chunk = static_cast<size_t>(behind - chunks_.begin()) - 1;
  }
  const Chunk& stretches = chunks_[chunk];
  const auto behind = std::upper_bound(stretches.begin(), stretches.end(), address,
                                       [](int64_t a, const Stretch& s) { return a < s.low; });
  return {chunk, static_cast<size_t>(behind - stretches.begin()) - 1};
}

// Makes a stretch begin at `at`; returns it.
History::Place History::cut(int64_t at) {
  Place place = find(at);
  Chunk& chunk = chunks_[place.chunk];
  if (chunk[place.index].low == at) return place;
  chunk.insert(chunk.begin() + static_cast<ptrdiff_t>(place.index) + 1, {at, chunk[place.index].state});
  ++place.index;
  if (chunk.size() <= kMostStretches) return place;

  const size_t half = chunk.size() / 2;
  Chunk upper(chunk.begin() + static_cast<ptrdiff_t>(half), chunk.end());
  chunk.resize(half);
  chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(place.chunk) + 1, std::move(upper));
  return place.index < half ? place : Place{place.chunk + 1, place.index - half};
}

// Makes the stretch at `first` reach to `high`, where one begins.
void History::erase_behind(Place first, int64_t high) {
  const auto from = [high](Chunk& chunk, size_t index) {
    const auto begin = chunk.begin() + static_cast<ptrdiff_t>(index);
    const auto end = std::find_if(begin, chunk.end(), [high](const Stretch& s) { return s.low >= high; });
    chunk.erase(begin, end);
  };
  from(chunks_[first.chunk], first.index + 1);
  const auto next = chunks_.begin() + static_cast<ptrdiff_t>(first.chunk) + 1;
  const auto last = std::find_if(next, chunks_.end(), [high](const Chunk& c) { return c.back().low >= high; });
  if (last != chunks_.end()) from(*last, 0);
  chunks_.erase(next, last);
}

void History::access(int64_t low, int64_t high, bool write, Queue queue, int32_t count, QueueCounts& need) {
  if (low >= high) return;
  cut(high);
  const Place first = cut(low);
  last_ = first.chunk;
  for (Place at = first; at.chunk < chunks_.size(); ++at.chunk, at.index = 0) {
    Chunk& chunk = chunks_[at.chunk];
    for (; at.index < chunk.size(); ++at.index) {
      if (chunk[at.index].low >= high) break;
      State& state = chunk[at.index].state;
      if (state.writer) need[*state.writer] = std::max(need[*state.writer], state.writer_count);
      if (write) {
        join(need, state.readers);
      } else {
        state.readers[queue] = count;
      }
    }
    if (at.index < chunk.size()) break;
  }
  if (!write) return;
  erase_behind(first, high);
  chunks_[first.chunk][first.index].state = {queue, count, {}};
}

}  // namespace npu::compiler::backend
