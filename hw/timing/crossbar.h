// SPDX-License-Identifier: Apache-2.0
// The way from engines and DMA channels to the memories on the chip, a cycle at a time: the banks of the scratchpad and
// the port of the persistent SRAM are given to those that ask, in turn.
//
// A lane is one that asks: an engine, a side of a DMA channel, the variable table. What its ports ask for in which
// cycle is its PortSchedule's affair; which bytes, its own. A request takes a word of each bank that it needs, and is
// granted in the cycle in which it has the last of them.
//
// Plain C++: hw/model plays it as simulated time passes, sim/cosim beside RTL.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/timing/bank_arbiter.h"
#include "hw/timing/memory_request.h"
#include "hw/timing/ports.h"
#include "hw/timing/request_walk.h"
#include "hw/timing/table_cycles.h"

namespace npu::timing {

class Crossbar {
 public:
  static constexpr uint32_t kMostPorts = BankArbiter::kMostRequesters;
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  // Cycles by which the persistent SRAM answers a read later than the scratchpad does; who asks has to wait for them.
  static constexpr uint64_t kPersistentLatency = kPersistentAnswer - 1;
  // Bytes under one code of the persistent SRAM. One that is written in part has to be read before.
  static constexpr uint64_t kCodeBytes = 8;

  class Lane {
   public:
    // Its ports come behind those of earlier lanes in the arbiters' order.
    Lane(Crossbar& crossbar, uint32_t ports) : Lane(crossbar, ports, nullptr, false) {}
    // `walks` has the requests of each port, from start() to the end.
    Lane(Crossbar& crossbar, uint32_t ports, RequestWalk* walks) : Lane(crossbar, ports, walks, false) {}
    // Of one port, that asks for bytes behind those of its last request, as many each time, as long as its schedule is
    // steady; and which a cycle without a grant leaves as it is.
    struct GoesStraightOn {};
    Lane(Crossbar& crossbar, GoesStraightOn) : Lane(crossbar, 1, nullptr, true) {}
    virtual ~Lane() = default;
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    // The next request of a port, of a lane without walks; of one that goes straight on, whenever it does not.
    [[nodiscard]] virtual MemoryRequest next(uint32_t port);
    // The memories that it may ask for, the same from start() to its end.
    [[nodiscard]] virtual OnChipSet memories() const { return kBothMemories; }
    // All was granted; this is the cycle behind the last one.
    virtual void ended(uint64_t end) = 0;
    // False while its end need not be told, unless the lane is started again.
    [[nodiscard]] virtual bool wants_end() const { return true; }
    // Cycles that it still takes, at least.
    [[nodiscard]] virtual uint64_t cycles_left() const = 0;

    [[nodiscard]] bool running() const { return schedule_ != nullptr; }
    // Cycles in which a request waited for a bank of the scratchpad.
    [[nodiscard]] uint64_t waited() const { return waited_; }
    void clear_waited() { waited_ = 0; }

   private:
    friend class Crossbar;
    Lane(Crossbar& crossbar, uint32_t ports, RequestWalk* walks, bool goes_straight_on);

    const uint32_t first_, count_;  // ports
    RequestWalk* const walks_;
    const bool goes_straight_on_;
    PortSchedule* schedule_ = nullptr;
    Ports asking_ = 0;
    // Its schedule need not be asked while all is granted: cycles that are to come, and those that it does not know of.
    uint64_t known_ = 0, untold_ = 0;
    MemoryRequest on_;  // the next one of a lane that goes straight on
    // What it asks for in so many requests.
    RequestWalk::Bytes go_on(uint64_t requests) {
      const RequestWalk::Bytes bytes = {on_.address, requests * on_.bytes};
      on_.address += bytes.bytes;
      return bytes;
    }
    void tell_schedule() {
      if (untold_ > 0) schedule_->skip(untold_);
      untold_ = 0;
    }
    uint64_t waited_ = 0;
    uint64_t at_least_ = 0;  // the cycle before which it cannot end
    uint64_t end_ = kNever;
    uint64_t turn_ = 0;       // of its start, among all starts
    uint64_t through_ = 0;    // the cycle behind the last one that was played for it
    OnChipSet memories_ = 0;  // while it is at work
  };

  explicit Crossbar(const contract::Capabilities& caps);

  // No lane is at work, and turns begin anew.
  void begin_job();
  // From the next cycle to be played on, unless it is at work. It does not end before `at_least`. A schedule that is
  // done from the beginning is not to be started.
  void start(Lane& lane, PortSchedule& schedule, uint64_t at_least);
  void stop(Lane& lane);

  // Plays the cycles before `end`, which have not been played.
  void play(uint64_t end);
  // Tells those lanes that ended by now, in the order in which they did.
  void tell(uint64_t now);
  // The cycle by which a lane may have ended: to be played and told then, at the latest.
  [[nodiscard]] uint64_t next_end() const;
  // The same of one that is at work.
  [[nodiscard]] uint64_t next_end(const Lane& lane) const;

 private:
  struct Port {
    OnChip memory = OnChip::kScratchpad;
    bool part_first = false, part_last = false;  // words that are written in part, of the persistent SRAM
    bool at_first = false;
    WordRun words;  // behind those whose banks it wants: it takes more than a cycle even where no other port asks
    // The persistent SRAM writes the words of this row in part.
    [[nodiscard]] bool part() const { return (at_first && part_first) || (words.count == 0 && part_last); }
  };

  // Lanes that may compete: neither party can tell what the other one does, so each plays its cycles by itself.
  struct Party {
    std::vector<Lane*> lanes;  // in the order of their starts
    bool persistent = false;   // that memory is theirs
  };
  // A port as one that asks.
  struct Asker : BankArbiter::Claim {
    Asker() = default;
    Asker(Lane& of, uint32_t port_of_it) : Claim{of.first_ + port_of_it}, lane(&of), port(port_of_it) {}
    // Nothing is open.
    void begin() {
      part = nullptr;
      open = false;
    }
    Lane* lane = nullptr;
    // Where its next requests are, each of one cycle of the scratchpad; null where that has to be asked for.
    RequestWalk::Part* part = nullptr;
    uint32_t port = 0;  // of the lane
    bool open = false;  // its request, which waits
    // Its request takes one cycle of the banks, of few. Else ports_ and wanted_ have it.
    bool quick = true;
  };
  using Askers = std::span<Asker* const>;
  // A request of so many bytes takes one cycle of a scratchpad without other users.
  [[nodiscard]] bool one_cycle(uint64_t bytes) const { return bytes <= uint64_t{banks_.banks() - 1} << bank_shift_; }
  // This one does in whichever memory, and those that go straight on behind it.
  [[nodiscard]] bool one_cycle(const MemoryRequest& request) const;
  void gather();
  void join(Lane& lane);
  // All are one party.
  [[nodiscard]] bool together() const { return parties_[0].persistent; }
  void play(Party& party, uint64_t end);
  // Plays cycles at once in which one port asks, or none, at most `most`. Returns how many.
  [[nodiscard]] uint64_t play_alone(const Party& party, uint64_t most);
  // Plays at least one cycle, from `now` on, and at most `most`. Returns how many.
  uint64_t run(Party& party, uint64_t now, uint64_t most);
  [[nodiscard]] Askers ask(const Party& party);
  void look(Asker& asker);
  void keep(const Asker& asker);
  [[nodiscard]] uint64_t quick_banks(OnChip memory, const RequestWalk::Bytes& bytes) const;
  [[nodiscard]] uint64_t play_free(Askers asking, uint64_t most);
  void share(Askers asking);
  [[nodiscard]] bool advance(const Party& party, Askers asking, uint64_t end);
  void open(Asker& asker);
  void open_next(Asker& asker);
  void cycle(Party& party, Askers asking, uint64_t now);
  void begin(uint32_t number, const Lane& lane, const MemoryRequest& request);
  void grant(uint32_t number);
  void arbitrate(Party& party, uint64_t end);
  void after_persistent(uint32_t asked);
  void finish(Lane& lane, uint64_t end);
  void advance(Lane& lane, Ports granted, uint64_t end);
  void look_ahead(Lane& lane);
  [[nodiscard]] static MemoryRequest next(Lane& lane, uint32_t port);
  void end_lane(Lane& lane, uint64_t now);
  // In words of 2^shift bytes.
  [[nodiscard]] static WordRun words_of(const RequestWalk::Bytes& bytes, uint32_t shift) {
    const uint64_t first = bytes.address >> shift;
    return {first, bytes.bytes == 0 ? 0 : ((bytes.address + bytes.bytes - 1) >> shift) - first + 1};
  }
  // The port's next words.
  void want(uint32_t number);

  const uint32_t bank_shift_, row_shift_;
  BankArbiter banks_;  // of the scratchpad, and the port of the persistent SRAM
  const Banks persistent_;
  uint32_t ports_used_ = 0;
  std::array<Port, kMostPorts> ports_{};
  std::array<Banks, kMostPorts> wanted_{};
  std::array<Asker, kMostPorts> askers_{};
  std::array<Asker*, kMostPorts> asking_{};  // in the cycles that are played just now
  std::vector<Lane*> lanes_;
  std::vector<Lane*> running_;  // in the order of their starts
  std::vector<Lane*> ended_;    // in the order in which they did; of one cycle, as they were started
  std::array<Party, kOnChipMemories> parties_;
  bool gathered_ = false;  // the parties are those of running_
  uint64_t starts_ = 0;
  uint64_t played_ = 0;  // cycles
  bool some_ended_ = false;
  bool late_ = false;  // the persistent SRAM writes what the cycle before left
};

}  // namespace npu::timing
