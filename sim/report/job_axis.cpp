// SPDX-License-Identifier: Apache-2.0
#include "sim/report/job_axis.h"

#include <algorithm>
#include <utility>

#include "hw/contract/gen/commands.h"

namespace npu::report {
namespace {

using contract::Phase;
using runtime::FirmwarePhase;

// The ring that the job came from: that of the dispatch which its start belongs to; 0 when its record is lost.
uint32_t ring_of(const runtime::RunResult& result) {
  uint32_t ring = 0;
  for (const FirmwarePhase& phase : result.phases) {
    if (phase.time > result.times.started) break;
    if (phase.phase == Phase::kDispatch) ring = phase.ring;
  }
  return ring;
}

struct Interruption {
  uint64_t asked = 0;    // device time at which the firmware asked it to stop
  uint64_t resumed = 0;  // and at which it made it go on
};

// Bringing back its scratchpad is a resume too, so that of several without a stop between them only the last counts.
// The firmware enters the phase kPreempt for a job twice: to ask, and to save.
std::vector<Interruption> interruptions(const runtime::RunResult& result) {
  std::vector<Interruption> list;
  const uint32_t ring = ring_of(result);
  if (ring == 0) return list;
  bool stopped = false;
  for (const FirmwarePhase& phase : result.phases) {
    if (phase.time <= result.times.started || phase.time > result.times.ended || phase.ring != ring) continue;
    if (phase.phase == Phase::kPreempt && !stopped) {
      list.push_back({phase.time, 0});
      stopped = true;
    }
    if ((phase.phase != Phase::kDispatch && phase.phase != Phase::kResume) || list.empty()) continue;
    list.back().resumed = phase.time;
    stopped = false;
  }
  if (stopped) list.pop_back();  // it was asked when no yield was left
  return list;
}

// Cycles of the job at which its yield commands had completed, ascending.
std::vector<uint64_t> yields(const runtime::RunResult& result) {
  std::vector<uint64_t> cycles;
  for (const contract::Event& event : result.events) {
    if (static_cast<contract::Opcode>(event.opcode) == contract::Opcode::kYield) cycles.push_back(event.completed);
  }
  std::sort(cycles.begin(), cycles.end());
  return cycles;
}

}  // namespace

JobAxis::JobAxis(const runtime::RunResult& result, uint64_t origin)
    : parts_{{0, result.times.completed == 0 ? origin : result.times.started}} {
  if (result.times.preemptions == 0) return;
  const std::vector<Interruption> list = interruptions(result);
  if (list.size() != result.times.preemptions) return;
  const std::vector<uint64_t> places = yields(result);
  auto place = places.begin();
  std::vector<Part> parts = parts_;
  for (const Interruption& interruption : list) {
    const Part& last = parts.back();
    place = std::find_if(place, places.end(), [&](uint64_t cycle) {
      return cycle >= last.cycle && last.time + (cycle - last.cycle) >= interruption.asked;
    });
    if (place == places.end()) return;
    parts.push_back({*place++, interruption.resumed});
  }
  parts_ = std::move(parts);
}

uint64_t JobAxis::time(uint64_t cycle) const {
  const auto behind = std::upper_bound(parts_.begin() + 1, parts_.end(), cycle,
                                       [](uint64_t value, const Part& part) { return value < part.cycle; });
  const Part& part = *(behind - 1);
  return part.time + (cycle - part.cycle);
}

}  // namespace npu::report
