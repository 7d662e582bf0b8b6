// A DMA channel: walks a strided descriptor between DRAM, scratchpad and persistent SRAM in any combination, or fills.
//
// DRAM side: contiguous bytes of the walk, cut at multiples of dma_burst_bytes, become one burst each; at most
// dma_outstanding bursts are in flight. DRAM to DRAM: every burst is contiguous on both sides, and its data is written
// when it has been read. On-chip sides: on_chip_path.h, in the order of the walk. Reads of a burst come before its
// writes; source and destination of one command are either the same bytes in the same order or have no byte in common
// (else fault_bad_command, found by the hazard checker).
//
// busy: the cycles that the slower of the two sides needs by itself (for DRAM: the port's, dma_port_bytes a cycle).
#pragma once

#include <cstdint>
#include <vector>

#include "hw/model/dma_walk.h"
#include "hw/model/on_chip_path.h"
#include "hw/model/queue_unit.h"

namespace npu::model {

class DmaChannel : public QueueUnit, private BurstClient {
 public:
  DmaChannel(const sc_core::sc_module_name& name, Machine& machine, uint32_t channel);

 private:
  // A burst on its way, in the order of issue.
  struct Flight {
    Burst* read = nullptr;   // DRAM is the source
    Burst* write = nullptr;  // DRAM is the destination
    uint64_t at = 0;         // cycle at which the current step is through, when `here`
    bool here = false;       // the response of the current step has come
    bool last_step = false;  // nothing follows the current step
  };

  void execute(const IssuedCommand& command, Work& work) override;
  void start(const IssuedCommand& command);
  void run_functional();
  void load();
  void store();
  void copy_in_dram();
  void copy_on_chip();
  void burst_done(Burst& burst, bool ok) override;

  [[nodiscard]] bool aborting() const { return machine_.job.aborting(); }
  [[nodiscard]] uint32_t burst_length(const ExtentWalk& walk) const;
  [[nodiscard]] Flight& flight(uint32_t number) { return flights_[number % flights_.size()]; }
  [[nodiscard]] bool room() const { return issued_ - retired_ < flights_.size(); }
  Flight& take_off();
  void retire();
  void place_arrived();
  void land();

  const IssuedCommand* command_ = nullptr;  // the one in hand while bursts may be on their way
  contract::Space src_space_ = contract::Space::kNone, dst_space_ = contract::Space::kNone;
  uint64_t src_base_ = 0, dst_base_ = 0;  // of the region, in DRAM
  ExtentWalk src_walk_, dst_walk_;        // of a DRAM side
  OnChipPath source_, target_;            // of an on-chip side
  Traffic traffic_;
  uint64_t port_busy_ = 0;
  std::vector<Flight> flights_;
  uint32_t issued_ = 0, stepped_ = 0, retired_ = 0;  // numbers of flights
  std::vector<uint8_t> staging_;
};

}  // namespace npu::model
