// SPDX-License-Identifier: Apache-2.0
// Finds accesses that no token orders, from the stream alone: it looks at commands as they are issued, in stream order,
// and never at time, so a missing token is found even where the schedule of this run hides it.
//
// Every command gets a vector clock over the queues: element q is the last command of queue q that is known to have
// completed before this one starts, by queue order and by tokens, transitively. Every byte of the three memories
// remembers its last writer and, since then, the last reader on each queue (shadow.h). A read must be ordered behind
// the last writer, a write behind the last writer and all readers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/engine.h"
#include "hw/model/command.h"
#include "hw/model/footprint.h"
#include "hw/model/shadow.h"

namespace npu::model {

// `error` is fault_hazard: `other` is the command that touched `address` before and is not ordered before this one. Or
// fault_bad_command: the command writes a byte twice, or writes what it reads; or its accesses are too scattered.
struct Conflict {
  contract::ErrorCode error = contract::ErrorCode::kOk;
  uint32_t other = 0;
  uint64_t address = 0;
};

class HazardChecker {
 public:
  explicit HazardChecker(const contract::Capabilities& caps);

  void begin_job();
  // All commands have completed: what comes need not be ordered behind them, and may have any indices.
  void everything_done() { begin_job(); }

  // The sequencer itself waited for these tokens: all commands from here on are behind them.
  void sequencer_waited(const std::array<uint8_t, contract::kWaitQueues>& wait);
  // A command goes to its queue; its accesses follow, reads before writes. `queue` < contract::kEngineQueues.
  void issue(uint32_t queue, uint32_t index, const std::array<uint8_t, contract::kWaitQueues>& wait);
  [[nodiscard]] Conflict access(contract::Space space, const ByteSet& bytes, engine::Access access);
  // A read that later writes need not wait for.
  [[nodiscard]] Conflict glance(contract::Space space, const ByteSet& bytes);

 private:
  // Commands by queue, as index in the stream plus 1; 0 = none.
  using VectorClock = std::array<uint32_t, contract::kEngineQueues>;
  static constexpr uint32_t kHistory = 256;  // a token reaches back 255 commands

  struct ByteState {
    uint32_t writer = 0;
    uint32_t writer_queue = 0;
    VectorClock readers{};
    uint32_t asked = 0;  // by which access: answer below is for it
    uint32_t next = 0;
  };
  struct QueueHistory {
    uint32_t issued = 0;
    std::array<VectorClock, kHistory> done;  // what is known once the command has completed, itself included
  };

  void join_tokens(const std::array<uint8_t, contract::kWaitQueues>& wait, VectorClock& clock) const;
  [[nodiscard]] uint32_t after_read(uint32_t old, Conflict& conflict);
  [[nodiscard]] uint32_t after_write(uint32_t old, Conflict& conflict);
  uint32_t add_state(const ByteState& state);
  void compact();
  [[nodiscard]] ByteState& state(uint32_t number) { return states_[number - first_state_]; }

  std::array<Shadow, 3> shadows_;  // dram, scratchpad, persistent
  std::vector<ByteState> states_;
  uint32_t first_state_ = 1;
  uint64_t compact_at_ = 0;

  std::array<QueueHistory, contract::kEngineQueues> history_;
  VectorClock sequencer_clock_{};
  // The command whose accesses are being checked.
  VectorClock clock_{};
  uint32_t queue_ = 0;
  uint32_t self_ = 0;         // index + 1
  uint32_t access_ = 0;       // number of the access, for ByteState::asked
  uint32_t read_fresh_ = 0;   // state of untouched bytes that it reads
  uint32_t write_state_ = 0;  // state of what it writes
};

}  // namespace npu::model
