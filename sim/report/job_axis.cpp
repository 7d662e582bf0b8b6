#include "sim/report/job_axis.h"

#include <algorithm>
#include <map>

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

// Device times at which the firmware made the job go on. Bringing its scratchpad back is a resume too, so that of
// several without a stop between them only the last counts.
std::vector<uint64_t> resumed_at(const runtime::RunResult& result) {
  std::vector<uint64_t> times;
  const uint32_t ring = ring_of(result);
  if (ring == 0) return times;
  bool replaces = false;
  for (const FirmwarePhase& phase : result.phases) {
    if (phase.time <= result.times.started || phase.time > result.times.ended || phase.ring != ring) continue;
    if (phase.phase == Phase::kPreempt) replaces = false;
    if (phase.phase != Phase::kDispatch && phase.phase != Phase::kResume) continue;
    if (replaces) times.pop_back();
    times.push_back(phase.time);
    replaces = phase.phase == Phase::kResume;
  }
  return times;
}

// Cycles of the job at which it went on: a yield command at which a job stops has an event then, and another when the
// stream starts over at it.
std::vector<uint64_t> resumed_cycles(const runtime::RunResult& result) {
  std::vector<uint64_t> cycles;
  std::map<uint32_t, uint64_t> stopped;  // command, cycle
  for (const contract::Event& event : result.events) {
    if (static_cast<contract::Opcode>(event.opcode) != contract::Opcode::kYield) continue;
    const auto [first, fresh] = stopped.try_emplace(event.command, event.completed);
    if (!fresh) cycles.push_back(first->second);
  }
  std::sort(cycles.begin(), cycles.end());
  return cycles;
}

}  // namespace

JobAxis::JobAxis(const runtime::RunResult& result, uint64_t origin)
    : parts_{{0, result.times.completed == 0 ? origin : result.times.started}} {
  if (result.times.preemptions == 0) return;
  const std::vector<uint64_t> times = resumed_at(result);
  const std::vector<uint64_t> cycles = resumed_cycles(result);
  if (times.size() != result.times.preemptions || cycles.size() != times.size()) return;
  for (size_t i = 0; i < times.size(); ++i) parts_.push_back({cycles[i], times[i]});
}

uint64_t JobAxis::time(uint64_t cycle) const {
  const auto behind = std::upper_bound(parts_.begin() + 1, parts_.end(), cycle,
                                       [](uint64_t value, const Part& part) { return value < part.cycle; });
  const Part& part = *(behind - 1);
  return part.time + (cycle - part.cycle);
}

}  // namespace npu::report
