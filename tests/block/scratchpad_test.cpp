// SPDX-License-Identifier: Apache-2.0
// The scratchpad's RTL against an array of bytes: no access is lost or done twice, and no requester waits longer than
// its turn.
#include "rtl/verilated/scratchpad.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "rtl/verilated/machines.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {
namespace {

struct Request {
  bool write = false;
  uint32_t word = 0, strobe = 0;
  std::vector<uint8_t> data;
};

class ScratchpadBlock : public testing::TestWithParam<const char*> {
 protected:
  ScratchpadBlock() {
    requests_.resize(sizes_.requesters);
    waited_.resize(sizes_.requesters);
    expected_.resize(sizes_.requesters);
  }

  void ask(uint32_t requester, const Request& request) {
    requests_[requester] = request;
    waited_[requester] = 0;
    if (request.write) {
      block_->write(requester, request.word, request.strobe, request.data);
    } else {
      block_->read(requester, request.word);
    }
  }
  [[nodiscard]] bool asks(uint32_t requester) const { return requests_[requester].has_value(); }

  // One cycle: checks who is granted, makes the accesses in `bytes_`, and compares what was read in the cycle before.
  // Returns the number of grants.
  uint32_t cycle(Buckets& buckets) {
    std::vector<uint32_t> asked(sizes_.banks), granted(sizes_.banks);
    std::vector<bool> withdraw(sizes_.requesters);
    uint32_t grants = 0;
    for (uint32_t r = 0; r < sizes_.requesters; ++r) {
      compare_answer(r, buckets);
      const bool grant = block_->granted(r);
      if (!requests_[r]) {
        buckets.compare(
            grant, 0, [] { return "grant without request"; }, [&] { return fmt::format("port {}", r); });
        continue;
      }
      const Request& request = *requests_[r];
      ++asked[request.word % sizes_.banks];
      if (!grant) {
        ++waited_[r];
        continue;
      }
      ++granted[request.word % sizes_.banks];
      ++grants;
      buckets.compare(
          waited_[r] < sizes_.requesters, 1, [] { return "waited too long"; },
          [&] { return fmt::format("port {}, {} cycles", r, waited_[r]); });
      perform(r, request);
      withdraw[r] = true;
    }
    for (uint32_t b = 0; b < sizes_.banks; ++b) {
      buckets.compare(
          granted[b], asked[b] > 0 ? 1 : 0, [] { return "one access a bank and cycle"; },
          [&] { return fmt::format("bank {}, {} requests", b, asked[b]); });
    }
    block_->tick();
    for (uint32_t r = 0; r < sizes_.requesters; ++r) {
      if (!withdraw[r]) continue;
      block_->withdraw(r);
      requests_[r].reset();
    }
    return grants;
  }

  // Writes all of the memory through port 0.
  void fill(std::mt19937_64& random, Buckets& buckets) {
    for (uint32_t word = 0; word < sizes_.bytes / sizes_.bank_bytes; ++word) {
      ask(0, random_write(random, word, ~0u));
      EXPECT_EQ(cycle(buckets), 1u);
    }
  }

  Request random_write(std::mt19937_64& random, uint32_t word, uint32_t strobe) const {
    Request request{true, word, strobe, std::vector<uint8_t>(sizes_.bank_bytes)};
    for (uint8_t& byte : request.data) byte = static_cast<uint8_t>(random());
    return request;
  }
  Request random_request(std::mt19937_64& random, uint32_t words) const {
    const auto word = static_cast<uint32_t>(random() % words);
    if (random() % 2 == 0) return {false, word, 0, {}};
    return random_write(random, word, static_cast<uint32_t>(random() & (random() % 2 == 0 ? ~0u : random())));
  }

  std::unique_ptr<Scratchpad> block_ = make_scratchpad(GetParam());
  const Scratchpad::Sizes sizes_ = block_->sizes();

 private:
  void perform(uint32_t requester, const Request& request) {
    uint8_t* const at = bytes_.data() + uint64_t{request.word} * sizes_.bank_bytes;
    if (request.write) {
      for (uint32_t i = 0; i < sizes_.bank_bytes; ++i) {
        if ((request.strobe >> i & 1) != 0) at[i] = request.data[i];
      }
    } else {
      expected_[requester].assign(at, at + sizes_.bank_bytes);
    }
  }
  void compare_answer(uint32_t requester, Buckets& buckets) {
    const std::span<const uint8_t> answer = block_->answer(requester);
    std::vector<uint8_t>& expected = expected_[requester];
    const auto detail = [&] { return fmt::format("port {}", requester); };
    buckets.compare(
        static_cast<int64_t>(answer.size()), static_cast<int64_t>(expected.size()),
        [] { return "lost or surplus answer"; }, detail);
    if (answer.size() == expected.size() && !answer.empty()) {
      buckets.compare(
          std::memcmp(answer.data(), expected.data(), answer.size()), 0, [] { return "data"; }, detail);
    }
    expected.clear();
  }

  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(sizes_.bytes);
  std::vector<std::optional<Request>> requests_;
  std::vector<uint32_t> waited_;
  std::vector<std::vector<uint8_t>> expected_;  // of the next cycle's answers; empty: none
};

TEST_P(ScratchpadBlock, EveryWordIsItsOwn) {
  std::mt19937_64 random(1);
  Buckets buckets("every word", 1);
  fill(random, buckets);
  const uint32_t words = sizes_.bytes / sizes_.bank_bytes, last = sizes_.requesters - 1;
  for (uint32_t word = 0; word < words; ++word) {
    ask(last, {false, word, 0, {}});
    ASSERT_EQ(cycle(buckets), 1u);  // a word a cycle
  }
  (void)cycle(buckets);
}

TEST_P(ScratchpadBlock, RandomAccesses) {
  const uint64_t first = seed(99);
  Buckets start("fill", first);
  std::mt19937_64 content(first);
  fill(content, start);
  const uint32_t all = sizes_.bytes / sizes_.bank_bytes;
  for (uint64_t round = 0; round < 12; ++round) {
    std::mt19937_64 random(first + round);
    Buckets buckets("random", first + round);
    // Everywhere, or on a few words of one or all banks.
    const uint32_t words = round % 3 == 0 ? all : round % 3 == 1 ? 1 : sizes_.banks * 2;
    std::vector<Throttle> throttles;
    for (uint32_t r = 0; r < sizes_.requesters; ++r) throttles.emplace_back(random(), 20 + 20 * ((round + r) % 5));
    for (int step = 0; step < 2000; ++step) {
      for (uint32_t r = 0; r < sizes_.requesters; ++r) {
        if (!asks(r) && throttles[r].next()) ask(r, random_request(random, words));
      }
      (void)cycle(buckets);
    }
    while (cycle(buckets) > 0) {
    }
  }
}

// Requesters on banks of their own run at full speed; on one bank they take turns.
TEST_P(ScratchpadBlock, ConflictsCostCycles) {
  std::mt19937_64 random(5);
  Buckets buckets("conflicts", 5);
  const uint32_t clients = std::min(sizes_.requesters, sizes_.banks);
  for (uint32_t step = 0; step < 100; ++step) {
    for (uint32_t r = 0; r < clients; ++r) ask(r, random_write(random, (step + r) % sizes_.banks, ~0u));
    ASSERT_EQ(cycle(buckets), clients);
  }
  for (uint32_t step = 0; step < 100; ++step) {
    for (uint32_t r = 0; r < sizes_.requesters; ++r) {
      if (!asks(r)) ask(r, random_write(random, sizes_.banks * r + 1, ~0u));
    }
    ASSERT_EQ(cycle(buckets), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, ScratchpadBlock, testing::ValuesIn(built_machines()));

}  // namespace
}  // namespace npu::rtl::test
