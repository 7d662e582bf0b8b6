// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/persistent_sram_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "rtl/verilated/assertion.h"
#include "sim/cosim/persistent_sram_demand.h"
#include "sim/cosim/persistent_sram_driver.h"

namespace npu::cosim {
namespace {

using rtl::PersistentSram;
using Power = PersistentSram::Power;
using Injection = PersistentSramSchedule::Injection;
using Outputs = PersistentSramSchedule::Outputs;

enum class Kind : uint8_t { kPlain, kFlips, kPower };
constexpr std::string_view kKindNames[] = {"accesses and operations", "flipped bits", "power states"};

// One trial.
class PersistentSramRun {
 public:
  PersistentSramRun(PersistentSram& block, uint64_t seed, Trial& trial)
      : random_(seed), sizes_(block.sizes()), trial_(trial), driver_(block, trial) {
    kind_ = static_cast<Kind>(random_() % std::size(kKindNames));
    entries_ = 1 + below(8);
    const uint32_t table = contents().table_rows();
    for (uint64_t i = 2 + random_() % 8; i > 0; --i) rows_.push_back(table + below(contents().rows() - table));
  }

  void run(bool held_back) {
    write_table();
    const uint64_t phases = kind_ == Kind::kPower ? 3 : 1;
    for (uint64_t phase = 0; phase < phases && !driver_.apart(); ++phase) {
      if (phase > 0) lose_power();
      work(held_back);
    }
    if (held_back) {  // the competitors: from the beginning to the last answer
      trial_.expected_cycles = driver_.last_of_schedule() + 1;
      trial_.rtl_cycles = driver_.last_of_block() + 1;
      // The device's cycles know of no power that goes, and of no bits that flip.
      if (kind_ == Kind::kPlain && !driver_.apart()) {
        trial_.device_cycles = competes_at_ + device_cycles(demand_, sizes_.port_bytes) + 1;
      }
    }
    read_back();
  }
  void describe() {
    trial_.kind = kKindNames[static_cast<size_t>(kind_)];
    trial_.text = fmt::format("{} accesses and {} operations, {} times flipped bits, {}", accesses_, operations_,
                              injections_, kind_ == Kind::kPower ? "power going and coming" : "power on");
  }

 private:
  [[nodiscard]] const PersistentSramContents& contents() const { return driver_.schedule().contents(); }
  uint32_t below(uint64_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool percent(uint64_t percent) { return random_() % 100 < percent; }

  void work(bool held_back) {
    const bool on = driver_.power() == Power::kOn;
    if (held_back) {
      compete(20 + below(80), 4 + below(28), on);
      return;
    }
    for (uint64_t i = 8 + random_() % 24; i > 0 && !driver_.apart(); --i) {
      if (kind_ == Kind::kFlips && on) inject();
      if (percent(50)) {
        operate();
      } else {
        access(random_accesses(1 + below(8)));
      }
    }
  }

  void write_table() {
    std::vector<PersistentSramAccess> accesses;
    for (uint32_t row = 0; row < contents().table_rows(); ++row) {
      accesses.push_back(random_table_row(random_, sizes_, row, entries_));
    }
    access(std::move(accesses));
  }
  std::vector<PersistentSramAccess> random_accesses(uint32_t count) {
    std::vector<PersistentSramAccess> accesses;
    for (uint32_t i = 0; i < count; ++i) accesses.push_back(random_access(random_, sizes_, rows_));
    return accesses;
  }

  // Accesses back to back, alone; from the first one's cycle to the last one's answer.
  void access(std::vector<PersistentSramAccess> accesses) {
    const uint64_t first = driver_.cycles();
    const bool on = driver_.power() == Power::kOn;
    uint64_t formula = PersistentSram::kLatency + (on ? driver_.schedule().clear_left() : 0);
    accesses_ += accesses.size();
    for (size_t i = 0; i < accesses.size() && !driver_.apart(); ++i) {
      driver_.offer(std::move(accesses[i]));
      while (driver_.offers_access() && !driver_.apart()) {
        const bool late = driver_.cycle().late;
        if (!driver_.offers_access() && i + 1 < accesses.size()) formula += late ? 2 : 1;
      }
    }
    // The last one was taken in the last cycle.
    for (uint32_t i = 0; i < PersistentSram::kLatency; ++i) (void)driver_.cycle();
    if (!driver_.apart()) add(formula, driver_.last_of_block() - first);
  }

  // An operation alone, from its start to its end.
  void operate() {
    const uint64_t first = driver_.cycles();
    ++operations_;
    driver_.offer(random_operation(random_, entries_));
    while (!driver_.apart()) {
      const Outputs& outputs = driver_.cycle();
      if (!outputs.end) continue;
      if (!driver_.apart()) add(outputs.end->cycles, driver_.last_of_block() - first);
      return;
    }
  }

  // Unread contents have to be right in the end, too: rows that were used, the table, and rows whose number is
  // another one in a single bit.
  void read_back() {
    std::vector<uint32_t> rows = rows_;
    for (uint32_t row = 0; row < contents().table_rows(); ++row) rows.push_back(row);
    const auto bits = static_cast<uint32_t>(std::countr_zero(contents().rows()));
    for (int i = 0; i < 16; ++i) rows.push_back(rows_[below(rows_.size())] ^ 1u << below(bits));
    for (const uint32_t row : rows) {
      if (driver_.apart()) return;
      driver_.offer(read_of_row(sizes_, row));
      while (driver_.offers_access() && !driver_.apart()) (void)driver_.cycle();
    }
    rest();
  }

  void add(uint64_t formula, uint64_t cycles) {
    trial_.expected_cycles += formula;
    trial_.rtl_cycles += cycles;
  }

  // One or two wrong bits in some words, but never three in one.
  void inject() {
    for (uint64_t i = random_() % 3; i > 0 && !driver_.apart(); --i) {
      offer_injection();
      while (driver_.offers_injection() && !driver_.apart()) (void)driver_.cycle();
      (void)driver_.cycle();
    }
  }
  void offer_injection() {
    Injection injection;
    const bool table = percent(30);
    injection.row = table ? below(contents().table_rows()) : rows_[below(rows_.size())];
    injection.lane = below(contents().lanes());
    const uint32_t wrong = contents().wrong_bits(injection.row, injection.lane);
    const uint32_t first = below(72), second = (first + 1 + below(71)) % 72;
    const auto flip = [&](uint32_t bit) {
      if (bit < 64) {
        injection.data_flips ^= uint64_t{1} << bit;
      } else {
        injection.check_flips = static_cast<uint8_t>(injection.check_flips ^ 1u << (bit - 64));
      }
    };
    if (wrong < 2) flip(first);
    if (wrong == 0 && percent(30)) flip(second);
    ++injections_;
    driver_.offer(injection);
  }

  // Both ports at once, with gaps, and bits that flip in between.
  void compete(uint32_t accesses, uint32_t operations, bool on) {
    const uint64_t access_percent = 20 + random_() % 81, operation_percent = 20 + random_() % 81;
    const uint64_t injection_percent = kind_ == Kind::kFlips && on ? 4 : 0;
    uint32_t under_way = 0;
    size_t ended = 0;  // operations
    competes_at_ = driver_.cycles();
    demand_ = {};
    uint64_t access_free = competes_at_, operation_free = competes_at_;  // from then on another one could be offered
    while (!driver_.apart()) {
      const uint64_t now = driver_.cycles();
      if (accesses > 0 && !driver_.offers_access() && percent(access_percent)) {
        PersistentSramAccess access = random_access(random_, sizes_, rows_);
        demand_.accesses.push_back({now - access_free, false});
        driver_.offer(std::move(access));
        --accesses;
        ++accesses_;
      }
      if (operations > 0 && !driver_.offers_operation() && percent(operation_percent)) {
        demand_.operations.push_back({now - operation_free, {}});
        driver_.offer(random_operation(random_, entries_));
        --operations;
        ++operations_;
        ++under_way;
      }
      if (!driver_.offers_injection() && percent(injection_percent)) offer_injection();
      const bool access = driver_.offers_access(), operation = driver_.offers_operation();
      const Outputs& outputs = driver_.cycle();
      if (outputs.end) {
        demand_.operations.at(ended++).operation = outputs.end->played;
        --under_way;
      }
      if (access && !driver_.offers_access()) {
        demand_.accesses.back().part = outputs.late;
        access_free = now + 1;
      }
      if (operation && !driver_.offers_operation()) operation_free = now + 1;
      if (accesses + operations + under_way == 0 && !driver_.offers_access()) break;
    }
    while (driver_.offers_injection() && !driver_.apart()) (void)driver_.cycle();
    rest();
  }

  // Power goes for some accesses and operations, and comes back.
  void lose_power() {
    const bool off = percent(50);
    set_power(off ? Power::kOff : Power::kRetention);
    compete(below(6), below(4), false);
    if (off && percent(50)) set_power(Power::kRetention);
    set_power(Power::kOn);
    if (percent(50)) {
      driver_.clear_lost(true);
      (void)driver_.cycle();
      driver_.clear_lost(false);
    }
    write_table();
  }
  void set_power(Power power) {
    rest();
    driver_.set_power(power);
    rest();
  }
  // What is under way comes to its end.
  void rest() {
    for (int i = 0; i < 4; ++i) (void)driver_.cycle();
  }

  std::mt19937_64 random_;
  const PersistentSram::Sizes& sizes_;
  Trial& trial_;
  PersistentSramDriver driver_;
  Kind kind_ = Kind::kPlain;
  uint32_t entries_ = 0;        // that operations name
  std::vector<uint32_t> rows_;  // that accesses name
  uint64_t accesses_ = 0, operations_ = 0, injections_ = 0;
  uint64_t competes_at_ = 0;
  PersistentSramDemand demand_;  // of those that compete
};

class PersistentSramTrials final : public Trials {
 public:
  explicit PersistentSramTrials(std::unique_ptr<PersistentSram> block) : block_(std::move(block)) {}

  [[nodiscard]] Trial run(uint64_t seed, bool held_back) override {
    Trial trial;
    PersistentSramRun run(*block_, seed, trial);
    try {
      run.run(held_back);
    } catch (const rtl::AssertionFailed& failed) {
      trial.note(failed.what());
    }
    run.describe();
    return trial;
  }

 private:
  std::unique_ptr<PersistentSram> block_;
};

}  // namespace

std::unique_ptr<Trials> make_persistent_sram_trials(std::unique_ptr<PersistentSram> block) {
  return std::make_unique<PersistentSramTrials>(std::move(block));
}

}  // namespace npu::cosim
