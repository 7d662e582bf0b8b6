// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/estimate.h"

#include <algorithm>

#include "driver/compiler/schedule/cost.h"
#include "hw/contract/gen/accesses.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"
#include "hw/timing/dma_cycles.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/sequencer_cycles.h"
#include "hw/timing/table_cycles.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::compiler::backend {
namespace {

constexpr double kPortShare = 0.8;  // of the port's rate that DRAM keeps up with
// A command has so many words, more or less: what the sequencer takes for it, and how many the device's prefetch holds.
constexpr uint64_t kTypicalWords = 29;
constexpr auto kIssue = static_cast<double>(timing::decode_cycles(kTypicalWords));
constexpr size_t kFetchAhead = timing::kPrefetchBytes / (4 * kTypicalWords);

class Estimator {
 public:
  Estimator(std::span<const Variable> variables, const contract::Capabilities& capabilities)
      : variables_(variables),
        capabilities_(capabilities),
        table_(timing::TableAccesses::of(capabilities)),
        clock_(cycles(table_.begin_job(0))) {}

  double run(const std::vector<Command>& commands) {
    // The stream itself is fetched first of all, far ahead, and its bursts get between those of the first loads.
    port_ = fetch_cycles(static_cast<double>(commands.size()), capabilities_);
    for (const Command& command : commands) issue(command.body);
    return end_;
  }

  Timeline trace(const std::vector<Command>& commands) {
    Timeline timeline;
    timeline.issued.reserve(commands.size());
    timeline.completed.reserve(commands.size());
    const double fetch = fetch_cycles(1, capabilities_);
    port_ = fetch * static_cast<double>(std::min(commands.size(), kFetchAhead));
    for (size_t i = 0; i < commands.size(); ++i) {
      issue(commands[i].body);
      if (i + kFetchAhead < commands.size()) port_ = std::max(port_, clock_) + fetch;
      timeline.issued.push_back(clock_);
      timeline.completed.push_back(end_);
    }
    return timeline;
  }

 private:
  struct QueueState {
    std::vector<double> started, done;
  };

  // Operations on the variable table, in cycles.
  static double cycles(uint64_t accesses) { return static_cast<double>(timing::table_cycles(accesses)); }
  struct TableUse {
    double sequencer = 0, begin = 0, end = 0;
  };
  [[nodiscard]] TableUse table_use(const Body& body) const {
    TableUse use;
    const auto note = [&](const contract::MemoryAccess& access) {
      if (access.base.region != contract::Region::kVariable) return;
      const bool writes = access.access == contract::Access::kWrite;
      use.sequencer += cycles(table_.check());
      use.begin += cycles(writes ? table_.begin_write() : table_.check());
      if (writes) use.end += cycles(table_.commit());
    };
    std::visit([&](const auto& command) { for_each_access(command, note); }, body);
    return use;
  }

  void issue(const Body& body) {
    const contract::Header& header = header_of(body);
    clock_ += kIssue;
    if (const auto* branch = std::get_if<contract::BranchCommand>(&body)) return go(*branch);
    if (std::holds_alternative<contract::LabelCommand>(body)) return drain();
    if (std::holds_alternative<contract::DeclareCommand>(body)) clock_ += cycles(table_.declare());
    if (!contract::engine_of(header.queue)) return;
    QueueState& own = queues_[header.queue];
    const size_t depth = capabilities_.fifo_depth;
    if (own.started.size() > depth) clock_ = std::max(clock_, own.started[own.started.size() - depth]);
    double start = own.done.empty() ? clock_ : std::max(clock_, own.done.back());
    for (const contract::Queue queue : contract::kQueuesOfEngines) {
      const size_t k = header.wait[contract::index_of(queue)];
      const std::vector<double>& done = queues_[queue].done;
      if (k > 0) start = std::max(start, done[done.size() - k]);
    }
    // The sequencer checks each access to a variable, and so does the queue, where writes begin and commit as well.
    const TableUse use = table_use(body);
    clock_ += use.sequencer;
    start = std::max(start, clock_) + use.begin;
    const double done = finish(body, start) + use.end;
    own.started.push_back(start);
    own.done.push_back(done);
    end_ = std::max(end_, done);
  }

  void drain() { end_ = clock_ = std::max(clock_, end_); }

  // As if it went to its target: then the stream is fetched anew. What it jumps over counts, too, and once.
  void go(const contract::BranchCommand& branch) {
    drain();
    switch (branch.mode) {
      case contract::BranchMode::kAlways:
        break;
      case contract::BranchMode::kIfFalse:
        clock_ += static_cast<double>(timing::kConditionCycles);
        break;
      case contract::BranchMode::kRepeat:
        clock_ += static_cast<double>(timing::kCounterCycles);
        break;
    }
    clock_ += transfer_latency(true);
    end_ = clock_;
  }

  double finish(const Body& body, double start) {
    const auto add = [&](const timing::Cycles& cycles) { return start + static_cast<double>(cycles.total()); };
    return std::visit(
        Overloaded{
            [&](const contract::DmaCommand& command) { return transfer(command, start); },
            [&](const contract::MxuCommand& command) { return add(timing::mxu_cycles(command, capabilities_)); },
            [&]<contract::VpuCommand Command>(const Command& command) {
              return add(timing::vpu_cycles(command, capabilities_));
            },
            [&](const contract::DeclareCommand&) { return start; },
            [&](const contract::LabelCommand&) { return start; },
            [&](const contract::BranchCommand&) { return start; },
        },
        body);
  }

  [[nodiscard]] bool is_dram(const contract::Address& address) const {
    switch (address.region) {
      case contract::Region::kVariable:
        return variables_[address.variable].in_dram;
      case contract::Region::kScratchpad:
        return false;
      case contract::Region::kConstants:
      case contract::Region::kWorkspace:
      case contract::Region::kInput:
      case contract::Region::kOutput:
      case contract::Region::kSave:
        return true;
    }
    return true;
  }

  double transfer(const contract::DmaCommand& c, double start) {
    const auto runs = static_cast<int64_t>(timing::dma_pieces(c));
    const int64_t run = static_cast<int64_t>(timing::dma_bytes(c)) / std::max<int64_t>(runs, 1);
    const bool reads = c.mode != contract::DmaMode::kFill && is_dram(c.src), writes = is_dram(c.dst);
    if (contract::has_indices(c)) {  // all of them come first
      const auto bytes =
          static_cast<int64_t>(contract::element_bytes(contract::Element::kI32) * contract::index_count(c));
      start += transfer_latency(is_dram(c.index)) + transfer_cycles(1, bytes, is_dram(c.index), capabilities_);
    }
    if (!reads && !writes) return start + transfer_latency(false) + transfer_cycles(runs, run, false, capabilities_);
    const double busy = transfer_cycles(runs, run, true, capabilities_) / kPortShare * (reads && writes ? 2 : 1);
    port_ = std::max(port_, start + transfer_latency(true)) + busy;
    return port_;
  }

  const std::span<const Variable> variables_;
  const contract::Capabilities& capabilities_;
  contract::EngineQueueTable<QueueState> queues_;
  const timing::TableAccesses table_;
  double clock_, port_ = 0, end_ = 0;
};

}  // namespace

double estimate_cycles(const std::vector<Command>& commands, std::span<const Variable> variables,
                       const contract::Capabilities& capabilities) {
  return Estimator(variables, capabilities).run(commands);
}

Timeline estimate_timeline(const std::vector<Command>& commands, std::span<const Variable> variables,
                           const contract::Capabilities& capabilities) {
  return Estimator(variables, capabilities).trace(commands);
}

}  // namespace npu::compiler::backend
