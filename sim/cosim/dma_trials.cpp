// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/dma_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
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

constexpr uint64_t kSourceBase = uint64_t{1} << 38, kDestinationBase = uint64_t{3} << 37;

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
  DmaRun(const DmaCommand& command, rtl::DmaAddress& block, Trial& trial)
      : command_(command),
        block_(block),
        trial_(trial),
        source_("source", fills() ? std::vector<DmaBeat>{} : beats(kSourceBase, command.src_stride)),
        destination_("destination", beats(kDestinationBase, command.dst_stride)) {}

  // Until both the block and the schedule are done; returns the schedule's cycles.
  uint64_t run(timing::PortSchedule& schedule, Grants& grants, uint64_t patience) {
    uint64_t scheduled = 0;
    block_.start(command_, kSourceBase, kDestinationBase);
    block_.tick();
    for (uint64_t cycle = 2; trial_.rtl_cycles == 0 || scheduled == 0; ++cycle) {
      if (cycle > patience) {
        trial_.note(fmt::format("the block has not ended after {} cycles", patience));
        break;
      }
      const timing::Ports ready = grants.next(), asked = serve(ready), expected = schedule.asking();
      if (asked != expected && trial_.port_difference.empty()) {
        trial_.port_difference = fmt::format("in cycle {} the RTL offers beats on ports {:02b}, the schedule on {:02b}",
                                             cycle - 1, asked, expected);
      }
      schedule.step(expected & ready);
      block_.tick();
      if (trial_.rtl_cycles == 0 && block_.idle()) trial_.rtl_cycles = cycle;
      if (scheduled == 0 && schedule.done()) scheduled = cycle;
    }
    source_.end(trial_);
    destination_.end(trial_);
    return scheduled;
  }

 private:
  [[nodiscard]] bool fills() const { return command_.mode == DmaMode::kFill; }
  [[nodiscard]] std::vector<DmaBeat> beats(uint64_t base, const std::array<int32_t, 5>& stride) const {
    return dma_beats(command_, base, stride, block_.port_bytes());
  }

  // Takes the beats of one cycle on the ports that are ready.
  timing::Ports serve(timing::Ports ready) {
    timing::Ports asked = 0;
    rtl::DmaAddress::Beat beat;
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

  void check_fill(const rtl::DmaAddress::Beat& beat) {
    if ((beat.fill != nullptr) != fills()) trial_.note(fills() ? "a fill has no data" : "a copy has data of a fill");
    if (beat.fill == nullptr || !fills()) return;
    for (uint32_t i = 0; i < beat.bytes; ++i, ++filled_) {
      ++trial_.compared;
      const uint8_t wanted = fill_byte(command_, filled_);
      if (beat.fill[i] == wanted) continue;
      trial_.note(fmt::format("byte {} of the fill is {:#04x} instead of {:#04x}", filled_, beat.fill[i], wanted));
    }
  }

  const DmaCommand& command_;
  rtl::DmaAddress& block_;
  Trial& trial_;
  Side source_, destination_;
  uint64_t filled_ = 0;
};

class DmaTrials final : public Trials {
 public:
  DmaTrials(const contract::Capabilities& caps, std::unique_ptr<rtl::DmaAddress> block)
      : caps_(caps), block_(std::move(block)) {}

  [[nodiscard]] Trial run(uint64_t seed, bool held_back) override {
    std::mt19937_64 random(seed);
    const DmaCommand command = random_dma_command(random);
    const auto schedule = timing::dma_ports(command, caps_);
    Trial trial;
    Grants grants;
    if (held_back && seed % 2 == 0) {
      const auto contended_schedule = timing::dma_ports(command, caps_);
      Contended contended = contend(*contended_schedule, requests(command), caps_, random());
      grants = std::move(contended.grants);
      trial.device_cycles = contended.cycles + 1;  // and the one that takes the command
    } else if (held_back) {
      const auto source = static_cast<uint8_t>(10 + random() % 90),
                 destination = static_cast<uint8_t>(10 + random() % 90);
      grants = Grants(random(), {source, destination, 100, 100});
    }
    trial.kind = contract::name(command.mode);
    trial.text = describe(command);
    block_->reset();
    const uint64_t formula = rtl::DmaAddress::kLatency + timing::dma_cycles(command, caps_).steady;
    try {
      const uint64_t scheduled = DmaRun(command, *block_, trial).run(*schedule, grants, 100 * (formula + 10));
      trial.expected_cycles = held_back ? scheduled : formula;
    } catch (const rtl::AssertionFailed& failed) {
      trial.note(failed.what());
    }
    return trial;
  }

 private:
  // Of the beats on both sides, by the ports' numbers.
  [[nodiscard]] std::function<timing::MemoryRequest(uint32_t)> requests(const DmaCommand& command) const {
    std::array<std::vector<DmaBeat>, 2> beats{
        dma_beats(command, kSourceBase, command.src_stride, block_->port_bytes()),
        dma_beats(command, kDestinationBase, command.dst_stride, block_->port_bytes())};
    return [beats = std::move(beats), taken = std::array<size_t, 2>{}](uint32_t port) mutable -> timing::MemoryRequest {
      const DmaBeat& beat = beats[port].at(taken[port]++);
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
