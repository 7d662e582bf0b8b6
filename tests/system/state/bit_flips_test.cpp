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
  }

  // One frame of one of the streams, compared with the reference. Throws what the device reports.
  void frame(size_t stream) { streams_[stream]->step(0, random_inputs(graphs_[stream], random_)); }

  void flip(uint32_t word, uint32_t bit) {
    device_.write_register(contract::reg::kTestFlipAddress, word * kWordBytes);
    device_.write_register(contract::reg::kTestFlipBit, bit);
  }

  [[nodiscard]] bool in_table(uint32_t word) const {
    return word * kWordBytes < device_.capabilities().var_entries * contract::VariableEntry::kBytes;
  }
  // The stream and the variable that a word belongs to; by its bytes, or by its table entry.
  struct Owner {
    size_t stream = 0;
    std::string identity;  // empty: nobody's
  };
  Owner owner_of(uint32_t word) {
    const uint32_t byte = word * kWordBytes;
    for (size_t stream = 0; stream < streams_.size(); ++stream) {
      for (const runtime::VariableInfo& info : streams_[stream]->context().variables()) {
        const bool entry = byte / contract::VariableEntry::kBytes == info.index;
        if (entry || (byte + kWordBytes > info.offset && byte < info.offset + info.bytes)) {
          return {stream, info.identity};
        }
      }
    }
    return {};
  }

  // After a double flip: what a user does about variables. Words of nobody can only be flipped back.
  void mend(uint32_t word, const Owner& owner, uint32_t bit, uint32_t other) {
    if (owner.identity.empty() && !in_table(word)) {
      flip(word, bit);
      flip(word, other);
    }
    // A stream that the damage stopped is a step behind the reference.
    for (const auto& stream : streams_) stream->start_again();
  }

  uint32_t seed_ = print_seed(0);
  std::mt19937 random_{seed_};
  runtime::Device device_ = open_device(options(GetParam(), model::Mode::kFunctional));
  std::vector<std::unique_ptr<SideBySide>> streams_;
  std::vector<graph::Graph> graphs_;
  uint32_t words_ = 0;
};

TEST_P(BitFlips, SingleOnesAreCorrectedAndCounted) {
  constexpr int kFlips = 10'000, kFlipsBetweenScrubs = 100;
  int64_t at_accesses = 0, by_scrubs = 0, overwritten = 0, in_table = 0;
  for (int flips = 0; flips < kFlips && !HasFailure(); flips += kFlipsBetweenScrubs) {
    const uint32_t before = device_.ecc_counts().corrected;
    std::set<uint32_t> words;  // none twice
    int64_t unused = 0;
    while (words.size() < kFlipsBetweenScrubs) {
      for (int burst = 0; burst < 20; ++burst) {
        uint32_t word = random_() % words_;
        while (!words.insert(word).second) word = random_() % words_;
        in_table += this->in_table(word) ? 1 : 0;
        unused += this->in_table(word) || !owner_of(word).identity.empty() ? 0 : 1;
        flip(word, random_() % kWordBits);
      }
      frame(random_() % streams_.size());
    }
    const auto accessed = static_cast<int64_t>(device_.ecc_counts().corrected - before);
    const runtime::ScrubResult scrub = device_.scrub();
    EXPECT_EQ(scrub.uncorrectable, 0U);
    EXPECT_GE(scrub.corrected, unused) << "nobody but the scrub reads unused words";
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
  std::cout << kFlips << " single flips (" << in_table << " in the table): " << at_accesses
            << " corrected at accesses, " << by_scrubs << " by scrubs, " << overwritten << " overwritten\n";
  for (const auto& stream : streams_) stream->report("stream on " + GetParam());
}

TEST_P(BitFlips, DoubleOnesAreReported) {
  constexpr int kDoubles = 1'000;
  int64_t by_jobs_and_reads = 0, by_scrubs = 0, overwritten = 0;
  for (size_t stream = 0; stream < streams_.size(); ++stream) frame(stream);
  for (int i = 0; i < kDoubles && !HasFailure(); ++i) {
    const uint32_t word = random_() % words_;
    const Owner owner = owner_of(word);
    const uint32_t bit = random_() % kWordBits, other = (bit + 1 + random_() % (kWordBits - 1)) % kWordBits;
    flip(word, bit);
    flip(word, other);
    SCOPED_TRACE("word " + std::to_string(word) + " of '" + owner.identity + "', bits " + std::to_string(bit) +
                 " and " + std::to_string(other));
    std::string reported;
    try {
      // The stream that the word concerns, mostly.
      frame(owner.identity.empty() || random_() % 4 == 0 ? random_() % streams_.size() : owner.stream);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kFaultEcc) << error.what();
      reported = error.what();
      ++by_jobs_and_reads;
    }
    if (reported.empty()) {
      const runtime::ScrubResult scrub = device_.scrub();
      EXPECT_LE(scrub.uncorrectable, 1U);
      if (scrub.uncorrectable == 0) {
        EXPECT_TRUE(in_table(word) || !owner.identity.empty()) << "nobody writes unused words";
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
  std::cout << kDoubles << " double flips: " << by_jobs_and_reads << " reported by jobs and reads, " << by_scrubs
            << " by scrubs, " << overwritten << " overwritten before anybody read them\n";
  EXPECT_GT(by_jobs_and_reads, 0);
  EXPECT_GT(by_scrubs, 0);
  for (const auto& stream : streams_) stream->report("stream on " + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Machines, BitFlips, testing::Values("edge", "nano"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace npu::test
