// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/cost.h"

#include <algorithm>

#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {
namespace {

constexpr double kDramLatency = 40, kChipLatency = 12;
constexpr double kFetchBytes = 200;  // of the port that a command costs
constexpr int64_t kDramGrain = 64;   // bytes that DRAM is busy with at least for a run

}  // namespace

double transfer_cycles(int64_t runs, int64_t run, bool dram, const contract::Capabilities& c) {
  const int64_t chip = ceil_div(run, c.dma_port_bytes);
  if (!dram) return static_cast<double>(runs * chip);
  return static_cast<double>(runs * std::max(chip, ceil_div(std::max(run, kDramGrain), c.dma_port_bytes)));
}

double transfer_latency(bool dram) { return dram ? kDramLatency : kChipLatency; }

double fetch_cycles(double commands, const contract::Capabilities& c) {
  return commands * kFetchBytes / c.dma_port_bytes;
}

}  // namespace npu::compiler::backend
