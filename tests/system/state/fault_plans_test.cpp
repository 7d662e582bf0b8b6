// SPDX-License-Identifier: Apache-2.0
// Two contexts run jobs beside each other while random faults strike at random moments: engines that hang, lost
// interrupts, wrong bits, power that breaks down, bursts that fail. Each job ends with its right result, or with a
// fault that names its cause; nothing is silent, and the next jobs of both contexts are right. NPU_FAULT_RUNS sets how
// many runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "tests/system/device/bench.h"
#include "tests/system/state/fault_plan.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/seed.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

using contract::Counter;
using contract::ErrorCode;
using Inputs = std::vector<graph::Value>;

constexpr uint32_t kPollCycles = 10'000;  // of a moment, at least

// How a job ended.
struct Ending {
  ErrorCode code = ErrorCode::kOk;
  std::string text;
  uint32_t preemptions = 0;
};

class FaultPlans : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto hal = std::make_unique<StrikingHal>(platform::open_tlm_device(options(GetParam())));
    hal_ = hal.get();
    device_.emplace(runtime::Device::open(std::move(hal)));
    add(attention_step({48, 64, 6}, seed_), {});
    add(gru_step({16, 48}, Precision::kInt16x8, seed_), {.priority = 200});
    range_.table_bytes = device_->capabilities().var_entries * contract::VariableEntry::kBytes;
    range_.psram_bytes = device_->capabilities().psram_bytes;
    range_.dma_channels = device_->capabilities().dma_channels;
    for (size_t side = 0; side < sides_.size(); ++side) measure(side);
  }

  void add(const graph::Graph& graph, const runtime::ContextOptions& context) {
    graphs_.push_back(graph);
    sides_.push_back(std::make_unique<SideBySide>(*device_, context));
    static_cast<void>(sides_.back()->load(graph));
  }

  // What a job of the side does when nothing goes wrong.
  void measure(size_t side) {
    const Inputs inputs = random_inputs(graphs_[side], random_);
    const uint64_t before = device_->time();
    sides_[side]->follow(0, inputs);
    sides_[side]->start(0, inputs, {.cycle_limit = kCycleLimit});
    const runtime::RunResult result = sides_[side]->wait(0);
    sides_[side]->compare(0);
    const uint64_t bytes = result.counters.total(Counter::kDramRead) + result.counters.total(Counter::kDramWritten);
    const compiler::Program& program = sides_[side]->program(0);
    uint32_t written = 0;
    for (const compiler::Variable& variable : program.variables) written += variable.written_bytes;
    const uint64_t took = device_->time() - before;
    most_cycles_ = std::max(most_cycles_, took);
    range_.commands = std::max(range_.commands, program.command_count);
    range_.bursts = std::max(range_.bursts, static_cast<uint32_t>(bytes / device_->capabilities().dma_burst_bytes));
    range_.written_bytes = std::max(range_.written_bytes, written);
    range_.moments = std::max(range_.moments, static_cast<uint32_t>(2 + took / kPollCycles));
    std::cout << GetParam() << ", context " << side + 1 << ": " << result.cycles << " cycles, " << program.command_count
              << " commands, " << bytes << " bytes to and from DRAM, " << written << " bytes written to variables\n";
  }

  // Variables may move whenever they are cleared.
  void look_up_places() {
    range_.owned_words.clear();
    for (const auto& side : sides_) {
      for (const runtime::VariableInfo& info : side->context().variables()) {
        for (uint64_t byte = info.offset / 8 * 8; byte < info.offset + info.bytes; byte += 8) {
          range_.owned_words.push_back(static_cast<uint32_t>(byte));
        }
        for (uint32_t byte = 0; byte < contract::VariableEntry::kBytes; byte += 8) {
          range_.owned_words.push_back(info.index * contract::VariableEntry::kBytes + byte);
        }
      }
    }
  }

  template <class Call>
  static Ending ending_of(const Call& call) {
    try {
      return call();
    } catch (const Error& error) {
      return {error.code(), error.what(), 0};
    }
  }

  // Both jobs in flight, the urgent one at a moment in the other.
  std::vector<Ending> run(const FaultPlan& plan, const std::vector<Inputs>& inputs) {
    const uint64_t start = device_->time(), urgent = start + random_() % most_cycles_;
    std::vector<Ending> endings;
    hal_->plan(plan.strikes);
    for (size_t side = 0; side < sides_.size(); ++side) {
      const runtime::JobOptions job{.cycle_limit = kCycleLimit, .not_before = side == 0 ? 0 : urgent};
      endings.push_back(ending_of([&] {
        sides_[side]->start(0, inputs[side], job);
        return Ending{};
      }));
    }
    for (size_t side = 0; side < sides_.size(); ++side) {
      if (endings[side].code != ErrorCode::kOk) continue;  // it did not start
      endings[side] = ending_of([&] { return Ending{ErrorCode::kOk, "", sides_[side]->wait(0).times.preemptions}; });
    }
    const uint64_t took = device_->time() - start;
    longest_ = std::max(longest_, took);
    EXPECT_LE(took, kMostTime);
    return endings;
  }

  // A fault has a cause that was in the plan and has struck, and says what it was.
  static void expect_cause(const Ending& ending, const FaultPlan& plan, const Struck& struck) {
    const auto says = [&](const char* word) { return ending.text.find(word) != std::string::npos; };
    bool cause = false, named = false;
    switch (ending.code) {
      case ErrorCode::kFaultTimeout:
        cause = struck.hang;
        named = says("works on") && says("command");
        break;
      case ErrorCode::kFaultPower:
        cause = struck.brown_out;
        named = says("power");
        break;
      case ErrorCode::kFaultBus:
        cause = struck.bus_error;
        named = says("command");
        break;
      case ErrorCode::kFaultEcc:
      case ErrorCode::kVariableTorn:  // its entry had two wrong bits, and was written anew
        cause = plan.two_wrong_bits();
        named = says("variable") && says("two wrong bits");
        break;
      default:
        break;
    }
    EXPECT_TRUE(cause) << "no such fault struck: " << ending.text;
    EXPECT_TRUE(named) << ending.text;
  }

  // What struck is told by some job, although perhaps as something else that struck it first.
  static void expect_told(const std::vector<Ending>& endings, const FaultPlan& plan, const Struck& struck) {
    const auto faulted =
        std::count_if(endings.begin(), endings.end(), [](const Ending& end) { return end.code != ErrorCode::kOk; });
    const bool any = faulted > 0;
    EXPECT_TRUE(any || !struck.hang) << "an engine hung in silence";
    EXPECT_TRUE(any || !struck.brown_out) << "power broke down in silence";
    EXPECT_TRUE(any || !struck.bus_error) << "a burst failed in silence";
    if (plan.two_wrong_bits()) return;
    EXPECT_LE(faulted, struck.hang + struck.brown_out + struck.bus_error)
        << "more jobs ended with a fault than faults struck";
  }

  // A job that ended well is right, and so is its state; only two wrong bits may keep the host from reading it.
  void expect_right(size_t side, const Inputs& inputs, const FaultPlan& plan) {
    sides_[side]->follow(0, inputs);
    const Ending read = ending_of([&] {
      sides_[side]->compare(0);
      return Ending{};
    });
    if (read.code == ErrorCode::kOk) return;
    ++told_by_reads_;
    EXPECT_EQ(read.code, ErrorCode::kFaultEcc) << read.text;
    EXPECT_TRUE(plan.two_wrong_bits()) << read.text;
  }

  // What a user does about variables; words without an owner can only be flipped back.
  void mend(const FaultPlan& plan, const std::vector<Strike>& left) {
    const uint32_t found = device_->scrub().uncorrectable;
    told_by_scrubs_ += found;
    uint32_t unowned = 0;
    for (const FlippedWord& word : plan.flips) {
      const bool all = std::none_of(left.begin(), left.end(), [&](const Strike& strike) {
        return strike.writes[0].offset == contract::reg::kTestFlipAddress && strike.writes[0].value == word.offset;
      });
      if (word.owned || word.bits.size() < 2 || !all) continue;
      for (const uint32_t bit : word.bits) flip(word.offset, bit);
      ++unowned;
    }
    EXPECT_GE(found, unowned) << "the scrub missed two wrong bits in a word that nothing writes";
    for (const auto& side : sides_) side->start_again();
    const runtime::ScrubResult after = device_->scrub();
    EXPECT_EQ(after.corrected + after.uncorrectable, 0U) << "not mended";
  }
  void flip(uint32_t offset, uint32_t bit) {
    device_->write_register(contract::reg::kTestFlipAddress, offset);
    device_->write_register(contract::reg::kTestFlipBit, bit);
  }

  void once() {
    look_up_places();
    const FaultPlan plan = random_plan(range_, random_);
    SCOPED_TRACE("plan:" + plan.text());
    std::vector<Inputs> inputs;
    for (const graph::Graph& graph : graphs_) inputs.push_back(random_inputs(graph, random_));
    const std::vector<Ending> endings = run(plan, inputs);
    const std::vector<Strike> left = hal_->take_left();
    const Struck struck = disarm(*device_, plan, left);
    expect_told(endings, plan, struck);
    for (size_t side = 0; side < sides_.size(); ++side) {
      ++ended_[endings[side].code];
      preemptions_ += endings[side].preemptions;
      if (endings[side].code == ErrorCode::kOk) {
        expect_right(side, inputs[side], plan);
      } else {
        expect_cause(endings[side], plan, struck);
      }
    }
    mend(plan, left);
    for (size_t side = 0; side < sides_.size(); ++side) sides_[side]->step(0, random_inputs(graphs_[side], random_));
    lost_interrupts_ += plan.lost_interrupts;
    without_ += plan.strikes.empty() ? 1 : 0;
  }

  uint32_t seed_ = print_seed(0);
  std::mt19937 random_{seed_};
  StrikingHal* hal_ = nullptr;  // the device's
  std::optional<runtime::Device> device_;
  std::vector<std::unique_ptr<SideBySide>> sides_;  // the second is the urgent one
  std::vector<graph::Graph> graphs_;
  FaultRange range_;
  uint64_t most_cycles_ = 0, longest_ = 0;
  std::map<ErrorCode, int64_t> ended_;
  int64_t preemptions_ = 0, lost_interrupts_ = 0, told_by_reads_ = 0, told_by_scrubs_ = 0, without_ = 0;
};

TEST_P(FaultPlans, EachJobIsRightOrNamesItsCause) {
  const int count = tries("NPU_FAULT_RUNS", 400);
  int done = 0;
  for (; done < count && !HasFailure(); ++done) {
    SCOPED_TRACE("run " + std::to_string(done));
    once();
  }
  std::cout << done << " runs of 2 jobs, " << without_ << " of them without a fault; jobs by their end:";
  for (const auto& [code, jobs] : ended_) std::cout << ' ' << contract::name(code) << ' ' << jobs << ',';
  std::cout << ' ' << lost_interrupts_ << " interrupts to lose, " << preemptions_
            << " preemptions, two wrong bits told "
            << "by " << told_by_reads_ << " reads and " << told_by_scrubs_ << " scrubs, longest run " << longest_
            << " device cycles\n";
  for (const auto& side : sides_) side->report("on " + GetParam());
  for (const ErrorCode code :
       {ErrorCode::kOk, ErrorCode::kFaultTimeout, ErrorCode::kFaultPower, ErrorCode::kFaultBus, ErrorCode::kFaultEcc}) {
    EXPECT_GT(ended_[code], 0) << contract::name(code) << " was never drawn";
  }
  EXPECT_GT(preemptions_, 0);
}

INSTANTIATE_TEST_SUITE_P(Machines, FaultPlans, testing::Values("edge", "nano"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace npu::test
