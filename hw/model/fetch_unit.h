// SPDX-License-Identifier: Apache-2.0
// Prefetch of the command stream: reads ahead of the sequencer through the memory port, timing::kPrefetchBytes at most,
// in bursts cut at multiples of dma_burst_bytes. Where many commands are under way (timing::prefetch_pauses) it leaves
// memory to their data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/model/machine.h"
#include "hw/timing/sequencer_cycles.h"

namespace npu::model {

class FetchUnit : private BurstClient {
 public:
  // Twice the longest command, and at least two of the longest bursts.
  static_assert(timing::kPrefetchBytes >= 2 * 4 * contract::kMaxCommandWords);

  explicit FetchUnit(Machine& machine);

  // A stream of `bytes` bytes, read from byte `start` <= bytes on.
  void begin_job(uint64_t base, uint64_t start, uint64_t bytes);

  // Whether the next `bytes` of the stream are here; asks memory for more. The stream must have that many left.
  [[nodiscard]] bool ready(uint32_t bytes);
  // When ready() is false: what to wait for; while the prefetch pauses, for the machine's progress.
  [[nodiscard]] const sc_core::sc_event& event() const { return arrival_.event(); }
  // Functional mode: makes the next `bytes` ready. False after a bus error.
  [[nodiscard]] bool fetch_now(uint32_t bytes);
  // Goes on at byte `start` <= bytes of the stream. All must have settled().
  void jump(uint64_t start);
  // Asks for the first words before they are wanted; nothing without time.
  void begin() {
    if (machine_.clock.timed()) request();
  }

  // Copies the next words without taking them; they must be ready.
  void peek(std::span<uint32_t> words) const;
  void take(uint32_t bytes) { taken_ += bytes; }
  // Of the stream, not taken.
  [[nodiscard]] uint64_t left() const { return bytes_ - taken_; }
  // Bytes before the next one, from the start of the stream.
  [[nodiscard]] uint64_t position() const { return taken_; }
  // Bytes that memory was asked for, and those of them that it has delivered, before jumps too.
  [[nodiscard]] uint64_t requested() const { return asked_before_ + requested_ - start_; }
  [[nodiscard]] uint64_t fetched() const { return arrived_before_ + arrived_ - start_; }
  // What memory is asked for when the stream goes on to its end.
  [[nodiscard]] uint64_t to_the_end() const { return asked_before_ + bytes_ - start_; }
  // Takes in what has arrived; false while memory owes more and none has failed(). Then, event() is what to wait for.
  [[nodiscard]] bool settled();
  // Bursts that memory owes.
  [[nodiscard]] uint32_t bursts() const;
  [[nodiscard]] bool failed() const { return failed_; }
  // DRAM address of the next byte.
  [[nodiscard]] uint64_t address() const { return base_ + taken_; }
  void wake() { arrival_.set_now(); }

 private:
  struct Flight {
    Burst* burst = nullptr;
    bool here = false, ok = true;
  };

  void burst_done(Burst& burst, bool ok) override;
  void request();
  void absorb();
  void store(std::span<const uint8_t> data);

  Machine& machine_;
  uint64_t base_ = 0, start_ = 0, bytes_ = 0;
  uint64_t requested_ = 0, arrived_ = 0, taken_ = 0;  // bytes of the stream, from its start
  uint64_t asked_before_ = 0, arrived_before_ = 0;    // bytes, before the last jump
  std::vector<Flight> flights_;
  uint32_t issued_ = 0, absorbed_ = 0;  // numbers of flights
  std::vector<uint8_t> ring_;
  bool failed_ = false;
  Alarm arrival_;
};

}  // namespace npu::model
