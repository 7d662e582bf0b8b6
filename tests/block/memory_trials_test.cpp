// SPDX-License-Identifier: Apache-2.0
// Random trials of the blocks that move and keep bytes: what the RTL does is what the program says, to the cycle.
#include "sim/cosim/memory_trials.h"

#include <gtest/gtest.h>

#include <thread>

#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cosim/dma_trials.h"
#include "sim/cosim/persistent_sram_trials.h"
#include "sim/cosim/scratchpad_trials.h"
#include "tests/block/other_persistent_sram.h"
#include "tests/block/stream.h"

namespace npu::cosim::test {
namespace {

using rtl::test::OtherPersistentSram;

constexpr uint64_t kTrials = 300, kTrialsOfWrong = 40;

class MemoryTrials : public testing::TestWithParam<const char*> {
 protected:
  // Every trial passes, in both ways; some of those that are held back are the device's as well.
  static void expect_passes(Trials& trials) {
    const uint64_t first = rtl::test::seed(1);
    for (const bool held_back : {false, true}) {
      uint64_t compared = 0, cycles = 0, on_device = 0;
      for (uint64_t seed = first; seed < first + kTrials; ++seed) {
        const Trial trial = trials.run(seed, held_back);
        const std::string what = trial.text + ", seed " + std::to_string(seed) + (held_back ? ", held back" : "");
        ASSERT_EQ(trial.difference, "") << what;
        ASSERT_EQ(trial.port_difference, "") << what;
        ASSERT_EQ(trial.rtl_cycles, trial.expected_cycles) << what;
        ASSERT_EQ(trial.differing, 0u) << what;
        ASSERT_GT(trial.compared, 0u) << what;
        ASSERT_NE(trial.kind, "") << what;
        compared += trial.compared;
        cycles += trial.rtl_cycles;
        ASSERT_EQ(trial.device_cycles.value_or(trial.rtl_cycles), trial.rtl_cycles) << what;
        on_device += trial.device_cycles ? 1 : 0;
      }
      std::printf("%llu trials%s: seeds from %llu, %llu bytes and beats compared, %llu cycles\n",
                  static_cast<unsigned long long>(kTrials), held_back ? ", held back" : "",
                  static_cast<unsigned long long>(first), static_cast<unsigned long long>(compared),
                  static_cast<unsigned long long>(cycles));
      std::printf("  of %llu, the device's cycles as well\n", static_cast<unsigned long long>(on_device));
      EXPECT_EQ(on_device > 0, held_back);
    }
  }
  // A trial is a function of its seed, whatever ran before it.
  static void expect_repeats(Trials& trials) {
    const Trial once = trials.run(7, true);
    (void)trials.run(8, false);
    const Trial again = trials.run(7, true);
    EXPECT_EQ(once.text, again.text);
    EXPECT_EQ(once.compared, again.compared);
    EXPECT_EQ(once.rtl_cycles, again.rtl_cycles);
    EXPECT_EQ(once.device_cycles, again.device_cycles);
  }

  // How many of the trials of a wrong block do not pass, and are as `found` has it.
  template <class Found>
  static uint64_t failing(Trials& trials, Found found) {
    uint64_t failing = 0;
    for (const bool held_back : {false, true}) {
      for (uint64_t seed = 1; seed <= kTrialsOfWrong; ++seed) {
        const Trial trial = trials.run(seed, held_back);
        if (!trial.passed() && found(trial)) ++failing;
      }
    }
    return failing;
  }

  const contract::Capabilities caps_ = presets::load_preset(GetParam()).caps;
};

TEST_P(MemoryTrials, Dma) {
  const auto trials = make_dma_trials(caps_);
  expect_passes(*trials);
  expect_repeats(*trials);
}

TEST_P(MemoryTrials, Scratchpad) {
  const auto trials = make_scratchpad_trials(caps_);
  expect_passes(*trials);
  expect_repeats(*trials);
}

TEST_P(MemoryTrials, PersistentSram) {
  const auto trials = make_persistent_sram_trials(caps_);
  expect_passes(*trials);
  expect_repeats(*trials);
}

// Blocks that are wrong in one thing.
class WrongDma : public rtl::DmaAddress {
 public:
  explicit WrongDma(std::unique_ptr<DmaAddress> right) : right_(std::move(right)) {}
  [[nodiscard]] uint32_t port_bytes() const override { return right_->port_bytes(); }
  void reset() override { right_->reset(); }
  void start(const contract::DmaCommand& command, uint64_t src_base, uint64_t dst_base, uint64_t index_base) override {
    right_->start(command, src_base, dst_base, index_base);
  }
  [[nodiscard]] bool idle() override { return right_->idle(); }
  [[nodiscard]] bool source(Beat& beat) override { return right_->source(beat); }
  [[nodiscard]] bool destination(Beat& beat) override { return right_->destination(beat); }
  void set_ready(bool source, bool destination) override { right_->set_ready(source, destination); }
  [[nodiscard]] bool indices(Beat& beat) override { return right_->indices(beat); }
  void answer(std::span<const uint8_t> data) override { right_->answer(data); }
  [[nodiscard]] bool wrong(DmaAddress::Wrong& wrong) override { return right_->wrong(wrong); }
  void tick() override { right_->tick(); }

 protected:
  std::unique_ptr<DmaAddress> right_;
};

TEST_P(MemoryTrials, AWrongAddressIsFound) {
  struct Wrong final : WrongDma {
    using WrongDma::WrongDma;
    bool destination(Beat& beat) override {
      const bool valid = WrongDma::destination(beat);
      if (beat.last) beat.address ^= 1;
      return valid;
    }
  };
  const auto trials = make_dma_trials(caps_, std::make_unique<Wrong>(rtl::make_dma_address(GetParam())));
  const Trial trial = trials->run(1, false);
  EXPECT_FALSE(trial.passed());
  EXPECT_EQ(trial.differing, 1u);
  EXPECT_NE(trial.difference.find("destination beat"), std::string::npos) << trial.difference;
}

TEST_P(MemoryTrials, ALateBeatIsFound) {
  struct Wrong final : WrongDma {
    using WrongDma::WrongDma;
    void tick() override {
      if (++ticks_ > 4 && ticks_ < 6) set_ready(false, false);
      WrongDma::tick();
    }
    int ticks_ = 0;
  };
  const auto trials = make_dma_trials(caps_, std::make_unique<Wrong>(rtl::make_dma_address(GetParam())));
  EXPECT_FALSE(trials->run(1, false).passed());
}

class WrongScratchpad : public rtl::Scratchpad {
 public:
  explicit WrongScratchpad(std::unique_ptr<Scratchpad> right) : right_(std::move(right)) {}
  [[nodiscard]] const Sizes& sizes() const override { return right_->sizes(); }
  void reset() override { right_->reset(); }
  void read(uint32_t requester, uint32_t word) override { right_->read(requester, word); }
  void write(uint32_t requester, uint32_t word, uint32_t strobe, std::span<const uint8_t> data) override {
    right_->write(requester, word, strobe, data);
  }
  void withdraw(uint32_t requester) override { right_->withdraw(requester); }
  [[nodiscard]] bool granted(uint32_t requester) override { return right_->granted(requester); }
  [[nodiscard]] std::span<const uint8_t> answer(uint32_t requester) const override { return right_->answer(requester); }
  void tick() override { right_->tick(); }

 protected:
  std::unique_ptr<Scratchpad> right_;
};

TEST_P(MemoryTrials, ALostByteIsFound) {
  struct Wrong final : WrongScratchpad {
    using WrongScratchpad::WrongScratchpad;
    void write(uint32_t requester, uint32_t word, uint32_t strobe, std::span<const uint8_t> data) override {
      WrongScratchpad::write(requester, word, word % 16 == 7 ? strobe & ~1u : strobe, data);
    }
  };
  const auto trials = make_scratchpad_trials(std::make_unique<Wrong>(rtl::make_scratchpad(GetParam())));
  const uint64_t found = failing(*trials, [](const Trial& trial) {
    EXPECT_EQ(trial.port_difference, "");
    return !trial.difference.empty();
  });
  EXPECT_GT(found, 5u);
}

// Requesters 0 and 1 are taken for each other: the arbitration is fair, but not the one that is stated.
TEST_P(MemoryTrials, AnotherArbitrationIsFound) {
  struct Wrong final : WrongScratchpad {
    using WrongScratchpad::WrongScratchpad;
    static uint32_t other(uint32_t requester) { return requester < 2 ? 1 - requester : requester; }
    void read(uint32_t requester, uint32_t word) override { WrongScratchpad::read(other(requester), word); }
    void write(uint32_t requester, uint32_t word, uint32_t strobe, std::span<const uint8_t> data) override {
      WrongScratchpad::write(other(requester), word, strobe, data);
    }
    void withdraw(uint32_t requester) override { WrongScratchpad::withdraw(other(requester)); }
    bool granted(uint32_t requester) override { return WrongScratchpad::granted(other(requester)); }
    std::span<const uint8_t> answer(uint32_t requester) const override {
      return WrongScratchpad::answer(other(requester));
    }
  };
  const auto trials = make_scratchpad_trials(std::make_unique<Wrong>(rtl::make_scratchpad(GetParam())));
  const uint64_t found = failing(*trials, [](const Trial& trial) {
    EXPECT_EQ(trial.difference, "");
    return !trial.port_difference.empty();
  });
  EXPECT_GT(found, 5u);
}

// One write of many: found by who reads the word later, or at the end.
TEST_P(MemoryTrials, AWriteThatIsLostIsFoundIfItsWordIsNotWrittenAgain) {
  struct Wrong final : WrongScratchpad {
    using WrongScratchpad::WrongScratchpad;
    void reset() override {
      WrongScratchpad::reset();
      writes_ = 0;
      lost_ = 0;
    }
    void write(uint32_t requester, uint32_t word, uint32_t strobe, std::span<const uint8_t> data) override {
      const bool lose = ++writes_ == 400;
      if (lose) {
        word_ = word;
        lost_ = strobe & ~0u >> (32 - sizes().bank_bytes);
      } else if (word == word_) {
        lost_ &= ~strobe;
      }
      WrongScratchpad::write(requester, word, lose ? 0 : strobe, data);
    }
    int writes_ = 0;
    uint32_t word_ = 0, lost_ = 0;  // bytes
  };
  auto block = std::make_unique<Wrong>(rtl::make_scratchpad(GetParam()));
  const Wrong& wrong = *block;
  const auto trials = make_scratchpad_trials(std::move(block));
  int lost = 0;
  for (uint64_t seed = 1; seed <= 2 * kTrialsOfWrong; ++seed) {
    const Trial trial = trials->run(seed, /*held_back=*/false);
    if (wrong.lost_ == 0) continue;
    ++lost;
    EXPECT_GT(trial.differing, 0u) << trial.text;
  }
  EXPECT_GT(lost, 2);
}

// An address line that is not looked at: within the words that are used, nothing is wrong.
TEST_P(MemoryTrials, WordsThatShareTheirBytesAreFound) {
  struct Wrong final : WrongScratchpad {
    using WrongScratchpad::WrongScratchpad;
    [[nodiscard]] uint32_t place(uint32_t word) const { return word & ~(sizes().bytes / sizes().bank_bytes / 2); }
    void read(uint32_t requester, uint32_t word) override { WrongScratchpad::read(requester, place(word)); }
    void write(uint32_t requester, uint32_t word, uint32_t strobe, std::span<const uint8_t> data) override {
      WrongScratchpad::write(requester, place(word), strobe, data);
    }
  };
  const auto trials = make_scratchpad_trials(std::make_unique<Wrong>(rtl::make_scratchpad(GetParam())));
  EXPECT_GT(failing(*trials, [](const Trial& trial) { return trial.differing > 0; }), 5u);
}

TEST_P(MemoryTrials, AWrongRuleOfTheTableIsFound) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    void operate(const Operation& operation) override {
      Operation other = operation;
      if (other.op == Op::kCheckRead) other.op = Op::kCheck;
      OtherPersistentSram::operate(other);
    }
  };
  const auto trials = make_persistent_sram_trials(std::make_unique<Wrong>(rtl::make_persistent_sram(GetParam())));
  const uint64_t found = failing(*trials, [](const Trial& trial) {
    EXPECT_EQ(trial.port_difference, "");
    return trial.difference.find("error of an operation") != std::string::npos;
  });
  EXPECT_GT(found, 2u);
}

TEST_P(MemoryTrials, AMarkThatIsMissingIsFound) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    void operate(const Operation& operation) override {
      Operation other = operation;
      if (other.op == Op::kWriteBegin) other.op = Op::kCheck;
      OtherPersistentSram::operate(other);
    }
  };
  const auto trials = make_persistent_sram_trials(std::make_unique<Wrong>(rtl::make_persistent_sram(GetParam())));
  EXPECT_GT(failing(*trials, [](const Trial& trial) { return !trial.port_difference.empty(); }), 2u);
}

TEST_P(MemoryTrials, AWrongPlaceIsFound) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    [[nodiscard]] Place operation_place() const override {
      const Place place = OtherPersistentSram::operation_place();
      return {false, place.base};
    }
  };
  const auto trials = make_persistent_sram_trials(std::make_unique<Wrong>(rtl::make_persistent_sram(GetParam())));
  const uint64_t found = failing(*trials, [](const Trial& trial) {
    EXPECT_EQ(trial.port_difference, "");
    return trial.difference.find("memory of a variable") != std::string::npos;
  });
  EXPECT_GT(found, 2u);
}

// A write of part of a word that is done as one of the whole word takes a cycle less.
TEST_P(MemoryTrials, AnAccessThatIsTooFastIsFound) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    void access(const Access& access) override {
      Access other = access;
      if (other.write && (other.strobe & 0xff) != 0) other.strobe |= 0xff;
      OtherPersistentSram::access(other);
    }
  };
  const auto trials = make_persistent_sram_trials(std::make_unique<Wrong>(rtl::make_persistent_sram(GetParam())));
  EXPECT_GT(failing(*trials, [](const Trial& trial) { return !trial.port_difference.empty(); }), 5u);
}

TEST_P(MemoryTrials, AnAnswerThatIsLateIsFoundInTheCyclesToo) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    [[nodiscard]] bool answered() const override { return late_; }
    void tick() override {
      late_ = right_->answered();
      OtherPersistentSram::tick();
    }
    bool late_ = false;
  };
  const auto trials = make_persistent_sram_trials(std::make_unique<Wrong>(rtl::make_persistent_sram(GetParam())));
  const Trial trial = trials->run(1, /*held_back=*/true);
  EXPECT_FALSE(trial.passed());
  EXPECT_NE(trial.port_difference, "");
  EXPECT_EQ(trial.rtl_cycles, trial.expected_cycles + 1);
  // Numbers stay numbers when there is nothing to measure.
  EXPECT_LT(trials->run(1, /*held_back=*/false).rtl_cycles, 1'000'000u);
}

TEST_P(MemoryTrials, RowsThatShareTheirBytesAreFound) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    void access(const Access& access) override {
      Access other = access;
      // Not into the table, which lies at the beginning.
      const uint32_t line = sizes().bytes / 2;
      if (other.address >= line / 2 && other.address < sizes().bytes) other.address |= line;
      OtherPersistentSram::access(other);
    }
  };
  const auto trials = make_persistent_sram_trials(std::make_unique<Wrong>(rtl::make_persistent_sram(GetParam())));
  // Bits that flip do so in the right row.
  const uint64_t found = failing(
      *trials, [](const Trial& trial) { return trial.differing > 0 && trial.kind == "accesses and operations"; });
  EXPECT_GT(found, 5u);
}

// An assertion of the RTL ends the trial, not the process, whichever thread it is on.
TEST_P(MemoryTrials, AnAssertionThatFailsIsADifference) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    void access(const Access& access) override {
      Access other = access;
      if (++accesses_ % 100 == 0) other.address |= 1;
      OtherPersistentSram::access(other);
    }
    int accesses_ = 0;
  };
  const auto wrong = make_persistent_sram_trials(std::make_unique<Wrong>(rtl::make_persistent_sram(GetParam())));
  const auto right = make_persistent_sram_trials(caps_);
  int found = 0;
  std::thread([&] {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const Trial trial = wrong->run(seed, seed % 2 == 0);
      found += trial.difference.find("RowsAligned") != std::string::npos ? 1 : 0;
      EXPECT_EQ(trial.passed(), trial.differing == 0) << trial.difference;
      EXPECT_NE(trial.kind, "");
      EXPECT_TRUE(right->run(seed, seed % 2 == 0).passed());
    }
  }).join();
  EXPECT_GE(found, 5);
}

INSTANTIATE_TEST_SUITE_P(Presets, MemoryTrials, testing::Values("nano", "edge"));

// Machines whose RTL was not built.
TEST(MemoryTrialsOfOtherSizes, SayWhatIsMissing) {
  contract::Capabilities other = presets::load_preset("edge").caps;
  other.dma_port_bytes = 64;
  other.spm_banks = 8;
  other.var_entries = 64;
  const auto expect_bad_preset = [&](auto make) {
    try {
      (void)make(other);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), contract::ErrorCode::kBadPreset);
      EXPECT_NE(std::string(error.what()).find("there is RTL of nano, edge"), std::string::npos) << error.what();
    }
  };
  expect_bad_preset([](const auto& caps) { return make_dma_trials(caps); });
  expect_bad_preset([](const auto& caps) { return make_scratchpad_trials(caps); });
  expect_bad_preset([](const auto& caps) { return make_persistent_sram_trials(caps); });
}

}  // namespace
}  // namespace npu::cosim::test
