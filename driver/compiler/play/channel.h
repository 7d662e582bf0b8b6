// SPDX-License-Identifier: Apache-2.0
// A DMA channel at work on one command: bursts on the side of DRAM, beats on that of the chip, as
// hw/model/dma_channel has them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "driver/compiler/play/clashes.h"
#include "driver/compiler/play/memory.h"
#include "driver/compiler/play/moments.h"
#include "hw/contract/dma_walk.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler::play {

class Channel : private Actor, private BurstUser {
 public:
  // Where a side of the command lies: in DRAM at `address`, or on the chip; in the persistent SRAM, of whose
  // addresses only the place within a row is known.
  struct Place {
    bool dram = false;
    uint64_t address = 0;
    bool persistent = false;
  };
  // A load into the chip that comes next and has its tokens.
  struct Next {
    const contract::DmaCommand* command = nullptr;  // nullptr: there is none
    uint64_t address = 0;                           // of its source, in DRAM
  };
  // `ended` is called when a command is done. The references must outlive this.
  Channel(Moments& moments, Memory& memory, const Clashes& clashes, const contract::Capabilities& capabilities,
          size_t requester, std::function<Next()> next, std::function<void()> ended);

  void start(const contract::DmaCommand& command, const Place& src, const Place& dst, const Place& index);
  // Asks for the next command, to read ahead of it while the one at work waits for its last bursts.
  void look_ahead();
  // Beats on the chip so far.
  [[nodiscard]] uint64_t beats() const { return beats_; }

 private:
  void act(uint32_t what) override;
  void burst_done(uint32_t tag, bool write) override;
  void start_indices();
  void start_rows();
  void issue();
  void issue(uint32_t bytes);
  void issue_ahead();
  void fetched();
  void place_arrived();
  void land(uint64_t rest);
  void end();
  [[nodiscard]] bool fills() const { return !indices_ && command_->mode == contract::DmaMode::kFill; }
  [[nodiscard]] uint32_t burst_length(const contract::ExtentWalk& walk) const;
  // The cycles in which the next bytes of a walk on the chip pass.
  [[nodiscard]] uint64_t scratchpad_cycles(contract::ExtentWalk& walk, uint64_t bytes);
  [[nodiscard]] uint64_t persistent_cycles(contract::ExtentWalk& walk, uint64_t bytes, bool write) const;
  // The cycle by which they have, behind those that pass until `free`.
  [[nodiscard]] uint64_t pass(contract::ExtentWalk& walk, const Place& place, bool write, uint64_t free,
                              uint64_t bytes);
  [[nodiscard]] uint32_t& bytes(uint64_t number) { return bytes_[number % bytes_.size()]; }

  Moments& moments_;
  Memory& memory_;
  const Clashes& clashes_;
  const size_t requester_;
  const uint32_t port_bytes_, burst_bytes_, row_bytes_;
  const std::function<Next()> next_;
  const std::function<void()> ended_;

  const contract::DmaCommand* command_ = nullptr;
  Place src_, dst_, index_;
  bool indices_ = false;  // at work on them: source without destination
  bool from_dram_ = false, to_dram_ = false;
  contract::ExtentWalk src_walk_, dst_walk_;
  std::vector<uint32_t> bytes_;  // of the flights under way, which use its entries in turn
  std::vector<bool> here_;       // what DRAM has answered and waits for what comes before it
  uint64_t unissued_ = 0;
  uint64_t issued_ = 0, fetched_ = 0, placed_ = 0, landed_ = 0;  // flights
  uint64_t last_ = 0;  // flights with the last one of the command at work, once that is issued
  struct Ahead {
    const contract::DmaCommand* command = nullptr;  // nullptr: nothing is read ahead
    contract::ExtentWalk walk;
    uint64_t from = 0, unissued = 0;
  };
  Ahead ahead_;
  uint64_t source_free_ = 0, target_free_ = 0;  // on the chip
  uint64_t beats_ = 0;
};

}  // namespace npu::compiler::play
