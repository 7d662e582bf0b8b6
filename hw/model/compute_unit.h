// SPDX-License-Identifier: Apache-2.0
// MXU or VPU: a queue unit around an engine (hw/engine/engine.h). The engine's result is written when the command
// starts; then its schedule of memory beats is played, engine::kChunkCycles at a time: the accesses of a chunk are
// booked at the banks of the scratchpad and at the port of the persistent SRAM, and what they are late by is added to
// the time of the tile.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hw/engine/engine.h"
#include "hw/model/queue_unit.h"

namespace npu::model {

class ComputeUnit : public QueueUnit, private engine::MemoryView {
 public:
  ComputeUnit(const sc_core::sc_module_name& name, Machine& machine, uint32_t queue,
              std::unique_ptr<engine::Engine> engine);

 private:
  // A run of beats with its address resolved.
  struct Run {
    uint64_t start, interval, left;  // of the beats that are left
    uint64_t base;                   // address of the first one
    uint64_t offset;                 // of the next one from there
    int64_t step;
    uint64_t wrap;  // 0, or the offset at which the run starts over
    uint32_t bytes;
    contract::Space space;
    bool read;
  };

  void execute(const IssuedCommand& command, Work& work) override;
  std::span<uint8_t> resolve(const contract::Address& address, int64_t low, int64_t high,
                             engine::Access access) override;
  [[nodiscard]] Window window(const contract::Address& address, engine::Access access) const;
  void load_schedule(std::span<const engine::BeatRun> beats, Work& work);
  void count_accesses(const Run& run, uint64_t beats);
  // Counts the accesses of beats before `end` (cycles of the schedule) and drops them.
  void count_until(uint64_t end, Work& work);
  void count(Run& run, uint64_t beats, Work& work);
  void play(uint64_t cycles, Work& work);

  std::unique_ptr<engine::Engine> engine_;
  const IssuedCommand* command_ = nullptr;
  std::vector<Run> runs_;         // by start
  std::vector<uint32_t> active_;  // indices of runs that have begun and are not done
  size_t begun_ = 0;
  std::vector<uint32_t> accesses_;  // a bank
  uint64_t port_accesses_ = 0;      // persistent SRAM
  uint64_t scratchpad_accesses_ = 0;
};

}  // namespace npu::model
