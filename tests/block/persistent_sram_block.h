// SPDX-License-Identifier: Apache-2.0
// The persistent SRAM's RTL as its tests ask it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "rtl/verilated/persistent_sram.h"

namespace npu::rtl::test {

// One preset's block, and what can be asked of it.
class PersistentSramBlock : public testing::TestWithParam<const char*> {
 protected:
  static constexpr uint32_t kWordBits = 72, kDataBits = 64;
  struct Answer {
    contract::ErrorCode error = contract::ErrorCode::kOk;
    std::vector<uint8_t> data;
    uint32_t waited = 0;  // cycles until the access was taken
    uint32_t failed = 0;  // words with two wrong bits
  };

  // An access that is asked for until it is taken, and its answer after the stated latency.
  Answer access(const PersistentSram::Access& access) {
    Answer answer;
    block_->access(access);
    while (!block_->access_taken() && answer.waited < kPatience) {
      block_->tick();
      ++answer.waited;
    }
    EXPECT_LT(answer.waited, kPatience);
    for (uint32_t cycle = 0; cycle < PersistentSram::kLatency; ++cycle) {
      block_->tick();
      block_->withdraw_access();
      EXPECT_EQ(block_->answered(), cycle + 1 == PersistentSram::kLatency);
    }
    answer.error = block_->answer_error();
    answer.failed = block_->answer_failed();
    answer.data.assign(block_->answer().begin(), block_->answer().end());
    return answer;
  }
  Answer read(uint32_t address, uint32_t strobe = ~0u, bool privileged = true) {
    return access({false, privileged, address, strobe & all_bytes(), {}});
  }
  Answer write(uint32_t address, std::span<const uint8_t> data, uint32_t strobe = ~0u, bool privileged = true) {
    return access({true, privileged, address, strobe & all_bytes(), data});
  }

  void inject(uint32_t row, uint32_t lane, std::initializer_list<uint32_t> bits) {
    uint64_t data = 0;
    uint8_t check = 0;
    for (const uint32_t bit : bits) {
      if (bit < kDataBits) {
        data ^= uint64_t{1} << bit;
      } else {
        check = static_cast<uint8_t>(check ^ 1u << (bit - kDataBits));
      }
    }
    block_->inject(row, lane, data, check);
    while (!block_->injection_taken()) block_->tick();
    block_->tick();
    block_->withdraw_injection();
  }

  // In a cycle of its own.
  void set_power(PersistentSram::Power power) {
    block_->tick();
    block_->set_power(power);
    block_->tick();
  }

  struct Outcome {
    contract::ErrorCode error = contract::ErrorCode::kOk;
    PersistentSram::Place place;
    uint32_t cycles = 0;  // from the start of the operation
    uint32_t entry = 0;   // that has two wrong bits
  };
  Outcome operate(const PersistentSram::Operation& operation) {
    block_->operate(operation);
    while (!block_->operation_taken()) block_->tick();
    Outcome outcome;
    do {
      block_->tick();
      block_->withdraw_operation();
      ++outcome.cycles;
    } while (!block_->operation_done() && outcome.cycles < kPatience);
    outcome.error = block_->operation_error();
    outcome.place = block_->operation_place();
    outcome.entry = block_->operation_entry();
    return outcome;
  }

  // Writes an entry of the table.
  void put(uint32_t index, const contract::VariableEntry& entry) {
    const auto entry_bytes = static_cast<uint32_t>(contract::VariableEntry::kBytes);
    const uint32_t at = index * entry_bytes, slot = at % sizes_.port_bytes;
    std::vector<uint8_t> row(sizes_.port_bytes);
    entry.store(row.data() + slot);
    EXPECT_EQ(write(at - slot, row, (~0u >> (32 - entry_bytes)) << slot).error, contract::ErrorCode::kOk);
  }
  // The answer of an operation and its cycles.
  Outcome expect(const PersistentSram::Operation& operation, contract::ErrorCode error, uint32_t cycles) {
    const Outcome outcome = operate(operation);
    EXPECT_EQ(outcome.error, error) << static_cast<int>(operation.op) << " is " << contract::name(outcome.error);
    EXPECT_EQ(outcome.cycles, cycles) << static_cast<int>(operation.op);
    block_->tick();
    return outcome;
  }

  std::vector<uint8_t> random_row(std::mt19937_64& random) const {
    std::vector<uint8_t> row(sizes_.port_bytes);
    for (uint8_t& byte : row) byte = static_cast<uint8_t>(random());
    return row;
  }
  [[nodiscard]] uint32_t all_bytes() const { return ~0u >> (32 - sizes_.port_bytes); }
  [[nodiscard]] uint32_t rows() const { return sizes_.bytes / sizes_.port_bytes; }
  [[nodiscard]] uint32_t lanes() const { return sizes_.port_bytes / 8; }
  [[nodiscard]] uint32_t table_rows() const {
    return sizes_.entries * static_cast<uint32_t>(contract::VariableEntry::kBytes) / sizes_.port_bytes;
  }

  static constexpr uint32_t kPatience = 100'000;
  std::unique_ptr<PersistentSram> block_ = make_persistent_sram(GetParam());
  const PersistentSram::Sizes sizes_ = block_->sizes();
};

}  // namespace npu::rtl::test
