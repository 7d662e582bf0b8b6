// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/hand_over.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "hw/contract/error.h"
#include "hw/timing/cycles.h"

namespace npu::cosim {

using engine::BeatRun;
using engine::Port;

namespace {

timing::Ports port_of(Unit unit, const BeatRun& run) {
  const bool mxu = unit == Unit::kMxu;
  switch (run.port) {
    case Port::kActivation:
      return timing::kMxuActivations;
    case Port::kWeight:
      return timing::kMxuWeights;
    case Port::kParameter:
      return mxu ? timing::Ports{timing::kMxuParameters} : timing::Ports{timing::kVpuParameters};
    case Port::kOperand:
      return timing::kVpuRead;
    case Port::kResult:
      return mxu ? timing::Ports{timing::kMxuResults} : timing::Ports{timing::kVpuWrite};
  }
  panic(__FILE__, __LINE__, "a beat of no port");
}

using PerPort = std::array<uint64_t, timing::kMostPorts>;

// Grants that each port needs, chunk by chunk: one for every cycle in which it has beats. As in the device, what is
// left behind the last chunk goes with it.
std::vector<PerPort> grants_needed(Unit unit, uint64_t cycles, std::span<const BeatRun> beats) {
  std::array<std::vector<uint64_t>, timing::kMostPorts> busy;  // cycles
  for (const BeatRun& run : beats) {
    std::vector<uint64_t>& port = busy[static_cast<size_t>(std::countr_zero(port_of(unit, run)))];
    for (uint64_t beat = 0; beat < run.beats; ++beat) port.push_back(run.start + beat * run.interval);
  }
  std::vector<PerPort> needed(timing::ceil_div(cycles, engine::kChunkCycles));
  for (size_t port = 0; port < busy.size() && !needed.empty(); ++port) {
    std::sort(busy[port].begin(), busy[port].end());
    const auto end = std::unique(busy[port].begin(), busy[port].end());
    for (auto cycle = busy[port].begin(); cycle != end; ++cycle) {
      ++needed[std::min<uint64_t>(*cycle / engine::kChunkCycles, needed.size() - 1)][port];
    }
  }
  return needed;
}

}  // namespace

uint64_t handed_over_cycles(Unit unit, uint64_t cycles, std::span<const BeatRun> beats, Grants grants) {
  uint64_t sum = 0, left = cycles;
  for (PerPort& needed : grants_needed(unit, cycles, beats)) {
    const uint64_t length = std::min(engine::kChunkCycles, left);
    left -= length;
    const auto waits = [&] {
      return std::any_of(needed.begin(), needed.end(), [](uint64_t grants) { return grants > 0; });
    };
    for (uint64_t cycle = 0; cycle < length || waits(); ++cycle, ++sum) {
      const timing::Ports ready = grants.next();
      for (size_t port = 0; port < needed.size(); ++port) {
        if ((ready >> port & 1) != 0 && needed[port] > 0) --needed[port];
      }
    }
  }
  return sum;
}

}  // namespace npu::cosim
