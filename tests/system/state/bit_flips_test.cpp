// SPDX-License-Identifier: Apache-2.0
// Wrong bits in the persistent SRAM while networks stream: data, check bits and table. A single one in a word never
// shows and is counted; two never go unnoticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <set>

#include "hw/contract/gen/registers.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/seed.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

using contract::ErrorCode;

constexpr uint32_t kWordBytes = 8, kWordBits = 72;

// Three streams in contexts of their own; together they fill most of the smallest machine's memory.
class BitFlips : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::vector<graph::Graph> graphs = {gru_step({12, 40}, Precision::kInt16x8, 1),
                                              attention_step({32, 16, 2}, 2), attention_step({48, 32, 1}, 3)};
    for (const graph::Graph& graph : graphs) {
      streams_.push_back(std::make_unique<SideBySide>(device_));
      static_cast<void>(streams_.back()->load(graph));
      graphs_.push_back(graph);
    }
    words_ = device_.capabilities().psram_bytes / kWordBytes;
    look_up_places();
  }

  // One frame of one of the streams; what the device reports is thrown, and what the host then finds wrong when it
  // reads the variables.
  void run(size_t stream) { streams_[stream]->run(0, random_inputs(graphs_[stream], random_)); }
  void compare(size_t stream) { streams_[stream]->compare(0); }

  void flip(uint32_t word, uint32_t bit) {
    device_.write_register(contract::reg::kTestFlipAddress, word * kWordBytes);
    device_.write_register(contract::reg::kTestFlipBit, bit);
  }

  [[nodiscard]] bool in_table(uint32_t word) const {
    return word * kWordBytes < device_.capabilities().var_entries * contract::VariableEntry::kBytes;
  }
  // The variable that a word belongs to, by its bytes or by its table entry. Remembered, since to ask the driver is to
  // read the table.
  struct Owner {
    size_t stream = 0;
    runtime::VariableInfo info;
    std::string identity;  // empty: no owner
  };
  Owner owner_of(uint32_t word) const {
    const uint32_t byte = word * kWordBytes;
    for (const Owner& owner : places_) {
      const runtime::VariableInfo& info = owner.info;
      const bool entry = byte / contract::VariableEntry::kBytes == info.index;
      if (entry || (byte + kWordBytes > info.offset && byte < info.offset + info.bytes)) return owner;
    }
    return {};
  }
  void look_up_places() {
    places_.clear();
    for (size_t stream = 0; stream < streams_.size(); ++stream) {
      for (const runtime::VariableInfo& info : streams_[stream]->context().variables()) {
        ASSERT_FALSE(info.in_dram) << info.identity;
        places_.push_back({stream, info, info.identity});
      }
    }
  }
  // A frame of the stream cannot do without the word: the table, all of a GRU's state, and of a window that moves on
  // all rows but the one that leaves it.
  [[nodiscard]] bool must_read(size_t stream, uint32_t word) const {
    if (in_table(word)) return true;
    const Owner owner = owner_of(word);
    if (owner.identity.empty() || owner.stream != stream) return false;
    const auto row = static_cast<uint64_t>(owner.info.shape.back());
    return owner.identity == "h" || word * kWordBytes >= owner.info.offset + row;
  }
  [[nodiscard]] bool may_read(size_t stream, uint32_t word) const {
    const Owner owner = owner_of(word);
    return in_table(word) || (!owner.identity.empty() && owner.stream == stream);
  }

  // A frame after single flips of `pending` words: its job itself puts right what it must read, and nothing that it
  // must not. Returns how many it had to; those that are left stay in `pending`.
  int64_t run_with_flips(size_t stream, std::set<uint32_t>& pending) {
    const auto must =
        std::count_if(pending.begin(), pending.end(), [&](uint32_t word) { return must_read(stream, word); });
    const auto may =
        std::count_if(pending.begin(), pending.end(), [&](uint32_t word) { return may_read(stream, word); });
    const uint32_t before = device_.ecc_counts().corrected;
    run(stream);
    const uint32_t corrected = device_.ecc_counts().corrected - before;
    EXPECT_GE(corrected, must) << "the job read wrong bits in silence";
    EXPECT_LE(corrected, may) << "the job read what is not its own";
    compare(stream);
    std::erase_if(pending, [&](uint32_t word) { return may_read(stream, word); });
    return must;
  }

  // What the job said of a word with two wrong bits is about that word, in the right context.
  void expect_fault(const runtime::FaultError& error, uint32_t word, const Owner& owner) const {
    EXPECT_EQ(error.code(), ErrorCode::kFaultEcc) << error.what();
    const uint32_t entry = word * kWordBytes / contract::VariableEntry::kBytes;
    EXPECT_EQ(error.fault().other, in_table(word) ? entry : owner.info.index) << error.what();
    EXPECT_NE(std::string(error.what()).find(owner.identity), std::string::npos) << error.what();
  }

  // After a double flip: what a user does about variables. Words without an owner can only be flipped back.
  void mend(uint32_t word, const Owner& owner, uint32_t bit, uint32_t other) {
    if (owner.identity.empty() && !in_table(word)) {
      flip(word, bit);
      flip(word, other);
    }
    // A stream that the damage stopped is a step behind the reference.
    for (const auto& stream : streams_) stream->start_again();
    look_up_places();
  }

  uint32_t seed_ = print_seed(0);
  std::mt19937 random_{seed_};
  runtime::Device device_ = open_device(options(GetParam(), model::Mode::kFunctional));
  std::vector<std::unique_ptr<SideBySide>> streams_;
  std::vector<graph::Graph> graphs_;
  std::vector<Owner> places_;
  uint32_t words_ = 0;
};

TEST_P(BitFlips, SingleOnesAreCorrectedAndCounted) {
  constexpr int kFlips = 10'000, kFlipsBetweenScrubs = 100;
  int64_t at_accesses = 0, by_scrubs = 0, overwritten = 0, in_table = 0, by_must = 0;
  for (int flips = 0; flips < kFlips && !HasFailure(); flips += kFlipsBetweenScrubs) {
    const uint32_t before = device_.ecc_counts().corrected;
    std::set<uint32_t> words, pending;  // none twice
    int64_t unused = 0;
    while (words.size() < kFlipsBetweenScrubs) {
      for (int burst = 0; burst < 20; ++burst) {
        uint32_t word = random_() % words_;
        while (!words.insert(word).second) word = random_() % words_;
        in_table += this->in_table(word) ? 1 : 0;
        unused += this->in_table(word) || !owner_of(word).identity.empty() ? 0 : 1;
        flip(word, random_() % kWordBits);
        pending.insert(word);
      }
      by_must += run_with_flips(random_() % streams_.size(), pending);
    }
    const auto accessed = static_cast<int64_t>(device_.ecc_counts().corrected - before);
    const runtime::ScrubResult scrub = device_.scrub();
    EXPECT_EQ(scrub.uncorrectable, 0U);
    EXPECT_GE(scrub.corrected, unused) << "only the scrub reads unused words";
    EXPECT_LE(accessed + scrub.corrected, kFlipsBetweenScrubs);
    const runtime::ScrubResult second = device_.scrub();
    EXPECT_EQ(second.corrected + second.uncorrectable, 0U) << "the scrub left some";
    at_accesses += accessed;
    by_scrubs += scrub.corrected;
    overwritten += kFlipsBetweenScrubs - accessed - scrub.corrected;
  }
  EXPECT_EQ(device_.ecc_counts().uncorrectable, 0U);
  EXPECT_GT(at_accesses, 0);
  EXPECT_GT(in_table, 0);
  EXPECT_GT(by_must, 0);
  std::cout << kFlips << " single flips (" << in_table << " in the table): " << at_accesses
            << " corrected at accesses (" << by_must << " of words that the job must read), " << by_scrubs
            << " by scrubs, " << overwritten << " overwritten\n";
  for (const auto& stream : streams_) stream->report("stream on " + GetParam());
}

TEST_P(BitFlips, DoubleOnesAreReported) {
  constexpr int kDoubles = 1'000;
  int64_t by_jobs = 0, by_must = 0, by_reads = 0, by_scrubs = 0, overwritten = 0;
  for (size_t stream = 0; stream < streams_.size(); ++stream) {
    run(stream);
    compare(stream);
  }
  for (int i = 0; i < kDoubles && !HasFailure(); ++i) {
    const uint32_t word = random_() % words_;
    const Owner owner = owner_of(word);
    const uint32_t bit = random_() % kWordBits, other = (bit + 1 + random_() % (kWordBits - 1)) % kWordBits;
    flip(word, bit);
    flip(word, other);
    SCOPED_TRACE("word " + std::to_string(word) + " of '" + owner.identity + "', bits " + std::to_string(bit) +
                 " and " + std::to_string(other));
    // The stream that the word concerns, mostly.
    const bool any = owner.identity.empty() || random_() % 4 == 0;
    const size_t stream = any ? random_() % streams_.size() : owner.stream;
    const bool must = must_read(stream, word), may = may_read(stream, word);
    by_must += must ? 1 : 0;
    std::string reported;
    try {
      run(stream);
      EXPECT_FALSE(must) << "the job read two wrong bits in silence";
      compare(stream);
    } catch (const runtime::FaultError& error) {
      EXPECT_TRUE(may) << error.what();
      expect_fault(error, word, owner);
      reported = error.what();
      ++by_jobs;
    } catch (const Error& error) {
      EXPECT_FALSE(must) << "the host saw it, and not the job: " << error.what();
      EXPECT_EQ(error.code(), ErrorCode::kFaultEcc) << error.what();
      reported = error.what();
      ++by_reads;
    }
    if (reported.empty()) {
      const runtime::ScrubResult scrub = device_.scrub();
      EXPECT_LE(scrub.uncorrectable, 1U);
      if (scrub.uncorrectable == 0) {
        EXPECT_TRUE(in_table(word) || !owner.identity.empty()) << "unused words are never written";
        ++overwritten;
        continue;
      }
      ++by_scrubs;
      for (const std::string& name : scrub.damaged) reported += name;
    }
    EXPECT_NE(reported.find(owner.identity), std::string::npos) << reported;
    mend(word, owner, bit, other);
    const runtime::ScrubResult after = device_.scrub();
    EXPECT_EQ(after.corrected + after.uncorrectable, 0U) << "not mended";
  }
  std::cout << kDoubles << " double flips: " << by_jobs << " reported by jobs (" << by_must
            << " of words that the job must read), " << by_reads << " by the host's reads, " << by_scrubs
            << " by scrubs, " << overwritten << " overwritten before anybody read them\n";
  EXPECT_GT(by_must, 0);
  EXPECT_GT(by_scrubs, 0);
  for (const auto& stream : streams_) stream->report("stream on " + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Machines, BitFlips, testing::Values("edge", "nano"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace npu::test
