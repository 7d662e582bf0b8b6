// SPDX-License-Identifier: Apache-2.0
// Who is served by which bank.
#include "hw/timing/bank_arbiter.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <span>
#include <vector>

namespace npu::timing::testing {
namespace {

Banks banks_of(std::initializer_list<uint32_t> numbers) {
  Banks banks;
  for (const uint32_t bank : numbers) banks.add(bank);
  return banks;
}

TEST(BankArbiter, WhoWantsTheSameBankIsServedInTurn) {
  BankArbiter arbiter(2);
  for (const uint32_t winner : {0u, 1u, 3u, 0u, 1u, 3u}) {
    std::array<Banks, 4> wanted = {banks_of({1}), banks_of({1}), banks_of({0}), banks_of({1})};
    arbiter.step(0b1111, wanted);
    EXPECT_FALSE(wanted[2].any());  // alone at its bank
    for (const uint32_t requester : {0u, 1u, 3u}) EXPECT_EQ(wanted[requester].any(), requester != winner);
  }
}

TEST(BankArbiter, SeveralBanksAreSeveralTurns) {
  BankArbiter arbiter(128);
  std::array<Banks, 2> wanted = {banks_of({0, 5, 64, 127}), banks_of({5, 6, 127})};
  arbiter.step(0b11, wanted);
  EXPECT_FALSE(wanted[0].any());
  EXPECT_EQ(wanted[1].bits, banks_of({5, 127}).bits);
  wanted[0] = banks_of({5, 64});
  arbiter.step(0b11, wanted);  // it is the other one's turn at 5
  EXPECT_EQ(wanted[0].bits, banks_of({5}).bits);
  EXPECT_FALSE(wanted[1].any());
}

TEST(BankArbiter, OnlyThoseThatAskAreServed) {
  BankArbiter arbiter(4);
  std::array<Banks, 2> wanted = {banks_of({1}), banks_of({1})};
  arbiter.step(0b10, wanted);
  EXPECT_TRUE(wanted[0].any());
  EXPECT_FALSE(wanted[1].any());
}

TEST(BankArbiter, WordsFollowEachOtherThroughTheBanks) {
  const BankArbiter arbiter(4);
  WordRun run = {6, 7};
  EXPECT_EQ(arbiter.next_banks(run).bits, banks_of({0, 1, 2, 3}).bits);
  EXPECT_EQ(run.first, 10u);
  EXPECT_EQ(run.count, 3u);
  EXPECT_EQ(arbiter.next_banks(run).bits, banks_of({2, 3, 0}).bits);
  EXPECT_EQ(run.count, 0u);
  EXPECT_FALSE(arbiter.next_banks(run).any());
}

// Between cycles that the arbiter plays by itself, some of its requesters have claims; another arbiter does the same
// step by step.
TEST(BankArbiter, ClaimsAreServedAsInSteps) {
  constexpr uint32_t kRequesters = 7;
  std::mt19937_64 random(7);
  BankArbiter claimed(16), stepped(16);
  int free = 0, shared = 0;
  for (int i = 0; i < 2000; ++i) {
    std::array<Banks, kRequesters> wanted{}, all{};
    std::vector<BankArbiter::Claim> held;
    uint32_t asking = 0;
    for (uint32_t r = 0; r < kRequesters; ++r) {
      all.at(r) = Banks{{random() & random() & 0xffff, 0}};
      if (random() % 2 == 0) continue;
      held.push_back({r});
      asking |= 1u << r;
    }
    std::vector<BankArbiter::Claim*> pointers;
    for (BankArbiter::Claim& claim : held) pointers.push_back(&claim);
    const std::span<BankArbiter::Claim* const> claims = pointers;
    claimed.take(claims);
    for (auto cycles = random() % 5; cycles > 0; --cycles) {
      uint64_t once = 0, twice = 0;
      for (BankArbiter::Claim& claim : held) {
        if (claim.banks == 0) claim.banks = random() & random() & random() & 0xffff;
        wanted.at(claim.number) = Banks{{claim.banks, 0}};
        twice |= once & claim.banks;
        once |= claim.banks;
      }
      stepped.step(asking, wanted);
      ++(twice == 0 ? free : shared);
      if (twice == 0) {
        for (BankArbiter::Claim& claim : held) {
          BankArbiter::serve(claim, once);
          claim.banks = 0;
        }
      } else {
        claimed.share(claims);
      }
      for (const BankArbiter::Claim& claim : held) {
        ASSERT_EQ(claim.banks, wanted.at(claim.number).bits[0]) << "round " << i;
      }
    }
    claimed.give(claims);
    wanted = all;
    claimed.step((1u << kRequesters) - 1, wanted);
    stepped.step((1u << kRequesters) - 1, all);
    for (uint32_t r = 0; r < kRequesters; ++r) ASSERT_EQ(wanted.at(r).bits, all.at(r).bits) << "round " << i;
  }
  EXPECT_GT(free, 500);
  EXPECT_GT(shared, 500);
}

}  // namespace
}  // namespace npu::timing::testing
