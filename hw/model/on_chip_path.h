// SPDX-License-Identifier: Apache-2.0
// A DMA channel's path to an on-chip memory (scratchpad or persistent SRAM), or its fill generator.
//
// Bytes move when read() or write() is called; their time is that of the walk's beats, one at a time through the
// crossbar, each within a piece that is contiguous and of at most dma_port_bytes. Beats do not end with bursts: what of
// a target's data is less than a beat waits for the rest, and what of a source's beat is more than a burst is kept for
// the next one.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>

#include "hw/contract/dma_walk.h"
#include "hw/model/machine.h"

namespace npu::model {

class OnChipPath final : private timing::SteppedSchedule<OnChipPath>, private timing::Crossbar::Lane {
 public:
  enum class Side : uint8_t { kSource, kTarget };

  class Client {
   public:
    virtual ~Client() = default;
    // The bytes of the next pass() are through; they are there at cycle `at`, now or soon. Late, with those of the next
    // pass() that tells, for one that does not.
    virtual void passed(Side side, uint64_t at) = 0;
  };

  OnChipPath(Machine& machine, Side side, Client& client);

  // Moves data along `walk` of `space`; the channel's earlier command is done.
  void start(contract::Space space, const contract::ExtentWalk& walk);
  // Delivers `pattern_bytes` bytes of a pattern over and over; takes no time.
  void start_fill(uint64_t pattern, uint32_t pattern_bytes);

  // Moves the next bytes of the walk.
  void read(std::span<uint8_t> data);
  void write(std::span<const uint8_t> data);
  // Takes the time of the next bytes of the walk: those of a target are there from now on, those of a source wanted.
  // The last one of a walk has to tell.
  void pass(uint64_t bytes, bool tells);
  // Gives up what has not passed.
  void stop();

  [[nodiscard]] uint64_t beats() const { return beats_; }
  [[nodiscard]] uint64_t bank_conflicts() const { return waited(); }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool fills() const { return space_ == contract::Space::kNone; }

 private:
  friend timing::SteppedSchedule<OnChipPath>;
  template <class Move>
  void move(uint64_t bytes, Move&& move);
  // The next beats have moved so many bytes of the walk.
  void advance_by(uint64_t bytes, uint64_t beats);
  // Nothing is left to do for the first so many bytes.
  [[nodiscard]] bool passed(uint64_t end) const;
  // Tells the client what is through, and goes on with the rest.
  void go_on();
  void tell();

  [[nodiscard]] timing::Ports asking() const override { return 1; }
  void step(timing::Ports granted) override;
  [[nodiscard]] bool done() const override { return passed(goal_); }
  [[nodiscard]] uint64_t steady() const override;
  void skip(uint64_t cycles) override { advance_by(cycles * beat_, cycles); }
  [[nodiscard]] timing::OnChip memory() const {
    return space_ == contract::Space::kPersistent ? timing::OnChip::kPersistent : timing::OnChip::kScratchpad;
  }
  [[nodiscard]] timing::OnChipSet memories() const override { return timing::set_of(memory()); }
  [[nodiscard]] timing::MemoryRequest next(uint32_t port) override;
  void ended(uint64_t end) override;
  [[nodiscard]] bool wants_end() const override { return tells_; }
  [[nodiscard]] uint64_t cycles_left() const override;

  Machine& machine_;
  const Side side_;
  Client& client_;
  contract::Space space_ = contract::Space::kNone;
  contract::ExtentWalk walk_;        // of the data
  contract::ExtentWalk beats_walk_;  // of the beats
  struct Pass {
    uint64_t end;  // bytes of the walk
    bool tells;
  };
  std::deque<Pass> passes_;                     // those that the client does not know to be through
  uint64_t wanted_ = 0, moved_ = 0, goal_ = 0;  // bytes of the walk
  uint64_t beat_ = 0;                           // bytes of the next beat; 0: none
  bool tells_ = false;                          // when the goal is reached
  std::array<uint8_t, 8> pattern_{};
  uint32_t pattern_bytes_ = 1, pattern_phase_ = 0;
  uint64_t beats_ = 0, bytes_ = 0;
};

}  // namespace npu::model
