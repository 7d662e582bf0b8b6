// SPDX-License-Identifier: Apache-2.0
// Who is served by which bank.
#include "hw/timing/bank_arbiter.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

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

// Notes are turns like others, whenever they become so.
TEST(BankArbiter, WhatIsNotedIsServed) {
  std::mt19937_64 random(7);
  BankArbiter noted(16), served(16);
  for (int i = 0; i < 5000; ++i) {
    const auto requester = static_cast<uint32_t>(random() % 5);
    const uint64_t banks = random() & random() & 0xffff;
    noted.note(requester, banks);
    served.serve(requester, Banks{{banks, 0}});
    if (random() % 20 != 0) continue;
    std::array<Banks, 5> one{}, other{};
    for (size_t k = 0; k < one.size(); ++k) one.at(k) = other.at(k) = Banks{{random() & 0xffff, 0}};
    noted.step(0b11111, one);
    served.step(0b11111, other);
    for (size_t k = 0; k < one.size(); ++k) ASSERT_EQ(one.at(k).bits, other.at(k).bits) << "step " << i;
  }
}

}  // namespace
}  // namespace npu::timing::testing
