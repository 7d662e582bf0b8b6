// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/dma_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "hw/timing/dma_cycles.h"
#include "hw/timing/dma_ports.h"
#include "rtl/verilated/assertion.h"
#include "sim/cosim/contention.h"
#include "sim/cosim/dma_commands.h"
#include "sim/cosim/grants.h"

namespace npu::cosim {
namespace {

using contract::DmaCommand;
using contract::DmaMode;

static_assert(rtl::DmaAddress::kLatency == timing::kDmaWalkCycles);

constexpr uint64_t kSourceBase = uint64_t{1} << 38, kDestinationBase = uint64_t{3} << 37,
                   kIndexBase = uint64_t{1} << 36;

// What is offered on each port, by the number of its bit.
using Beats = std::array<std::vector<DmaBeat>, 3>;

Beats beats_of(const DmaCommand& command, std::span<const int32_t> indices, uint32_t port_bytes) {
  const std::vector<int64_t> offsets = row_offsets(command, indices);
  Beats beats;
  const auto at = [&](timing::Ports port) -> std::vector<DmaBeat>& {
    return beats.at(static_cast<size_t>(std::countr_zero(port)));
  };
  if (command.mode != DmaMode::kFill) {
    at(timing::kDmaSource) = dma_beats(contract::dma_source(command), kSourceBase, port_bytes, offsets);
  }
  at(timing::kDmaDestination) = dma_beats(contract::dma_destination(command), kDestinationBase, port_bytes, offsets);
  at(timing::kDmaIndex) = index_beats(command, kIndexBase, port_bytes);
  return beats;
}

// One side: what it has to offer, and how much of it was taken.
class Side {
 public:
  Side(std::string_view name, std::vector<DmaBeat> expected) : name_(name), expected_(std::move(expected)) {}

  // The beat that is offered in a cycle, whether or not it is taken; an offered beat must not change.
  void offer(const rtl::DmaAddress::Beat& beat, bool taken, Trial& trial) {
    const size_t index = taken_;
    if (taken) ++taken_;
    if (index >= expected_.size()) {
      trial.note(fmt::format("{} beats too many", name_));
      return;
    }
    const DmaBeat& wanted = expected_[index];
    if (taken) ++trial.compared;
    if (beat.address == wanted.address && beat.bytes == wanted.bytes && beat.last == wanted.last) return;
    const auto text = [](uint64_t address, uint32_t bytes, bool last) {
      return fmt::format("{} bytes at {:#x}{}", bytes, address, last ? ", the last" : "");
    };
    trial.note(fmt::format("{} beat {} is {} instead of {}", name_, index, text(beat.address, beat.bytes, beat.last),
                           text(wanted.address, wanted.bytes, wanted.last)));
  }
  void end(Trial& trial) const {
    if (taken_ < expected_.size()) trial.note(fmt::format("{} ends before beat {}", name_, taken_));
  }

 private:
  std::string_view name_;
  std::vector<DmaBeat> expected_;
  size_t taken_ = 0;
};

// One command on the block.
class DmaRun {
 public:
  DmaRun(const DmaCommand& command, std::span<const int32_t> indices, rtl::DmaAddress& block, Trial& trial)
      : DmaRun(command, indices, beats_of(command, indices, block.port_bytes()), block, trial) {}

  // Until both the block and the schedule are done; returns the schedule's cycles.
  uint64_t run(timing::PortSchedule& schedule, Grants& grants, uint64_t patience) {
    uint64_t scheduled = 0;
    block_.start(command_, kSourceBase, kDestinationBase, kIndexBase);
    block_.tick();
    for (uint64_t cycle = 2; trial_.rtl_cycles == 0 || scheduled == 0; ++cycle) {
      if (cycle > patience) {
        trial_.note(fmt::format("the block has not ended after {} cycles", patience));
        break;
      }
      const timing::Ports ready = grants.next(), asked = serve(ready), expected = schedule.asking();
      if (asked != expected && trial_.port_difference.empty()) {
        trial_.port_difference = fmt::format("in cycle {} the RTL offers beats on ports {:03b}, the schedule on {:03b}",
                                             cycle - 1, asked, expected);
      }
      schedule.step(expected & ready);
      block_.tick();
      if (trial_.rtl_cycles == 0 && block_.idle()) trial_.rtl_cycles = cycle;
      if (scheduled == 0 && schedule.done()) scheduled = cycle;
    }
    index_.end(trial_);
    source_.end(trial_);
    destination_.end(trial_);
    return scheduled;
  }

 private:
  DmaRun(const DmaCommand& command, std::span<const int32_t> indices, Beats beats, rtl::DmaAddress& block, Trial& trial)
      : command_(command),
        indices_(indices),
        block_(block),
        trial_(trial),
        source_("source", std::move(beats[0])),
        destination_("destination", std::move(beats[1])),
        index_("index", std::move(beats[2])) {}

  [[nodiscard]] bool fills() const { return command_.mode == DmaMode::kFill; }

  // Takes the beats of one cycle on the ports that are ready.
  timing::Ports serve(timing::Ports ready) {
    timing::Ports asked = 0;
    rtl::DmaAddress::Beat beat;
    serve_indices(ready, asked);
    if (block_.source(beat)) {
      asked |= timing::kDmaSource;
      source_.offer(beat, (ready & timing::kDmaSource) != 0, trial_);
    }
    if (block_.destination(beat)) {
      asked |= timing::kDmaDestination;
      const bool taken = (ready & timing::kDmaDestination) != 0;
      destination_.offer(beat, taken, trial_);
      if (taken) check_fill(beat);
    }
    const timing::Ports taken = asked & ready;
    block_.set_ready((taken & timing::kDmaSource) != 0, (taken & timing::kDmaDestination) != 0);
    return asked;
  }

  void serve_indices(timing::Ports ready, timing::Ports& asked) {
    rtl::DmaAddress::Beat beat;
    rtl::DmaAddress::Wrong wrong;
    if (block_.wrong(wrong)) trial_.note(fmt::format("index {} is refused, but it chooses a row", wrong.place));
    block_.answer({});
    if (!block_.indices(beat)) return;
    asked |= timing::kDmaIndex;
    const bool taken = (ready & timing::kDmaIndex) != 0;
    index_.offer(beat, taken, trial_);
    const auto bytes = std::as_bytes(indices_);
    if (!taken || served_ + beat.bytes > bytes.size()) return;
    block_.answer({reinterpret_cast<const uint8_t*>(bytes.data()) + served_, beat.bytes});
    served_ += beat.bytes;
  }

  void check_fill(const rtl::DmaAddress::Beat& beat) {
    if ((beat.fill != nullptr) != fills())
      trial_.note(fills() ? "a fill has no data" : "another command has data of a fill");
    if (beat.fill == nullptr || !fills()) return;
    for (uint32_t i = 0; i < beat.bytes; ++i, ++filled_) {
      ++trial_.compared;
      const uint8_t wanted = fill_byte(command_, filled_);
      if (beat.fill[i] == wanted) continue;
      trial_.note(fmt::format("byte {} of the fill is {:#04x} instead of {:#04x}", filled_, beat.fill[i], wanted));
    }
  }

  const DmaCommand& command_;
  const std::span<const int32_t> indices_;
  rtl::DmaAddress& block_;
  Trial& trial_;
  Side source_, destination_, index_;
  uint64_t filled_ = 0, served_ = 0;  // bytes
};

class DmaTrials final : public Trials {
 public:
  DmaTrials(const contract::Capabilities& caps, std::unique_ptr<rtl::DmaAddress> block)
      : caps_(caps), block_(std::move(block)) {}

  [[nodiscard]] Trial run(uint64_t seed, bool held_back) override {
    std::mt19937_64 random(seed);
    const DmaCommand command = random_dma_command(random);
    const std::vector<int32_t> indices = random_indices(command, random);
    const auto schedule = timing::dma_ports(command, caps_);
    Trial trial;
    Grants grants;
    if (held_back && seed % 2 == 0) {
      const auto contended_schedule = timing::dma_ports(command, caps_);
      Contended contended = contend(*contended_schedule, requests(command, indices), caps_, random());
      grants = std::move(contended.grants);
      trial.device_cycles = contended.cycles + 1;  // and the one that takes the command
    } else if (held_back) {
      const auto percent = [&] { return static_cast<uint8_t>(10 + random() % 90); };
      const uint8_t source = percent(), destination = percent(), index = percent();
      grants = Grants(random(), {source, destination, index, 100});
    }
    trial.kind = contract::name(command.mode);
    trial.text = describe(command);
    block_->reset();
    const uint64_t formula = rtl::DmaAddress::kLatency + timing::dma_cycles(command, caps_).steady;
    try {
      const uint64_t scheduled = DmaRun(command, indices, *block_, trial).run(*schedule, grants, 100 * (formula + 10));
      trial.expected_cycles = held_back ? scheduled : formula;
    } catch (const rtl::AssertionFailed& failed) {
      trial.note(failed.what());
    }
    return trial;
  }

 private:
  // Of its beats, all of the scratchpad.
  [[nodiscard]] std::function<timing::MemoryRequest(uint32_t)> requests(const DmaCommand& command,
                                                                        std::span<const int32_t> indices) const {
    return [beats = beats_of(command, indices, block_->port_bytes()),
            taken = std::array<size_t, 3>{}](uint32_t port) mutable -> timing::MemoryRequest {
      const DmaBeat& beat = beats.at(port).at(taken.at(port)++);
      return {timing::OnChip::kScratchpad, 1u << port == timing::kDmaDestination, beat.address, beat.bytes};
    };
  }

  const contract::Capabilities caps_;
  std::unique_ptr<rtl::DmaAddress> block_;
};

}  // namespace

std::unique_ptr<Trials> make_dma_trials(const contract::Capabilities& caps, std::unique_ptr<rtl::DmaAddress> block) {
  return std::make_unique<DmaTrials>(caps, std::move(block));
}

}  // namespace npu::cosim
