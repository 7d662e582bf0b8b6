// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/explain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "hw/contract/gen/accesses.h"
#include "hw/contract/queues.h"
#include "hw/contract/stream.h"
#include "sim/report/work.h"

namespace npu::inspect {
namespace {

using compiler::Explanation;
using contract::Event;
using contract::MemoryAccess;
using contract::Region;

uint64_t bytes_of(const MemoryAccess& access) {
  if (access.moves != MemoryAccess::kAll) return access.moves;
  uint64_t bytes = access.run;
  for (uint32_t d = MemoryAccess::kMaxRank - access.rank; d < MemoryAccess::kMaxRank; ++d)
    bytes *= access.dims[d].count;
  return bytes;
}

// What one command moves from and to memories other than the scratchpad, and within it by DMA.
MovedBytes bytes_of(std::span<const uint32_t> words, const compiler::Program& program) {
  MovedBytes moved;
  uint64_t on_chip_read = 0, on_chip_written = 0;
  const auto note = [&](const MemoryAccess& access) {
    const uint64_t bytes = bytes_of(access);
    const bool write = access.access == contract::Access::kWrite;
    switch (access.base.region) {
      case Region::kConstants:
        moved.constants += bytes;
        break;
      case Region::kWorkspace:
      case Region::kInput:
      case Region::kOutput:
      case Region::kSave:
        (write ? moved.dram_written : moved.dram_read) += bytes;
        break;
      case Region::kVariable:
        if (program.variables[access.base.variable].in_dram) {
          (write ? moved.dram_written : moved.dram_read) += bytes;
        } else {
          (write ? moved.persistent_written : moved.persistent_read) += bytes;
        }
        break;
      case Region::kScratchpad:
      case Region::kResident:
        (write ? on_chip_written : on_chip_read) += bytes;
        break;
    }
  };
  const contract::AnyCommand any = contract::decode_command(words);
  std::visit([&](const auto& command) { for_each_access(command, note); }, any);
  if (std::holds_alternative<contract::DmaCommand>(any) && moved == MovedBytes()) moved.on_chip = on_chip_written;
  return moved;
}

uint64_t whole(double cycles) { return static_cast<uint64_t>(std::llround(std::max(0.0, cycles))); }

// The events that a device would have written, had the job taken what the estimate says. Layers are numbers of steps.
Event event_of(const ScheduledCommand& command, size_t step) {
  Event event;
  event.command = command.command;
  // More steps than an event can tell apart count for the last of them.
  event.layer = static_cast<uint16_t>(std::min<size_t>(step, std::numeric_limits<uint16_t>::max()));
  event.queue = static_cast<uint8_t>(command.queue);
  event.opcode = static_cast<uint8_t>(command.opcode);
  event.issued = command.issued;
  event.started = command.started;
  event.completed = command.done;
  event.busy = static_cast<uint32_t>(command.done - command.started);
  event.dram_read = static_cast<uint32_t>(command.bytes.constants + command.bytes.dram_read);
  event.dram_written = static_cast<uint32_t>(command.bytes.dram_written);
  event.psram_read = static_cast<uint32_t>(command.bytes.persistent_read);
  event.psram_written = static_cast<uint32_t>(command.bytes.persistent_written);
  return event;
}

// Cycles of each step's MXU and VPU commands, as intervals by their begin: what can hide loads.
struct Working {
  uint64_t begin = 0, end = 0;
  uint32_t step = 0;
};

class ExplainedMaker {
 public:
  ExplainedMaker(Explained& out, const std::vector<report::CommandInfo>& infos) : out_(out), infos_(infos) {}

  void run() {
    for (const Explanation::Step& step : out_.facts.steps) {
      place_[step.index] = out_.steps.size();
      out_.steps.push_back({step, 0, std::numeric_limits<uint64_t>::max(), 0, {}, {}, {}});
    }
    list();
    for (size_t i = 0; i < out_.commands.size(); ++i) add(out_.commands[i], out_.facts.commands[i]);
    for (ExplainedStep& step : out_.steps) step.begin = std::min(step.begin, step.end);
    find_cover();
    add_waits();
    charge();
  }

 private:
  void list() {
    std::map<uint32_t, std::vector<uint32_t>> awaits;
    for (const report::Wait& wait : report::list_waits(infos_)) awaits[wait.command].push_back(wait.awaited);
    std::vector<MovedBytes> bytes;
    bytes.reserve(infos_.size());
    const auto visit = [&](const contract::Header&, std::span<const uint32_t> words) {
      bytes.push_back(bytes_of(words, out_.program));
      return true;
    };
    NPU_CHECK(contract::for_each_command(std::span(out_.program.commands).first(out_.program.main_words), visit));
    for (const Explanation::Command& fact : out_.facts.commands) {
      const report::CommandInfo& info = infos_.at(fact.command);
      const auto found = awaits.find(fact.command);
      out_.commands.push_back({fact.command, fact.step, info.layer, info.queue, info.opcode, fact.part,
                               whole(fact.issued), whole(fact.started), whole(fact.done), bytes[fact.command],
                               found == awaits.end() ? std::vector<uint32_t>() : found->second});
    }
  }

  [[nodiscard]] ExplainedStep& step_of(uint32_t index) { return out_.steps[place_.at(index)]; }

  void add(const ScheduledCommand& command, const Explanation::Command& fact) {
    ExplainedStep& step = step_of(command.step);
    ++step.commands;
    step.begin = std::min(step.begin, command.started);
    step.end = std::max(step.end, command.done);
    step.bytes += command.bytes;
    const auto engine = contract::engine_of(command.queue);
    if (engine && *engine != contract::Engine::kDma) {
      working_.push_back({command.started, command.done, command.step});
      longest_ = std::max(longest_, command.done - command.started);
    }
    if (!engine) return;
    if (fact.part == Explanation::Command::Part::kCompute) note_wait(command, whole(fact.ready));
    if (fact.part != Explanation::Command::Part::kLoad) return;
    uint64_t& operands = operands_[{command.step, command.queue}];
    if (command.bytes.constants > 0) {
      loads_[command.command] = {command.step, command.done, operands};
    } else {
      operands = command.done;
    }
  }

  // When a command could begin, and waits for constants that its step loads. Of a queue it awaits the last transfer
  // alone: the time of the step's operands ahead of the constants is no wait for them.
  void note_wait(const ScheduledCommand& command, uint64_t ready) {
    uint64_t end = 0;
    for (const uint32_t awaited : command.awaits) {
      const auto load = loads_.find(awaited);
      if (load == loads_.end() || load->second.step != command.step) continue;
      ready = std::max(ready, load->second.operands);
      end = std::max(end, load->second.done);
    }
    end = std::min(end, command.started);
    if (ready < end) waits_[command.step].emplace_back(ready, end);
  }

  // A cycle in which two engines wait counts once.
  void add_waits() {
    for (auto& [step, waits] : waits_) {
      std::sort(waits.begin(), waits.end());
      uint64_t counted = 0;
      for (const auto& [begin, end] : waits) {
        if (end <= counted) continue;
        step_of(step).constants.exposed += end - std::max(begin, counted);
        counted = end;
      }
    }
  }

  // What engines do while constants are loaded.
  void find_cover() {
    std::stable_sort(working_.begin(), working_.end(),
                     [](const Working& a, const Working& b) { return a.begin < b.begin; });
    std::map<uint32_t, std::map<uint32_t, uint64_t>> under;
    for (const ScheduledCommand& load : out_.commands) {
      if (load.part != Explanation::Command::Part::kLoad || load.bytes.constants == 0) continue;
      ConstantsLoad& constants = step_of(load.step).constants;
      constants.begin = constants.transfers == 0 ? load.started : std::min(constants.begin, load.started);
      constants.end = std::max(constants.end, load.done);
      ++constants.transfers;
      constants.bytes += load.bytes.constants;
      constants.cycles += load.done - load.started;
      const uint64_t earliest = load.started - std::min(load.started, longest_);
      auto work = std::lower_bound(working_.begin(), working_.end(), earliest,
                                   [](const Working& w, uint64_t time) { return w.begin < time; });
      for (; work != working_.end() && work->begin < load.done; ++work) {
        const uint64_t begin = std::max(work->begin, load.started), end = std::min(work->end, load.done);
        if (work->step < load.step && begin < end) under[load.step][work->step] += end - begin;
      }
    }
    for (const auto& [step, others] : under) {
      std::vector<std::pair<uint32_t, uint64_t>>& list = step_of(step).constants.under;
      list.assign(others.begin(), others.end());
      std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    }
  }

  void charge() {
    std::vector<Event> events;
    events.reserve(out_.commands.size());
    for (const ScheduledCommand& command : out_.commands) {
      events.push_back(event_of(command, place_.at(command.step)));
    }
    const std::vector<report::CommandWork> work = report::list_work(out_.program, out_.machine.caps);
    const report::Subject subject{infos_, work, report::DramRate(out_.machine),
                                  report::SequencerCosts::of(out_.machine.caps)};
    const std::vector<report::Charge> charges =
        report::attribute(events, out_.program.estimated_cycles, out_.steps.size(), subject);
    for (size_t i = 0; i < out_.steps.size(); ++i) out_.steps[i].charge = charges[i];
  }

  Explained& out_;
  const std::vector<report::CommandInfo>& infos_;
  std::map<uint32_t, size_t> place_;  // of the step with this index
  struct Load {
    uint32_t step = 0;
    uint64_t done = 0;
    uint64_t operands = 0;  // when the step's operands ahead of it in its queue are there
  };
  std::map<uint32_t, Load> loads_;  // of constants, by command
  std::map<std::pair<uint32_t, contract::Queue>, uint64_t> operands_;
  std::map<uint32_t, std::vector<std::pair<uint64_t, uint64_t>>> waits_;  // by step
  std::vector<Working> working_;
  uint64_t longest_ = 0;  // of them
};

}  // namespace

MovedBytes& MovedBytes::operator+=(const MovedBytes& more) {
  constants += more.constants;
  dram_read += more.dram_read;
  dram_written += more.dram_written;
  persistent_read += more.persistent_read;
  persistent_written += more.persistent_written;
  on_chip += more.on_chip;
  return *this;
}

Explained explain(std::string file, const presets::Preset& machine, compiler::Program program,
                  compiler::Explanation facts) {
  Explained out{std::move(file), machine, std::move(program), std::move(facts), {}, {}, {}};
  const std::vector<report::CommandInfo> infos = report::list_commands(out.program);
  ExplainedMaker(out, infos).run();
  out.memory = memory_line(out.facts);
  return out;
}

}  // namespace npu::inspect
