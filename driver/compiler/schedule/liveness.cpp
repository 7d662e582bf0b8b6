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

std::vector<Jump> jumps_of(const std::vector<Command>& commands) {
  std::map<uint32_t, size_t> labels;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (const auto* label = std::get_if<contract::LabelCommand>(&commands[i].body)) labels[label->index] = i;
  }
  std::vector<Jump> jumps;
  for (size_t i = 0; i < commands.size(); ++i) {
    const auto* branch = std::get_if<contract::BranchCommand>(&commands[i].body);
    if (branch == nullptr) continue;
    jumps.push_back({i, labels.at(branch->target), branch->mode != contract::BranchMode::kIfFalse});
  }
  return jumps;
}

Liveness::Liveness(const std::vector<std::vector<ByteSet>>& footprints, std::span<const Jump> jumps)
    : footprints_(footprints), bytes_(footprints.size() + 1) {
  for (const Jump& jump : jumps) {
    jumps_.emplace(jump.from, jump);
    labels_.try_emplace(jump.to);
  }
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
  settle();
  IntervalSet live;
  for (size_t i = footprints_.size(); i-- > 0;) {
    step_back(i, live);
    bytes_[i] = live.bytes();
  }
}

// What is live at the labels that loops go back to is known when it does not change any more.
void Liveness::settle() {
  for (bool changed = !labels_.empty(); changed;) {
    changed = false;
    IntervalSet live;
    for (size_t i = footprints_.size(); i-- > 0;) {
      step_back(i, live);
      const auto label = labels_.find(i);
      if (label == labels_.end() || label->second.bytes() == live.bytes()) continue;
      label->second = live;  // it only grows
      changed = true;
    }
  }
}

void Liveness::step_back(size_t command, IntervalSet& live) const {
  if (const auto jump = jumps_.find(command); jump != jumps_.end()) {
    const IntervalSet& there = labels_.at(jump->second.to);
    if (jump->second.always) live = {};
    for (const ByteSpan& span : there.spans()) live.add(span.low, span.high);
  }
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
