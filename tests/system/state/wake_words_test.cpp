// SPDX-License-Identifier: Apache-2.0
// The four wake words listen at once, each in a context of its own: whatever happens between two frames of one of them,
// its outputs are those of an undisturbed run.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "driver/runtime/snapshot.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/seed.h"

namespace npu::test {
namespace {

struct Listener {
  Network network;
  std::vector<std::vector<graph::Value>> undisturbed;
  runtime::Context context;
  runtime::Job job;
  size_t next = 0;  // frame

  [[nodiscard]] bool done() const { return next == network.frames.size(); }
};

class WakeWords : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& name : kWakeWords) {
      std::optional<Network> network = wake_word(name);
      if (!network) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
      networks_.push_back(*std::move(network));
    }
  }

  // Contexts of mixed priorities; all frames are still to come.
  void open() {
    for (Network& network : networks_) {
      runtime::ContextOptions options;
      options.priority = static_cast<uint32_t>(random_() % 3);
      runtime::Context context = device_.create_context(options);
      const auto program = context.load(compiler::compile(network.graph, device_.capabilities()));
      listeners_.push_back({network, reference(network), context, program.create_job()});
    }
  }

  // Some listeners, each at most once, hear their next frame; their jobs are in flight together.
  void hear(const std::function<bool(const Listener&)>& wants) {
    std::vector<Listener*> in_flight;
    for (Listener& listener : listeners_) {
      if (!wants(listener) || random_() % 2 == 0) continue;
      listener.job.set_input(0, listener.network.frames.at(listener.next).at(0));
      listener.job.start();
      in_flight.push_back(&listener);
    }
    for (Listener* listener : in_flight) {
      while (!listener->job.wait(std::chrono::seconds(1))) {
      }
      const auto difference =
          graph::compare(listener->job.outputs().at(0), listener->undisturbed.at(listener->next).at(0));
      EXPECT_EQ(difference.differing, 0) << listener->network.name << ", frame " << listener->next;
      compared_ += difference.compared;
      differing_ += difference.differing;
      ++listener->next;
    }
    most_in_flight_ = std::max(most_in_flight_, in_flight.size());
  }
  void hear_until(const std::function<bool(const Listener&)>& wants, const std::function<void()>& between) {
    while (std::any_of(listeners_.begin(), listeners_.end(), wants) && !HasFailure()) {
      hear(wants);
      between();
    }
  }
  void report(const std::string& what) const {
    EXPECT_GT(compared_, 0);
    EXPECT_EQ(most_in_flight_, networks_.size());
    std::cout << what << ": " << differing_ << " of " << compared_ << " outputs differ\n";
  }

  uint32_t seed_ = print_seed(0);
  std::mt19937 random_{seed_};
  std::vector<Network> networks_;
  runtime::Device device_ = open_device(options("edge"));
  std::vector<Listener> listeners_;
  int64_t compared_ = 0, differing_ = 0;
  size_t most_in_flight_ = 0;
};

TEST_F(WakeWords, InterleavedAtRandomWithRetentionBetweenFrames) {
  open();
  int64_t retentions = 0;
  hear_until([](const Listener& listener) { return !listener.done(); },
             [&] {
               if (random_() % 3 != 0) return;
               device_.set_power(contract::PowerState::kSleep);
               device_.set_persistent_power(contract::PsramPower::kRetention);
               ++retentions;
             });
  EXPECT_GT(retentions, 0);
  report("four wake words interleaved, " + std::to_string(retentions) + " times in retention");
}

// After its frame 20, each is saved to a file's bytes; all contexts go, the device starts from its first state.
TEST_F(WakeWords, GoOnFromSnapshotsAfterFrame20) {
  open();
  hear_until([](const Listener& listener) { return listener.next < 20; }, [] {});
  std::vector<std::vector<uint8_t>> files;
  for (const Listener& listener : listeners_) {
    files.push_back(runtime::serialise(listener.context.snapshot(listener.network.name)));
  }
  listeners_.clear();
  device_.cold_reset();
  open();
  for (size_t i = 0; i < files.size(); ++i) {
    listeners_[i].context.restore(runtime::parse_snapshot(files[i]));
    listeners_[i].next = 20;
  }
  hear_until([](const Listener& listener) { return !listener.done(); }, [] {});
  report("four wake words, resumed");
}

}  // namespace
}  // namespace npu::test
