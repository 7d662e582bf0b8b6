// SPDX-License-Identifier: Apache-2.0
// The prefetch of the command stream, as hw/model/fetch_unit has it.
#pragma once

#include <cstdint>
#include <functional>

#include "driver/compiler/play/memory.h"
#include "hw/timing/sequencer_cycles.h"

namespace npu::compiler::play {

class Fetch : private BurstUser {
 public:
  // A stream of `bytes` bytes in DRAM from `base` on. `under_way` tells what the prefetch makes
  // way for, `arrived` is called when more of it is there.
  Fetch(Memory& memory, const contract::Capabilities& capabilities, uint64_t base, uint64_t bytes,
        std::function<timing::UnderWay()> under_way, std::function<void()> arrived);

  // Whether the next `bytes` are there; asks memory for more.
  [[nodiscard]] bool ready(uint64_t bytes);
  void take(uint64_t bytes) { taken_ += bytes; }
  // Memory owes nothing.
  [[nodiscard]] bool settled() const { return owed_ == 0; }
  // What is there and not taken is fetched anew. All must have settled().
  void jump();

 private:
  void burst_done(uint32_t tag, bool write) override;
  void request();

  Memory& memory_;
  const uint64_t base_, bytes_, burst_bytes_, most_;
  const std::function<timing::UnderWay()> under_way_;
  const std::function<void()> arrived_call_;
  uint64_t requested_ = 0, arrived_ = 0, taken_ = 0;  // bytes
  uint64_t owed_ = 0;                                 // bursts
};

}  // namespace npu::compiler::play
