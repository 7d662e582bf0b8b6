// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/liveness.h"

namespace npu::compiler::backend {
namespace {

template <class Visit>
void for_each_scratchpad_run(const std::vector<ByteSet>& sets, bool write, Visit&& visit) {
  for (const ByteSet& set : sets) {
    if (set.space == kScratchpadSpace && set.write == write) set.for_each_run(visit);
  }
}

}  // namespace

Liveness::Liveness(const std::vector<std::vector<ByteSet>>& footprints)
    : footprints_(footprints), bytes_(footprints.size() + 1) {
  IntervalSet written;
  for (size_t i = 0; i < footprints_.size(); ++i) {
    for_each_scratchpad_run(footprints_[i], false, [&](int64_t low, int64_t high) {
      if (written.contains(low, high)) return;
      IntervalSet& unwritten = unwritten_[i];
      unwritten.add(low, high);
      for (const ByteSpan& known : written.within(low, high)) unwritten.remove(known.low, known.high);
    });
    for_each_scratchpad_run(footprints_[i], true, [&](int64_t low, int64_t high) { written.add(low, high); });
  }
  IntervalSet live;
  for (size_t i = footprints_.size(); i-- > 0;) {
    step_back(i, live);
    bytes_[i] = live.bytes();
  }
}

void Liveness::step_back(size_t command, IntervalSet& live) const {
  const std::vector<ByteSet>& sets = footprints_[command];
  for_each_scratchpad_run(sets, true, [&](int64_t low, int64_t high) { live.remove(low, high); });
  for_each_scratchpad_run(sets, false, [&](int64_t low, int64_t high) { live.add(low, high); });
  const auto unwritten = unwritten_.find(command);
  if (unwritten == unwritten_.end()) return;
  for (const ByteSpan& span : unwritten->second.spans()) live.remove(span.low, span.high);
}

std::vector<std::vector<ByteSpan>> Liveness::spans(std::span<const size_t> commands) const {
  std::vector<std::vector<ByteSpan>> out(commands.size());
  if (commands.empty()) return out;
  IntervalSet live;
  size_t next = commands.size();
  for (size_t i = footprints_.size(); i-- > 0 && next > 0;) {
    step_back(i, live);
    if (commands[next - 1] == i) out[--next] = live.spans();
  }
  return out;
}

}  // namespace npu::compiler::backend
