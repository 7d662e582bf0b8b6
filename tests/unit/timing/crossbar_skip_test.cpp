// SPDX-License-Identifier: Apache-2.0
// Cycles that the crossbar plays at once, because schedules say that they are steady, against the same cycle by cycle;
// and requests that it knows from the beginning against the same asked for one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "hw/timing/crossbar.h"

namespace npu::timing {
namespace {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  uint64_t between(uint64_t low, uint64_t high) { return low + random_() % (high - low + 1); }
  bool chance(uint32_t percent) { return random_() % 100 < percent; }

 private:
  std::mt19937_64 random_;
};

constexpr uint32_t kPorts = 3;

// Each way knows less than the one before.
enum class Way : uint8_t { kAtOnce, kSingly, kAsked };

// So many cycles that ask on the same ports; the next one begins when all of them were granted.
struct Phase {
  Ports ports;
  uint64_t cycles;
};

class Phases final : public SteppedSchedule<Phases> {
 public:
  Phases(std::vector<Phase> phases, Way way) : phases_(std::move(phases)), tells_(way == Way::kAtOnce) { next(); }

  [[nodiscard]] Ports asking() const override { return asking_; }
  void step(Ports granted) override {
    asking_ &= ~granted;
    if (asking_ != 0) return;
    --left_;
    next();
  }
  [[nodiscard]] bool done() const override { return left_ == 0; }
  [[nodiscard]] uint64_t steady() const override { return tells_ && asking_ == phases_[at_ - 1].ports ? left_ - 1 : 0; }
  void skip(uint64_t cycles) override { left_ -= cycles; }

 private:
  void next() {
    if (left_ == 0 && at_ < phases_.size()) left_ = phases_[at_++].cycles;
    if (left_ > 0) asking_ = phases_[at_ - 1].ports;
  }
  std::vector<Phase> phases_;
  bool tells_;
  size_t at_ = 0;
  uint64_t left_ = 0;
  Ports asking_ = 0;
};

class Ended : public Crossbar::Lane {
 public:
  using Lane::Lane;
  OnChipSet declared = kBothMemories;
  [[nodiscard]] OnChipSet memories() const override { return declared; }
  void ended(uint64_t end) override { end_ = end; }
  [[nodiscard]] uint64_t cycles_left() const override { return 1; }
  [[nodiscard]] uint64_t end() const { return end_; }

 private:
  uint64_t end_ = 0;
};

using Walks = std::array<RequestWalk, kMostPorts>;

class WalkerLane final : public Ended {
 public:
  WalkerLane(Crossbar& crossbar, Walks& walks, Way way)
      : Ended(crossbar, kPorts, way == Way::kAsked ? nullptr : walks.data()), walks_(walks) {}
  [[nodiscard]] MemoryRequest next(uint32_t port) override { return walks_.at(port).next(); }

 private:
  Walks& walks_;
};

// An engine: its requests are known from the beginning.
struct Walker {
  Walker(Crossbar& crossbar, Draw& draw, Way way) : lane(crossbar, walks, way) {
    std::vector<Phase> phases;
    for (uint64_t i = draw.between(1, 6); i > 0; --i) {
      phases.push_back({static_cast<Ports>(draw.between(0, 7)), draw.between(1, 40)});
    }
    schedule = std::make_unique<Phases>(std::move(phases), way);
    const uint64_t widest = draw.chance(20) ? 600 : 60;
    const uint32_t persistent = draw.chance(20) ? 60 : 10;
    OnChipSet used = 0;
    for (RequestWalk& walk : walks) {
      walk.clear();
      const uint64_t ranges = draw.between(0, 3);
      for (uint64_t i = 0; i < ranges; ++i) {
        const uint64_t requests = draw.between(1, 60), bytes = draw.between(0, requests * widest);
        const uint64_t least = (bytes + requests - 1) / requests;
        const auto memory = draw.chance(persistent) ? OnChip::kPersistent : OnChip::kScratchpad;
        used |= set_of(memory);
        const uint64_t extent = draw.chance(50) ? bytes : least + draw.between(0, 2 * bytes);
        walk.add({memory, draw.chance(50), draw.between(0, 4096), extent, bytes, requests});
      }
      if (ranges > 1 && draw.chance(40)) walk.take_turns({0, 1, 0});
    }
    if (draw.chance(50)) lane.declared = used;
  }
  Walks walks;
  std::unique_ptr<Phases> schedule;
  WalkerLane lane;
};

// A side of a DMA channel: beats of the same size, behind each other.
class Beats final : public Ended, public SteppedSchedule<Beats> {
 public:
  static std::unique_ptr<Beats> make(Crossbar& crossbar, Draw& draw, Way way) {
    if (way == Way::kAsked) return std::make_unique<Beats>(draw, way, crossbar, 1u);
    return std::make_unique<Beats>(draw, way, crossbar, GoesStraightOn{});
  }
  template <class Kind>
  Beats(Draw& draw, Way way, Crossbar& crossbar, Kind kind)
      : Ended(crossbar, kind),
        tells_(way == Way::kAtOnce),
        write_(draw.chance(60)),
        memory_(draw.chance(60) ? OnChip::kScratchpad : OnChip::kPersistent),
        bytes_(uint64_t{1} << draw.between(0, 6)) {
    if (draw.chance(50)) declared = set_of(memory_);
    const uint64_t aligned = draw.chance(60) ? bytes_ : 1;
    for (uint64_t i = draw.between(1, 4); i > 0; --i) {
      pieces_.push_back({draw.between(0, 4096 / aligned) * aligned, draw.between(1, 50)});
    }
  }
  [[nodiscard]] Ports asking() const override { return 1; }
  void step(Ports granted) override {
    if (granted != 0) skip(1);
  }
  [[nodiscard]] bool done() const override { return at_ == pieces_.size(); }
  [[nodiscard]] uint64_t steady() const override { return tells_ ? pieces_[at_].beats - 1 : 0; }
  void skip(uint64_t cycles) override {
    pieces_[at_].address += cycles * bytes_;
    if ((pieces_[at_].beats -= cycles) == 0) ++at_;
  }
  [[nodiscard]] MemoryRequest next(uint32_t) override { return {memory_, write_, pieces_[at_].address, bytes_}; }

 private:
  struct Piece {
    uint64_t address, beats;
  };
  bool tells_, write_;
  OnChip memory_;
  uint64_t bytes_;
  std::vector<Piece> pieces_;
  size_t at_ = 0;
};

struct Outcome {
  std::vector<uint64_t> ends, waited, moved;
  bool operator==(const Outcome&) const = default;
};

// Lanes that start one after the other, played in stretches.
Outcome play(uint64_t seed, Way way) {
  Draw draw(seed);
  contract::Capabilities caps;
  caps.spm_banks = 1u << draw.between(1, 7);
  caps.spm_bank_bytes = 1u << draw.between(2, 6);
  caps.psram_port_bytes = 16;
  Crossbar crossbar(caps);
  std::vector<std::unique_ptr<Walker>> walkers;
  std::vector<std::unique_ptr<Beats>> beats;
  for (uint64_t i = draw.between(0, 2); i > 0; --i) walkers.push_back(std::make_unique<Walker>(crossbar, draw, way));
  for (uint64_t i = draw.between(walkers.empty() ? 1 : 0, 3); i > 0; --i) {
    beats.push_back(Beats::make(crossbar, draw, way));
  }
  crossbar.begin_job();
  uint64_t now = 0;
  const auto pass = [&](uint64_t cycles) {
    crossbar.play(now += cycles);
    crossbar.tell(now);
  };
  for (const auto& walker : walkers) {
    crossbar.start(walker->lane, *walker->schedule, 0);
    pass(draw.between(0, 20));
  }
  for (const auto& side : beats) {
    crossbar.start(*side, *side, 0);
    pass(draw.between(0, 20));
  }
  while (crossbar.next_end() != Crossbar::kNever) pass(draw.between(1, draw.chance(50) ? 10 : 200));

  Outcome outcome;
  for (const auto& walker : walkers) {
    outcome.ends.push_back(walker->lane.end());
    outcome.waited.push_back(walker->lane.waited());
    for (const RequestWalk& walk : walker->walks) {
      for (const RequestWalk::Part& part : walk.parts()) outcome.moved.push_back(part.moved());
    }
  }
  for (const auto& side : beats) {
    outcome.ends.push_back(side->end());
    outcome.waited.push_back(side->waited());
  }
  return outcome;
}

TEST(CrossbarSkip, ManyCyclesAtOnceAreTheSameOneByOne) {
  uint64_t waited = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    const Outcome once = play(seed, Way::kAtOnce);
    for (const Way way : {Way::kSingly, Way::kAsked}) {
      const Outcome other = play(seed, way);
      ASSERT_EQ(once.ends, other.ends) << "seed " << seed;
      ASSERT_EQ(once.waited, other.waited) << "seed " << seed;
      ASSERT_EQ(once.moved, other.moved) << "seed " << seed;
    }
    for (const uint64_t cycles : once.waited) waited += cycles > 0 ? 1 : 0;
  }
  EXPECT_GT(waited, 1000u);  // lanes: the memories were contended
}

}  // namespace
}  // namespace npu::timing
