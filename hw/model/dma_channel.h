// SPDX-License-Identifier: Apache-2.0
// A DMA channel: walks a strided descriptor between DRAM, scratchpad and persistent SRAM in any combination, or fills.
// A gather or scatter first reads all of its indices into the channel's buffer, as a walk without destination, and
// checks them: a wrong one is index_out_of_range before any row moves.
//
// DRAM side: contiguous bytes of the walk, cut at multiples of dma_burst_bytes, become one burst each; at most
// dma_outstanding bursts are in flight. DRAM to DRAM: every burst is contiguous on both sides, and its data is written
// when it has been read. On-chip sides: on_chip_path.h, in the order of the walk. Reads of a burst come before its
// writes; source and destination of one command are either the same bytes in the same order or have no byte in common
// (else fault_bad_command, found by the hazard checker).
//
// With dma_read_ahead, the places that are left when a load from DRAM into the chip has issued all of its bursts are
// for those of the next command, if that is such a load, too. Its data waits there until the command in hand has ended.
//
// busy: the beats of the slower of the two sides (for DRAM: the port's, dma_port_bytes a cycle), behind those of the
// indices.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/dma_walk.h"
#include "hw/model/on_chip_path.h"
#include "hw/model/queue_unit.h"

namespace npu::model {

class DmaChannel : public QueueUnit, private BurstClient, private OnChipPath::Client {
 public:
  DmaChannel(const sc_core::sc_module_name& name, Machine& machine, uint32_t channel);

 private:
  // One of the dma_outstanding places for bursts on their way, of data that crosses the chip as well; they are used in
  // turn.
  struct Flight {
    uint32_t bytes = 0;
    Burst* read = nullptr;    // DRAM is the source
    Burst* write = nullptr;   // DRAM is the destination
    bool here = false;        // the read's response has come and waits for its turn
    bool ahead = false;       // of the command behind the one in hand
    bool failed = false;      // then: the target answered with an error
    bool write_sent = false;  // the port has the write
    bool landed = true;       // nothing more to come: the place is free
  };

  // What was read for the command behind the one in hand, and what is left to be read of it.
  struct Ahead {
    const IssuedCommand* command = nullptr;  // nullptr: nothing is read ahead
    uint64_t from = 0;                       // cycle before which no burst is sent
    contract::ExtentWalk walk;
    uint64_t unissued = 0;  // bytes
    Traffic traffic;
    uint64_t port_busy = 0;
  };

  void begin_job() override;
  void execute(const IssuedCommand& command, Work& work) override;
  [[nodiscard]] uint32_t bursts() const override;
  void start(const IssuedCommand& command);
  void start_indices(const IssuedCommand& command);
  void start_source(const contract::Address& address, const Window& window, const contract::ExtentWalk& walk);
  void start_flights(uint64_t bytes);
  void take_over_ahead();
  // All of what was started, and adds what it did to `work`.
  void run(Work& work);
  [[nodiscard]] bool indices_ok(const IssuedCommand& command);
  void run_functional();
  void run_bursts();
  void issue();
  void issue(Flight& next);
  // Whether the next command's bursts may use places that the one in hand leaves.
  [[nodiscard]] bool reads_ahead() const;
  void issue_ahead();
  void passed(OnChipPath::Side side, uint64_t at) override;
  void fetched(uint32_t number, uint64_t at);
  void keep(std::span<const uint8_t> data) { indices_.insert(indices_.end(), data.begin(), data.end()); }
  void burst_done(Burst& burst, bool ok) override;
  void bus_error(Burst& burst, Flight& flight);
  void place_arrived();
  void land(Flight& flight);
  void release_all();

  [[nodiscard]] bool aborting() const { return machine_.job.aborting(); }
  [[nodiscard]] bool from_dram() const { return src_space_ == contract::Space::kDram; }
  [[nodiscard]] bool to_dram() const { return dst_space_ == contract::Space::kDram; }
  // Indices have no destination but the buffer.
  [[nodiscard]] bool to_buffer() const { return dst_space_ == contract::Space::kNone; }
  // Whether to be told when a flight's data has passed the target: its place is wanted, or it is the last one.
  [[nodiscard]] bool tells(uint32_t number) const {
    return unissued_ > 0 || number + 1 == last_ || ahead_.unissued > 0 || reads_ahead();
  }
  [[nodiscard]] bool finished() const { return unissued_ == 0 && landed_ == last_; }
  [[nodiscard]] uint32_t burst_length(const contract::ExtentWalk& walk) const;
  [[nodiscard]] uint64_t port_cycles(uint64_t bytes) const;
  [[nodiscard]] Flight& flight(uint32_t number) { return flights_[number % flights_.size()]; }

  const IssuedCommand* command_ = nullptr;  // the one in hand while bursts may be on their way
  contract::Space src_space_ = contract::Space::kNone, dst_space_ = contract::Space::kNone;
  contract::Address src_address_;             // where it reads: the command's source, or its indices
  uint64_t src_base_ = 0, dst_base_ = 0;      // of the region, in DRAM
  contract::ExtentWalk src_walk_, dst_walk_;  // of a DRAM side
  OnChipPath source_, target_;                // of an on-chip side
  Traffic traffic_;
  uint64_t port_busy_ = 0;
  std::vector<Flight> flights_;
  uint64_t unissued_ = 0;                                                     // bytes
  uint32_t issued_ = 0, fetched_ = 0, placed_ = 0, stored_ = 0, landed_ = 0;  // flights so far, of all commands
  uint32_t last_ = 0;  // flights with the last one of the command in hand, once that is issued
  Ahead ahead_;
  uint64_t end_ = 0;  // cycle before which the command does not end
  std::vector<uint8_t> staging_;
  std::vector<uint8_t> indices_;  // as they are in memory
  std::vector<int64_t> offsets_;  // of the rows that they choose
};

}  // namespace npu::model
