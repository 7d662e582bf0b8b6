// SPDX-License-Identifier: Apache-2.0
// Lanes that share the memories on the chip.
#include "hw/timing/crossbar.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace npu::timing::testing {
namespace {

contract::Capabilities machine() {
  contract::Capabilities caps;
  caps.spm_banks = 4;
  caps.spm_bank_bytes = 16;
  caps.psram_port_bytes = 16;
  return caps;
}

// Asks for one request after the other on one port.
class Stream final : public Crossbar::Lane, public SteppedSchedule<Stream> {
 public:
  Stream(Crossbar& crossbar, std::vector<MemoryRequest> requests) : Lane(crossbar, 1), requests_(std::move(requests)) {}

  // What memories() says, and who is told of the end.
  OnChipSet declared = kBothMemories;
  std::function<void()> told = [] {};

  [[nodiscard]] Ports asking() const override { return 1; }
  void step(Ports granted) override { at_ += granted; }
  [[nodiscard]] bool done() const override { return at_ == requests_.size(); }
  [[nodiscard]] MemoryRequest next(uint32_t) override { return requests_.at(at_); }
  [[nodiscard]] OnChipSet memories() const override { return declared; }
  void ended(uint64_t end) override {
    end_ = end;
    told();
  }
  [[nodiscard]] uint64_t cycles_left() const override { return requests_.size() - at_; }
  [[nodiscard]] uint64_t end() const { return end_; }

 private:
  std::vector<MemoryRequest> requests_;
  size_t at_ = 0;
  uint64_t end_ = 0;
};

MemoryRequest scratchpad(uint64_t address, uint64_t bytes) { return {OnChip::kScratchpad, false, address, bytes}; }
MemoryRequest persistent(bool write, uint64_t address, uint64_t bytes) {
  return {OnChip::kPersistent, write, address, bytes};
}

// Ends of streams that begin together.
std::vector<uint64_t> ends(const std::vector<std::vector<MemoryRequest>>& requests,
                           const contract::Capabilities& caps = machine()) {
  Crossbar crossbar(caps);
  std::vector<std::unique_ptr<Stream>> streams;
  for (const auto& each : requests) streams.push_back(std::make_unique<Stream>(crossbar, each));
  crossbar.begin_job();
  for (const auto& stream : streams) crossbar.start(*stream, *stream, 0);
  for (uint64_t now = 0; crossbar.next_end() != Crossbar::kNever;) {
    EXPECT_GT(crossbar.next_end(), now);
    now = crossbar.next_end();
    crossbar.play(now);
    crossbar.tell(now);
  }
  std::vector<uint64_t> ends;
  for (const auto& stream : streams) {
    EXPECT_FALSE(stream->running());
    ends.push_back(stream->end());
  }
  return ends;
}

using Ends = std::vector<uint64_t>;

TEST(Crossbar, OneRequestACycleThatFindsItsBanksFree) {
  EXPECT_EQ(ends({{scratchpad(0, 16), scratchpad(0, 16), scratchpad(8, 4)}}), Ends{3});
  EXPECT_EQ(ends({{scratchpad(0, 64)}}), Ends{1});
  EXPECT_EQ(ends({{scratchpad(8, 64)}}), Ends{2});  // five words of four banks
  EXPECT_EQ(ends({{scratchpad(0, 160)}}), Ends{3});
  EXPECT_EQ(ends({{scratchpad(3, 0), scratchpad(0, 16)}}), Ends{2});  // none: granted at once
}

TEST(Crossbar, WhoSharesABankTakesTurns) {
  const std::vector<MemoryRequest> four(4, scratchpad(0, 16));
  EXPECT_EQ(ends({four, four}), (Ends{7, 8}));
  EXPECT_EQ(ends({four, four, four}), (Ends{10, 11, 12}));
  EXPECT_EQ(ends({four, std::vector<MemoryRequest>(4, scratchpad(16, 16))}), (Ends{4, 4}));
  // A wide request needs the last of its banks: the other one's turns are in between.
  EXPECT_EQ(ends({four, {scratchpad(0, 64)}}), (Ends{5, 2}));
}

// More banks than a word has bits: who waits goes on waiting for the same ones.
TEST(Crossbar, OneOfManyBanksTakesTurns) {
  contract::Capabilities caps = machine();
  caps.spm_banks = 128;
  const MemoryRequest late = scratchpad(100 * 16, 16);
  EXPECT_EQ(ends({{late, late}, {late, late}}, caps), (Ends{3, 4}));
  EXPECT_EQ(ends({{late, late}, {late, late}, {late}}, caps), (Ends{4, 5, 3}));
}

TEST(Crossbar, ThePersistentSramHasOnePort) {
  const std::vector<MemoryRequest> reads(4, persistent(false, 0x40, 16));
  EXPECT_EQ(ends({reads}), Ends{4});
  EXPECT_EQ(ends({reads, reads}), (Ends{7, 8}));
  EXPECT_EQ(ends({{persistent(false, 8, 32)}}), Ends{3});  // three rows
}

// What is written in part of a code takes the cycle behind it, too, if somebody else asks.
TEST(Crossbar, WordsWrittenInPartHoldThePortUp) {
  const auto twice = [](const MemoryRequest& request) { return ends({{request, persistent(false, 0, 16)}})[0]; };
  EXPECT_EQ(twice(persistent(true, 0x40, 16)), 2u);
  EXPECT_EQ(twice(persistent(true, 0x48, 8)), 2u);
  EXPECT_EQ(twice(persistent(true, 0x44, 8)), 3u);
  EXPECT_EQ(twice(persistent(true, 0x40, 4)), 3u);
  EXPECT_EQ(twice(persistent(false, 0x40, 4)), 2u);
  EXPECT_EQ(twice(persistent(true, 0x44, 0x1c)), 4u);  // the first row's beginning
  EXPECT_EQ(ends({{persistent(true, 0x40, 4)}}), Ends{1});
}

// A cycle without requests is enough for it.
TEST(Crossbar, WhatIsLeftToWriteHoldsUpTheNextCycleOnly) {
  for (const uint64_t pause : {0, 1, 5}) {
    Crossbar crossbar(machine());
    Stream write(crossbar, {persistent(true, 0x44, 4)}), read(crossbar, {persistent(false, 0, 16)});
    crossbar.start(write, write, 0);
    crossbar.play(1 + pause);
    crossbar.tell(1);
    EXPECT_EQ(write.end(), 1u);
    crossbar.start(read, read, 0);
    crossbar.play(20);
    crossbar.tell(20);
    EXPECT_EQ(read.end(), 1 + pause + (pause == 0 ? 2 : 1));
  }
}

TEST(Crossbar, LanesThatStop) {
  Crossbar crossbar(machine());
  Stream one(crossbar, std::vector<MemoryRequest>(4, scratchpad(0, 16)));
  Stream other(crossbar, std::vector<MemoryRequest>(4, scratchpad(0, 16)));
  crossbar.start(one, one, 0);
  crossbar.start(other, other, 0);
  crossbar.play(2);
  EXPECT_EQ(one.waited() + other.waited(), 2u);
  crossbar.stop(other);
  EXPECT_FALSE(other.running());
  crossbar.play(5);
  crossbar.tell(4);
  EXPECT_TRUE(one.running());
  crossbar.tell(5);
  EXPECT_EQ(one.end(), 5u);
  EXPECT_EQ(other.end(), 0u);
  EXPECT_EQ(crossbar.next_end(), Crossbar::kNever);
}

// What happened: lanes in the order in which they were told, with their ends and the cycles that they waited.
struct Told {
  size_t lane;
  uint64_t end, waited;
  friend bool operator==(const Told&, const Told&) = default;
};

// Lanes of one memory each that start at random; with `apart`, they say which memory it is. One says nothing.
std::vector<Told> random_lanes(uint32_t seed, bool apart) {
  std::mt19937 random(seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  Crossbar crossbar(machine());
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<uint64_t> starts;
  std::vector<Told> all;
  const size_t silent = below(8);
  for (size_t i = 0; i < 6; ++i) {
    const OnChip memory = below(2) == 0 ? OnChip::kScratchpad : OnChip::kPersistent;
    std::vector<MemoryRequest> requests(1 + below(12));
    for (MemoryRequest& request : requests) {
      request = {memory, below(2) == 0, 4 * below(64), below(4) == 0 ? 0 : 4 * (1 + below(16))};
    }
    streams.push_back(std::make_unique<Stream>(crossbar, std::move(requests)));
    Stream& stream = *streams.back();
    if (apart && i != silent) stream.declared = set_of(memory);
    stream.told = [&all, &stream, i] { all.push_back({i, stream.end(), stream.waited()}); };
    starts.push_back(below(30));
  }
  crossbar.begin_job();
  for (uint64_t now = 0; all.size() < streams.size(); now += 1 + below(5)) {
    crossbar.play(now);
    crossbar.tell(now);
    for (size_t i = 0; i < streams.size(); ++i) {
      if (starts[i] > now) continue;
      crossbar.start(*streams[i], *streams[i], now + below(8));
      starts[i] = Crossbar::kNever;
    }
  }
  return all;
}

TEST(Crossbar, LanesThatSayTheirMemoryAreServedAsThoseThatDoNot) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    ASSERT_EQ(random_lanes(seed, true), random_lanes(seed, false)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace npu::timing::testing
