// Random trials of the blocks that move and keep bytes: what the RTL does is what the program says, to the cycle.
#include "sim/cosim/memory_trials.h"

#include <gtest/gtest.h>

#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cosim/dma_trials.h"
#include "tests/block/stream.h"

namespace npu::cosim::test {
namespace {

constexpr uint64_t kTrials = 300;

class MemoryTrials : public testing::TestWithParam<const char*> {
 protected:
  // Every trial passes, in both ways.
  static void expect_passes(Trials& trials) {
    const uint64_t first = rtl::test::seed(1);
    for (const bool held_back : {false, true}) {
      uint64_t compared = 0, cycles = 0;
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
      }
      std::printf("%llu trials%s: seeds from %llu, %llu bytes and beats compared, %llu cycles\n",
                  static_cast<unsigned long long>(kTrials), held_back ? ", held back" : "",
                  static_cast<unsigned long long>(first), static_cast<unsigned long long>(compared),
                  static_cast<unsigned long long>(cycles));
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
    EXPECT_EQ(once.handed_over_cycles, again.handed_over_cycles);
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
  void start(const contract::DmaCommand& command, uint64_t src_base, uint64_t dst_base) override {
    right_->start(command, src_base, dst_base);
  }
  [[nodiscard]] bool idle() override { return right_->idle(); }
  [[nodiscard]] bool source(Beat& beat) override { return right_->source(beat); }
  [[nodiscard]] bool destination(Beat& beat) override { return right_->destination(beat); }
  void set_ready(bool source, bool destination) override { right_->set_ready(source, destination); }
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
      EXPECT_NE(std::string(error.what()).find("nano and edge"), std::string::npos) << error.what();
    }
  };
  expect_bad_preset([](const auto& caps) { return make_dma_trials(caps); });
  expect_bad_preset([](const auto& caps) { return make_scratchpad_trials(caps); });
  expect_bad_preset([](const auto& caps) { return make_persistent_sram_trials(caps); });
}

}  // namespace
}  // namespace npu::cosim::test
