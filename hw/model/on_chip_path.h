// SPDX-License-Identifier: Apache-2.0
// A DMA channel's path to an on-chip memory (scratchpad or persistent SRAM), or its fill generator. The path moves one
// contiguous piece at a time, dma_port_bytes a cycle and at least a cycle a piece; banks or port may slow it down.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "hw/engine/dma_walk.h"
#include "hw/model/machine.h"

namespace npu::model {

class OnChipPath {
 public:
  explicit OnChipPath(Machine& machine) : machine_(machine) {}

  // Moves data along `walk` of `space`; the channel's earlier command is done.
  void start(contract::Space space, const engine::ExtentWalk& walk);
  // Delivers `pattern_bytes` bytes of a pattern over and over; takes no time.
  void start_fill(uint64_t pattern, uint32_t pattern_bytes);

  // Moves the next bytes of the walk, not before cycle `earliest`; returns the cycle at which they are through.
  uint64_t read(std::span<uint8_t> data, uint64_t earliest);
  uint64_t write(std::span<const uint8_t> data, uint64_t earliest);

  [[nodiscard]] const engine::ExtentWalk& walk() const { return walk_; }
  [[nodiscard]] uint64_t free_at() const { return free_at_; }
  [[nodiscard]] uint64_t busy() const { return busy_; }
  [[nodiscard]] uint64_t bank_conflicts() const { return bank_conflicts_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool fills() const { return space_ == contract::Space::kNone; }

 private:
  static constexpr uint32_t kMostBanks = 128;

  template <class Move>
  uint64_t move(uint64_t bytes, uint64_t earliest, Move&& move);

  Machine& machine_;
  contract::Space space_ = contract::Space::kNone;
  engine::ExtentWalk walk_;
  std::array<uint8_t, 8> pattern_{};
  uint32_t pattern_bytes_ = 1, pattern_phase_ = 0;
  uint64_t free_at_ = 0, busy_ = 0, bank_conflicts_ = 0, bytes_ = 0;
};

}  // namespace npu::model
