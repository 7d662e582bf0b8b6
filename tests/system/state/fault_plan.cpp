// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/fault_plan.h"

#include <algorithm>
#include <sstream>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"

namespace npu::test {
namespace {

namespace reg = contract::reg;
using contract::Queue;

constexpr uint32_t kWordBytes = 8, kWordBits = 72;

class Dice {
 public:
  Dice(const FaultRange& range, std::mt19937& random) : range_(range), random_(random) {}

  [[nodiscard]] uint32_t below(uint32_t end) const { return static_cast<uint32_t>(random_() % end); }
  [[nodiscard]] bool one_in(uint32_t n) const { return below(n) == 0; }
  // Often at the start, when no hook has anything to miss.
  [[nodiscard]] uint32_t moment() const { return one_in(2) ? 0 : below(range_.moments); }

 private:
  const FaultRange& range_;
  std::mt19937& random_;
};

Strike hang(const FaultRange& range, const Dice& dice) {
  const uint32_t unit = dice.below(range.dma_channels + 2);
  const Queue queue = unit == 0 ? Queue::kMxu : unit == 1 ? Queue::kVpu : static_cast<Queue>(unit - 2);
  return {dice.moment(),
          {{reg::kTestHangCommand, dice.below(range.commands)},
           {reg::kTestHang, reg::kTestHangEnableMask | static_cast<uint32_t>(queue) << reg::kTestHangQueueLsb}}};
}

FlippedWord random_word(const FaultRange& range, const Dice& dice) {
  FlippedWord word;
  word.owned = !dice.one_in(4);
  word.offset = range.owned_words[dice.below(static_cast<uint32_t>(range.owned_words.size()))];
  while (!word.owned) {
    word.offset = range.table_bytes + dice.below((range.psram_bytes - range.table_bytes) / kWordBytes) * kWordBytes;
    if (std::find(range.owned_words.begin(), range.owned_words.end(), word.offset) == range.owned_words.end()) break;
  }
  word.bits = {dice.below(kWordBits)};
  if (dice.one_in(3)) word.bits.push_back((word.bits[0] + 1 + dice.below(kWordBits - 1)) % kWordBits);
  return word;
}

void add_flips(const FaultRange& range, const Dice& dice, FaultPlan& plan) {
  for (uint32_t left = 1 + dice.below(4); left > 0; --left) {
    const FlippedWord word = random_word(range, dice);
    const bool twice = std::any_of(plan.flips.begin(), plan.flips.end(),
                                   [&](const FlippedWord& other) { return other.offset == word.offset; });
    if (twice) continue;
    plan.flips.push_back(word);
    for (const uint32_t bit : word.bits) {  // the second one perhaps later
      plan.strikes.push_back({dice.moment(), {{reg::kTestFlipAddress, word.offset}, {reg::kTestFlipBit, bit}}});
    }
  }
}

}  // namespace

FaultPlan random_plan(const FaultRange& range, std::mt19937& random) {
  const Dice dice(range, random);
  FaultPlan plan;
  if (dice.one_in(4)) plan.strikes.push_back(hang(range, dice));
  if (dice.one_in(4)) {
    plan.strikes.push_back({dice.moment(), {{reg::kTestBrownout, 1 + dice.below(range.written_bytes)}}});
  }
  if (dice.one_in(4)) {
    plan.strikes.push_back({dice.moment(), {{reg::kTestBusError, 1 + dice.below(range.bursts)}}});
  }
  if (dice.one_in(4)) {
    plan.lost_interrupts = 1 + dice.below(3);
    plan.strikes.push_back({dice.moment(), {{reg::kTestDropInterrupts, plan.lost_interrupts}}});
  }
  if (dice.one_in(3)) add_flips(range, dice, plan);
  return plan;
}

bool FaultPlan::two_wrong_bits() const {
  return std::any_of(flips.begin(), flips.end(), [](const FlippedWord& word) { return word.bits.size() > 1; });
}

std::string FaultPlan::text() const {
  std::ostringstream text;
  for (const Strike& strike : strikes) {
    text << " at " << strike.moment << ':';
    for (const Strike::Write& write : strike.writes) {
      text << std::hex << " 0x" << write.offset << "=0x" << write.value << std::dec;
    }
    text << ';';
  }
  return text.str();
}

Struck disarm(runtime::Device& device, const FaultPlan& plan, const std::vector<Strike>& left) {
  const auto struck = [&](uint32_t hook, uint32_t mask) {
    const auto writes_it = [&](const Strike& strike) { return strike.writes.back().offset == hook; };
    return std::any_of(plan.strikes.begin(), plan.strikes.end(), writes_it) &&
           std::none_of(left.begin(), left.end(), writes_it) && (device.read_register(hook) & mask) == 0;
  };
  const Struck result{struck(reg::kTestHang, reg::kTestHangEnableMask), struck(reg::kTestBrownout, ~0U),
                      struck(reg::kTestBusError, ~0U)};
  for (const uint32_t hook : {reg::kTestHang, reg::kTestBrownout, reg::kTestBusError, reg::kTestDropInterrupts}) {
    device.write_register(hook, 0);
  }
  return result;
}

}  // namespace npu::test
