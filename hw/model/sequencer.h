// SPDX-License-Identifier: Apache-2.0
// The sequencer: fetches the stream, decodes, checks and issues commands in order, completes or aborts the job.
//
// One command after the other: its words are decoded (hw/timing/sequencer_cycles.h), checked (validate.h, addresses and
// limits of everything that it touches, hazards), and put into the FIFO of its queue, for whose room it waits. `begin`
// and `declare` take effect in the sequencer itself, `end` waits until all queues are empty. `yield` costs its
// decoding, unless the job shall stop: then it waits as `end` does, and for what memory owes the prefetch. `label` and
// `branch` wait as `end` does, too; nothing else then uses the crossbar, so that reading a condition takes the same
// time always. A branch that is taken waits for what memory owes the prefetch, and the stream is read anew from its
// target on. Counters of queue `sequencer`: busy while decoding and for operations on the variable table, stalled while
// waiting for the stream, a FIFO, tokens or, at labels and branches, queues, idle from the command on that ends the
// job. Bytes asked are the words of the stream from where the job started; if it stops at a yield or
// branches, all that the prefetch asked for by then.
//
// Job start: cycle 0. Job end: the cycle at which the last command has completed, or at which all units have given up.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <systemc>
#include <vector>

#include "hw/model/fetch_unit.h"
#include "hw/model/footprint.h"
#include "hw/model/hazard_checker.h"
#include "hw/model/queue_unit.h"
#include "hw/model/write_coverage.h"
#include "hw/timing/table_cycles.h"

namespace npu::model {

class Sequencer : public sc_core::sc_module {
 public:
  // How long an aborted job waits for bursts that memory still owes it.
  static constexpr uint64_t kDrainCycles = 65536;

  // `units` by queue, nullptr where this device has none. `ended` is called with the cycles of the job.
  Sequencer(const sc_core::sc_module_name& name, Machine& machine, std::vector<QueueUnit*> units,
            std::function<void(uint64_t)> ended);

  // Starts a job; the device must be idle.
  void start(const JobRegisters& registers);
  // Notified when a job has ended.
  [[nodiscard]] const sc_core::sc_event& ended_event() const { return ended_event_; }
  // Nothing in the simulation can move any more: a fault, so that the job ends.
  void report_stuck();
  // Of the sequencer.
  [[nodiscard]] QueueState state() const;

 private:
  // What the sequencer waits for while it does not work on a command.
  enum class Waiting : uint8_t { kNothing, kStream, kRoom, kTokens, kQueues };

  using Words = std::span<const uint32_t>;

  void run();
  void run_stream();
  void drain_aborted();
  void on_timeout();

  [[nodiscard]] bool fetch(uint32_t bytes);
  [[nodiscard]] bool next_command();
  // Each returns false when the stream goes no further: a fault, or the end.
  [[nodiscard]] bool dispatch(DecodedCommand& command);
  [[nodiscard]] bool begin(const contract::BeginCommand& command);
  [[nodiscard]] bool declare(const contract::DeclareCommand& command);
  [[nodiscard]] bool yield(const contract::YieldCommand& command);
  [[nodiscard]] bool resume(const contract::YieldCommand& command);
  [[nodiscard]] bool label(const contract::LabelCommand& command);
  [[nodiscard]] bool branch(const contract::BranchCommand& command);
  [[nodiscard]] bool end();
  [[nodiscard]] bool issue(DecodedCommand& command);
  [[nodiscard]] bool check_access(const StridedAccess& access, IssuedCommand& slot);
  void resolve(const contract::DmaCommand& dma, IssuedCommand& slot);
  static void note_use(const StridedAccess& access, const Window& window, const ByteSet& bytes, IssuedCommand& slot);
  [[nodiscard]] bool check_entries(const IssuedCommand& slot);
  [[nodiscard]] bool check_coverage(const IssuedCommand& slot);
  [[nodiscard]] bool reserved(uint64_t low, uint64_t high, bool write) const;
  [[nodiscard]] bool wait_for_persistent();
  [[nodiscard]] bool operate(const timing::TableOperation& operation);
  [[nodiscard]] bool wait_for_tokens();
  [[nodiscard]] bool drain();
  [[nodiscard]] bool drain_block();
  [[nodiscard]] bool settle();
  // Whether the command is a label if a branch went there.
  [[nodiscard]] bool has_landed(const DecodedCommand& command);
  // What the branch reads; nullopt: a fault.
  [[nodiscard]] std::optional<bool> is_taken(const contract::BranchCommand& command);
  [[nodiscard]] std::optional<bool> repeats(const contract::BranchCommand& command);
  [[nodiscard]] bool jump(const contract::BranchCommand& command);
  // Bytes of the scratchpad; empty: a fault.
  [[nodiscard]] std::span<uint8_t> reach(const contract::Address& address, engine::Access access, uint32_t bytes);
  [[nodiscard]] bool complete();

  // Always false: `return fault(...)`.
  bool fault(contract::ErrorCode code, uint32_t other = 0);
  // Of an operation on this entry of the table, or another one that has two wrong bits in a word.
  bool fault_verdict(const PersistentSram::Verdict& verdict, uint32_t index);
  bool fault_at(contract::ErrorCode code, const contract::Address& address, uint64_t offset, uint32_t other = 0);

  void wait_cycles(uint64_t cycles);
  void spend(contract::Counter counter);

  Machine& machine_;
  std::vector<QueueUnit*> units_;
  std::function<void(uint64_t)> ended_;
  FetchUnit fetch_;
  HazardChecker hazards_;
  WriteCoverage coverage_;  // of variables with two places
  Footprint footprint_;

  std::array<uint32_t, contract::kMaxCommandWords> words_;
  contract::Header header_;  // of the command at hand
  uint32_t index_ = 0;       // its number
  const timing::TableAccesses accesses_;
  PersistentSram::Begun persistent_;
  bool first_ = false;     // of this start of the stream
  bool landing_ = false;   // the next command must be a label
  uint64_t executed_ = 0;  // commands since the start
  uint64_t repeats_ = 0;   // branches back since the start
  Waiting waiting_ = Waiting::kStream;
  uint32_t expected_commands_ = 0;
  uint64_t decode_started_ = 0;
  uint64_t accounted_ = 0;
  Alarm decoded_, timeout_;
  sc_core::sc_event start_, ended_event_;
};

}  // namespace npu::model
