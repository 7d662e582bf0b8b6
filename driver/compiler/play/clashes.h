// SPDX-License-Identifier: Apache-2.0
// What engines and DMA lose where two requests want one bank of the scratchpad. An estimate: requests come as often and
// are as wide as the command makes them on average, and find any bank.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "driver/compiler/schedule/tiled_step.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/queues.h"

namespace npu::compiler::play {

// Of one port of an engine at work.
struct PortLoad {
  double rate = 0;   // requests a cycle
  double banks = 0;  // of a request
  double stays = 0;  // part of the requests that are to the bank of the one before
};
// Of a command that takes so many cycles. Empty for one of no engine.
[[nodiscard]] std::vector<PortLoad> port_loads(const backend::Body& body, uint64_t cycles,
                                               const contract::Capabilities& capabilities);

class Clashes {
 public:
  explicit Clashes(const contract::Capabilities& capabilities) : capabilities_(capabilities) {}

  // An engine begins with a command that takes so many cycles by itself. `beats`: those of DMA on the chip so far.
  void begin(contract::Queue engine, const backend::Body& body, uint64_t cycles, uint64_t now, uint64_t beats);
  // They are over: the cycles that it takes longer.
  [[nodiscard]] uint64_t end(contract::Queue engine, uint64_t now, uint64_t beats);
  // Cycles that beats of DMA take now.
  [[nodiscard]] uint64_t beat_cycles(uint64_t beats) const;

 private:
  struct Engine {
    std::vector<PortLoad> loads;
    double lost = 0;  // cycles
  };
  // What took place since the last time.
  void pass(uint64_t now, uint64_t beats);
  // Of a cycle: that a request of each finds the other's bank.
  [[nodiscard]] double clash(const PortLoad& a, const PortLoad& b) const;
  // Cycles that a port of an engine loses for each beat of DMA.
  [[nodiscard]] double lost_to_beat(const PortLoad& load) const;
  [[nodiscard]] Engine& engine(contract::Queue number) { return engines_[number == contract::Queue::kMxu ? 0 : 1]; }

  const contract::Capabilities& capabilities_;
  std::array<Engine, 2> engines_;
  uint64_t now_ = 0, beats_ = 0;
};

}  // namespace npu::compiler::play
