// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/play/clashes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hw/contract/gen/accesses.h"
#include "hw/contract/overloaded.h"
#include "hw/timing/mxu_cycles.h"

namespace npu::compiler::play {
namespace {

// Clashes that cost a cycle, as a share of those that take place: what loses may have been early, and of two ports that
// both stay at a bank one is soon behind the other. Fitted to what the device takes for the networks of the baselines,
// which hold the estimate against it.
constexpr double kOwnPorts = 0.35;  // two ports of an engine
// The same of an MXU that computes pixels side by side: activations and results move on by as many bytes a cycle, so
// where they clash once they do so again and again.
constexpr double kOwnPortsInStep = 0.7;
constexpr double kOtherEngine = 0.25;  // each of two engines
constexpr double kEngineOnBeats = 1;   // a beat that finds a request of an engine
constexpr double kBeatsOnEngine = 2;   // an engine that finds a beat, where the bank has served the engine last

// Part of the requests of so many bytes each, one behind the other, that are to the bank of the one before.
double stays(double bytes, const contract::Capabilities& capabilities) {
  return std::max(0.0, 1 - bytes / capabilities.spm_bank_bytes);
}

class Loads {
 public:
  Loads(uint64_t cycles, const contract::Capabilities& capabilities)
      : cycles_(static_cast<double>(cycles)), capabilities_(capabilities) {}

  // So many requests for so many bytes together.
  void add(uint64_t requests, uint64_t bytes) {
    if (requests == 0 || bytes == 0) return;
    const double each = static_cast<double>(bytes) / static_cast<double>(requests);
    const double rate = static_cast<double>(requests) / cycles_;
    const double banks = 1 + std::max(0.0, each - 1) / capabilities_.spm_bank_bytes;
    loads_.push_back({std::min(rate, 1.0), banks, stays(each, capabilities_)});
  }
  [[nodiscard]] std::vector<PortLoad> take() { return std::move(loads_); }

 private:
  const double cycles_;
  const contract::Capabilities& capabilities_;
  std::vector<PortLoad> loads_;
};

void add(const contract::MxuCommand& command, const contract::Capabilities& capabilities, Loads& loads) {
  const timing::MxuLoops loops = timing::mxu_loops(command, capabilities);
  const uint64_t src = contract::element_bytes(command.src_type), dst = contract::element_bytes(command.dst_type);
  const bool depthwise = command.mode == contract::MxuMode::kDepthwise;
  const uint64_t once = uint64_t{command.in_h} * command.in_w * command.in_c * src;
  const uint64_t pixels = loops.pixels * loops.side_by_side;
  const uint64_t each = pixels * loops.groups * timing::mxu_window(command) * command.in_c * src;
  const uint64_t requests = loops.pixels * loops.groups;
  loads.add(requests * loops.steps, depthwise ? std::min(once, each) : each);
  const uint64_t weights = loops.blocks * loops.weight_requests();
  loads.add(weights, weights * loops.port_bytes);
  const uint64_t entries = loops.blocks * loops.parameter_requests();
  loads.add(entries, entries * loops.port_bytes);
  loads.add(requests, pixels * command.out_c * dst);
  if (loops.residual) loads.add(requests, pixels * command.out_c * dst);
}

// A request for each vector of what the contract says the command accesses; tables and parameters, which have no
// dimensions, come by rows of four bytes a lane.
template <contract::VpuCommand Command>
void add(const Command& command, const contract::Capabilities& capabilities, Loads& loads) {
  for_each_access(command, [&](const contract::MemoryAccess& access) {
    uint64_t bytes = access.run;
    for (const contract::MemoryAccess::Dim& dim : access.dims) bytes *= dim.count;
    const uint64_t lane = access.rank == 0 ? 4 : contract::element_bytes(access.type);
    loads.add(timing::ceil_div(bytes, lane * capabilities.vpu_lanes), bytes);
  });
}

}  // namespace

std::vector<PortLoad> port_loads(const backend::Body& body, uint64_t cycles,
                                 const contract::Capabilities& capabilities) {
  Loads loads(std::max<uint64_t>(cycles, 1), capabilities);
  std::visit(Overloaded{
                 [&](const contract::MxuCommand& command) { add(command, capabilities, loads); },
                 [&]<contract::VpuCommand Command>(const Command& command) { add(command, capabilities, loads); },
                 [](const auto&) {},
             },
             body);
  return loads.take();
}

double Clashes::clash(const PortLoad& a, const PortLoad& b) const {
  return a.rate * b.rate * std::min(1.0, (a.banks + b.banks - 1) / capabilities_.spm_banks);
}

// The bank goes to the one that it has not served last. Beats that stay there are last as often as the engine is.
double Clashes::lost_to_beat(const PortLoad& load) const {
  const double beats = stays(capabilities_.dma_port_bytes, capabilities_);
  return kBeatsOnEngine * load.stays * (1 - beats / 2) * clash(load, {1, 1, 0});
}

void Clashes::pass(uint64_t now, uint64_t beats) {
  const auto cycles = static_cast<double>(now - now_), moved = static_cast<double>(beats - beats_);
  now_ = now;
  beats_ = beats;
  double both = 0;
  for (const PortLoad& a : engines_[0].loads) {
    for (const PortLoad& b : engines_[1].loads) both += clash(a, b);
  }
  for (Engine& engine : engines_) {
    engine.lost += kOtherEngine * cycles * both;
    for (const PortLoad& load : engine.loads) engine.lost += moved * lost_to_beat(load);
  }
}

void Clashes::begin(contract::Queue number, const backend::Body& body, uint64_t cycles, uint64_t now, uint64_t beats) {
  pass(now, beats);
  Engine& own = engine(number);
  own.loads = port_loads(body, cycles, capabilities_);
  own.lost = 0;
  const auto* mxu = std::get_if<contract::MxuCommand>(&body);
  const double share = mxu != nullptr && mxu->side_by_side_log2 > 0 ? kOwnPortsInStep : kOwnPorts;
  for (size_t i = 0; i < own.loads.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const PortLoad &a = own.loads[i], &b = own.loads[k];
      own.lost += share * (1 - a.stays * b.stays) * static_cast<double>(cycles) * clash(a, b);
    }
  }
}

uint64_t Clashes::end(contract::Queue number, uint64_t now, uint64_t beats) {
  pass(now, beats);
  Engine& own = engine(number);
  own.loads.clear();
  return static_cast<uint64_t>(std::llround(own.lost));
}

uint64_t Clashes::beat_cycles(uint64_t beats) const {
  double clashes = 0;
  for (const Engine& engine : engines_) {
    for (const PortLoad& load : engine.loads) clashes += clash(load, {1, 1, 0});
  }
  return beats + static_cast<uint64_t>(std::llround(static_cast<double>(beats) * kEngineOnBeats * clashes));
}

}  // namespace npu::compiler::play
