// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/scratchpad_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hw/timing/crossbar.h"
#include "rtl/verilated/assertion.h"
#include "sim/cosim/scratchpad_demand.h"

namespace npu::cosim {
namespace {

// Who asks for what in which cycle, for one way to grant.
class Requesters {
 public:
  explicit Requesters(const ScratchpadDemand& demand)
      : demand_(demand), next_(demand.streams.size()), asks_at_(demand.streams.size()) {
    for (size_t r = 0; r < next_.size(); ++r) wait(r, 0);
  }

  // What a requester asks for in this cycle; nullptr: nothing.
  [[nodiscard]] const ScratchpadAccess* asks(uint32_t requester, uint64_t cycle) const {
    const auto& stream = demand_.streams[requester];
    const size_t next = next_[requester];
    return next < stream.size() && asks_at_[requester] <= cycle ? &stream[next] : nullptr;
  }
  void served(uint32_t requester, uint64_t cycle) {
    ++next_[requester];
    wait(requester, cycle + 1);
  }
  [[nodiscard]] bool done() const {
    for (size_t r = 0; r < next_.size(); ++r) {
      if (next_[r] < demand_.streams[r].size()) return false;
    }
    return true;
  }

 private:
  void wait(size_t requester, uint64_t cycle) {
    const auto& stream = demand_.streams[requester];
    if (next_[requester] < stream.size()) asks_at_[requester] = cycle + stream[next_[requester]].pause;
  }

  const ScratchpadDemand& demand_;
  std::vector<size_t> next_;
  std::vector<uint64_t> asks_at_;
};

// A requester as a lane of the device's crossbar.
class Lane final : public timing::Crossbar::Lane, public timing::SteppedSchedule<Lane> {
 public:
  Lane(timing::Crossbar& crossbar, std::span<const ScratchpadAccess> stream, uint32_t bank_bytes)
      : timing::Crossbar::Lane(crossbar, 1), left_(stream), bank_bytes_(bank_bytes) {
    wait();
  }
  // In the last cycle.
  [[nodiscard]] bool served() const { return served_; }

  [[nodiscard]] timing::Ports asking() const override { return pause_ == 0 ? 1 : 0; }
  void step(timing::Ports granted) override {
    served_ = granted != 0;
    if (pause_ > 0) --pause_;
    if (!served_) return;
    left_ = left_.subspan(1);
    wait();
  }
  [[nodiscard]] bool done() const override { return left_.empty(); }
  [[nodiscard]] timing::MemoryRequest next(uint32_t) override {
    return {timing::OnChip::kScratchpad, left_.front().write, uint64_t{left_.front().word} * bank_bytes_, bank_bytes_};
  }
  void ended(uint64_t) override { served_ = false; }
  [[nodiscard]] uint64_t cycles_left() const override { return left_.size(); }

 private:
  void wait() { pause_ = left_.empty() ? 0 : left_.front().pause; }

  std::span<const ScratchpadAccess> left_;
  const uint32_t bank_bytes_;
  uint32_t pause_ = 0;
  bool served_ = false;
};

contract::Capabilities sizes_of_memory(const rtl::Scratchpad::Sizes& sizes) {
  contract::Capabilities caps;
  caps.spm_bytes = sizes.bytes;
  caps.spm_banks = sizes.banks;
  caps.spm_bank_bytes = sizes.bank_bytes;
  return caps;
}

// What the device makes of the demand.
class Schedule {
 public:
  Schedule(const ScratchpadDemand& demand, const rtl::Scratchpad::Sizes& sizes) : crossbar_(sizes_of_memory(sizes)) {
    for (const auto& stream : demand.streams) {
      lanes_.push_back(std::make_unique<Lane>(crossbar_, stream, sizes.bank_bytes));
      if (!stream.empty()) crossbar_.start(*lanes_.back(), *lanes_.back(), 0);
    }
  }

  // Ends a cycle; returns who is served in it.
  uint32_t step(uint64_t cycle) {
    crossbar_.tell(cycle);
    crossbar_.play(cycle + 1);
    uint32_t served = 0;
    for (size_t i = 0; i < lanes_.size(); ++i) served |= lanes_[i]->served() ? 1u << i : 0;
    return served;
  }
  [[nodiscard]] bool done() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->done(); });
  }

 private:
  timing::Crossbar crossbar_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

// One demand on the block.
class ScratchpadRun {
 public:
  // Writes the words that the demand uses, and some whose number is another one in a single bit.
  ScratchpadRun(const ScratchpadDemand& demand, rtl::Scratchpad& block, Trial& trial, std::mt19937_64& random)
      : block_(block),
        sizes_(block.sizes()),
        demand_(demand),
        trial_(trial),
        requesters_(demand),
        expected_(sizes_.requesters) {
    const auto bits = static_cast<uint32_t>(std::countr_zero(sizes_.bytes / sizes_.bank_bytes));
    for (uint32_t i = 0; i < demand_.words; ++i) contents_[demand_.first_word + i];
    for (uint32_t i = 0; i < kOthers; ++i) {
      contents_[(demand_.first_word + static_cast<uint32_t>(random() % demand_.words)) ^ 1u << random() % bits];
    }
    for (auto& [word, bytes] : contents_) {
      bytes.resize(sizes_.bank_bytes);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      block_.write(0, word, ~0u, bytes);
      end_alone();
    }
    block_.reset();  // turns begin anew; contents stay
  }

  // Until the block and the schedule are done; returns the schedule's cycles. A cycle more brings the last data.
  uint64_t run(Schedule& schedule, uint64_t patience) {
    uint64_t scheduled = 0;
    for (uint64_t cycle = 0; trial_.rtl_cycles == 0 || scheduled == 0; ++cycle) {
      if (cycle > patience) {
        trial_.note(fmt::format("the block has not served all accesses after {} cycles", patience));
        break;
      }
      const uint32_t wanted = schedule.step(cycle), served = serve(cycle);
      if (served != wanted && trial_.port_difference.empty()) {
        trial_.port_difference = fmt::format("in cycle {} the RTL serves requesters {:0{}b}, the arbitration {:0{}b}",
                                             cycle, served, sizes_.requesters, wanted, sizes_.requesters);
      }
      if (trial_.rtl_cycles == 0 && requesters_.done()) trial_.rtl_cycles = cycle + 2;
      if (scheduled == 0 && schedule.done()) scheduled = cycle + 2;
    }
    compare_answers();
    return scheduled;
  }

  // Unread contents have to be right in the end, too.
  void read_back() {
    for (uint32_t r = 0; r < sizes_.requesters; ++r) block_.withdraw(r);
    block_.tick();
    for (const auto& [word, bytes] : contents_) {
      block_.read(0, word);
      end_alone();
      expected_[0] = bytes;
      compare_answers();
    }
  }

 private:
  static constexpr uint32_t kOthers = 16;

  // A cycle in which only requester 0 asks for something.
  void end_alone() {
    if (!block_.granted(0)) trial_.note("a requester that is alone is not served");
    block_.tick();
    block_.withdraw(0);
  }

  // One cycle of the block; returns who was served.
  uint32_t serve(uint64_t cycle) {
    for (uint32_t r = 0; r < sizes_.requesters; ++r) {
      const ScratchpadAccess* access = requesters_.asks(r, cycle);
      if (access == nullptr) {
        block_.withdraw(r);
      } else if (access->write) {
        block_.write(r, access->word, access->strobe, access->data);
      } else {
        block_.read(r, access->word);
      }
    }
    compare_answers();
    uint32_t served = 0;
    for (uint32_t r = 0; r < sizes_.requesters; ++r) {
      if (!block_.granted(r)) continue;
      served |= 1u << r;
      const ScratchpadAccess* access = requesters_.asks(r, cycle);
      if (access == nullptr) continue;  // the schedule tells
      perform(r, *access);
      requesters_.served(r, cycle);
    }
    block_.tick();
    return served;
  }

  void perform(uint32_t requester, const ScratchpadAccess& access) {
    std::vector<uint8_t>& word = contents_.at(access.word);
    if (!access.write) {
      expected_[requester] = word;
      return;
    }
    for (uint32_t i = 0; i < sizes_.bank_bytes; ++i) {
      if ((access.strobe >> i & 1) != 0) word[i] = access.data[i];
    }
  }

  // Of the reads that were served in the cycle before.
  void compare_answers() {
    for (uint32_t r = 0; r < sizes_.requesters; ++r) {
      const std::span<const uint8_t> answer = block_.answer(r);
      std::vector<uint8_t>& wanted = expected_[r];
      trial_.compared += wanted.size();
      if (answer.size() != wanted.size()) {
        trial_.note(fmt::format("requester {} is answered {} bytes instead of {}", r, answer.size(), wanted.size()),
                    std::max(answer.size(), wanted.size()));
      } else if (!std::equal(answer.begin(), answer.end(), wanted.begin())) {
        const auto [got, expected] = std::mismatch(answer.begin(), answer.end(), wanted.begin());
        uint64_t differing = 0;
        for (size_t i = 0; i < wanted.size(); ++i) differing += answer[i] != wanted[i] ? 1 : 0;
        trial_.note(fmt::format("requester {} reads {:#04x} instead of {:#04x}, byte {} of its word", r, *got,
                                *expected, got - answer.begin()),
                    differing);
      }
      wanted.clear();
    }
  }

  rtl::Scratchpad& block_;
  const rtl::Scratchpad::Sizes& sizes_;
  const ScratchpadDemand& demand_;
  Trial& trial_;
  Requesters requesters_;
  std::map<uint32_t, std::vector<uint8_t>> contents_;  // by words; of those that are looked at
  std::vector<std::vector<uint8_t>> expected_;         // answers of the next cycle; empty: none
};

class ScratchpadTrials final : public Trials {
 public:
  explicit ScratchpadTrials(std::unique_ptr<rtl::Scratchpad> block) : block_(std::move(block)) {}

  [[nodiscard]] Trial run(uint64_t seed, bool held_back) override {
    std::mt19937_64 random(seed);
    const rtl::Scratchpad::Sizes& sizes = block_->sizes();
    const ScratchpadDemand demand = random_demand(sizes, random, held_back);
    Trial trial;
    trial.kind = demand.kind;
    trial.text = fmt::format("{} accesses of {} requesters to {} words, {}", demand.accesses(), sizes.requesters,
                             demand.words, demand.kind);
    block_->reset();
    try {
      ScratchpadRun run(demand, *block_, trial, random);
      Schedule schedule(demand, sizes);
      const uint64_t scheduled = run.run(schedule, demand.end() + 4 * demand.accesses() + 100);
      trial.expected_cycles = held_back ? scheduled : demand.end() + 1;
      if (held_back) trial.device_cycles = scheduled;
      run.read_back();
    } catch (const rtl::AssertionFailed& failed) {
      trial.note(failed.what());
    }
    return trial;
  }

 private:
  std::unique_ptr<rtl::Scratchpad> block_;
};

}  // namespace

std::unique_ptr<Trials> make_scratchpad_trials(std::unique_ptr<rtl::Scratchpad> block) {
  return std::make_unique<ScratchpadTrials>(std::move(block));
}

}  // namespace npu::cosim
