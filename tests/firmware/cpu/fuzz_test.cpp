// SPDX-License-Identifier: Apache-2.0
// Random code on the instruction-set simulator alone: whatever the program does, the host stays well, every run is the
// same, and it makes no difference in which slices the program runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "hw/contract/gen/registers.h"
#include "sim/platform/iss_loader.h"
#include "tests/firmware/cpu/random_code.h"

namespace npu::model::testing {
namespace {

constexpr uint32_t kInstructions = 3000;  // of a program, at most

// Answers by address and time; refuses some.
class RandomBus : public IssBus {
 public:
  bool read(uint32_t address, uint32_t bytes, uint32_t& value) override {
    if (!accept(address, bytes)) return false;
    value = mix(address) >> (32 - 8 * bytes);
    return true;
  }
  bool write(uint32_t address, uint32_t bytes, uint32_t value) override {
    if (!accept(address, bytes)) return false;
    mix(value);
    return true;
  }
  [[nodiscard]] uint32_t hash() const { return hash_; }
  Iss* iss = nullptr;

 private:
  bool accept(uint32_t address, uint32_t bytes) {
    EXPECT_EQ(address % bytes, 0u);
    EXPECT_GE(address, contract::kCpuCodeBytes);
    EXPECT_LT(iss->read_register(kIssPc), contract::kCpuCodeBytes);
    mix(address);
    mix(static_cast<uint32_t>(iss->retired()));
    mix(iss->read_register(kIssPc));
    return (address >> 4 & 7) != 0;
  }
  uint32_t mix(uint32_t value) {
    hash_ = (hash_ ^ value) * 0x9e3779b1u;
    hash_ ^= hash_ >> 15;
    return hash_;
  }
  uint32_t hash_ = 1;
};

// Where a program got to.
struct State {
  std::array<uint32_t, 33> registers{};
  std::array<uint32_t, 5> csrs{};
  uint64_t retired = 0;
  uint32_t bus = 0, reason = 0, cause = 0, value = 0;
  std::vector<uint8_t> data;
  friend bool operator==(const State&, const State&) = default;
};

class Machine {
 public:
  Machine() : pages_(contract::kCpuCodeBytes + contract::kCpuDataBytes + 4096) {
    auto* first = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(pages_.data()) + 4095) & ~uintptr_t{4095});
    config_ = {&bus_,
               contract::kCpuCodeBase,
               contract::kCpuDataBase,
               {first, contract::kCpuCodeBytes},
               {first + contract::kCpuCodeBytes, contract::kCpuDataBytes}};
    iss_ = platform::load_iss("")(config_);
  }
  [[nodiscard]] std::span<uint8_t> code() { return config_.code; }

  // Runs what is in the code memory from its first byte, in slices.
  State run(uint32_t seed, uint32_t slice, uint32_t interrupts) {
    bus_ = {};
    bus_.iss = iss_.get();
    std::mt19937 random(seed);
    for (uint8_t& byte : config_.data) byte = static_cast<uint8_t>(random());
    iss_->reset(0);
    iss_->set_interrupts(interrupts);
    for (uint32_t i = 1; i < 32; ++i) iss_->write_register(i, random_pointer(random));
    const uint32_t vector = seed % 4 == 0 ? random() % contract::kCpuCodeBytes : kRandomHandler;
    iss_->write_csr(0x305, seed % 16 == 0 ? 0 : vector);  // mtvec
    const std::vector<uint8_t> code(config_.code.begin(), config_.code.end());
    State state;
    while (iss_->retired() < kInstructions) {
      const uint64_t before = iss_->retired();
      const uint64_t length = std::min<uint64_t>(slice, kInstructions - before);
      const IssStop stop = iss_->run(length);
      EXPECT_LE(iss_->retired(), before + length);
      if (stop.reason == IssStop::Reason::kWait) continue;
      if (stop.reason == IssStop::Reason::kBudget) {
        EXPECT_EQ(iss_->retired(), before + length);
        continue;
      }
      state.reason = static_cast<uint32_t>(stop.reason);
      state.cause = stop.cause;
      state.value = stop.value;
      break;
    }
    EXPECT_TRUE(std::ranges::equal(code, config_.code));  // nothing writes it
    keep(state);
    return state;
  }

 private:
  void keep(State& state) {
    for (uint32_t i = 0; i < state.registers.size(); ++i) state.registers[i] = iss_->read_register(i);
    constexpr std::array<uint32_t, 5> kCsrs = {0x300, 0x304, 0x305, 0x341, 0x342};
    for (size_t i = 0; i < kCsrs.size(); ++i) state.csrs[i] = iss_->read_csr(kCsrs[i]);
    state.retired = iss_->retired();
    state.bus = bus_.hash();
    state.data.assign(config_.data.begin(), config_.data.end());
  }

  std::vector<uint8_t> pages_;
  RandomBus bus_;
  IssConfig config_;
  std::unique_ptr<Iss> iss_;
};

TEST(CpuFuzz, RandomCodeIsHarmlessAndTheSameInAnySlices) {
  Machine machine;
  std::array<uint32_t, 6> reasons{};
  uint64_t instructions = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    fill_randomly(machine.code(), seed);
    const uint32_t interrupts = seed % 5 == 0 ? 0x880 : 0;
    const State whole = machine.run(seed, kInstructions, interrupts);
    ASSERT_EQ(machine.run(seed, kInstructions, interrupts), whole) << "seed " << seed;
    ASSERT_EQ(machine.run(seed, 7, interrupts), whole) << "seed " << seed;
    ASSERT_EQ(machine.run(seed, 1, interrupts), whole) << "seed " << seed;
    ++reasons[whole.reason];
    instructions += whole.retired;
  }
  // The programs do something, and end in several ways.
  EXPECT_GT(instructions, 100'000u);
  EXPECT_GT(reasons[static_cast<size_t>(IssStop::Reason::kBudget)], 10u);
  EXPECT_GT(reasons[static_cast<size_t>(IssStop::Reason::kTrap)], 10u);
}

TEST(CpuFuzz, ManyShortPrograms) {
  Machine machine;
  uint64_t instructions = 0;
  for (uint32_t seed = 1000; seed < 4000; ++seed) {
    fill_randomly(machine.code(), seed);
    instructions += machine.run(seed, 64, 0).retired;
  }
  EXPECT_GT(instructions, 100'000u);
}

}  // namespace
}  // namespace npu::model::testing
