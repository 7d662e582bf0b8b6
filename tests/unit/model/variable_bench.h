// SPDX-License-Identifier: Apache-2.0
// A bench with variables: entries of the table, streams that use them, and bytes to compare.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/model/bench.h"

namespace npu::model::testing {

constexpr uint8_t flag(contract::VariableFlag flag) { return static_cast<uint8_t>(flag); }
inline constexpr uint8_t kWritten = flag(contract::VariableFlag::kIsWritten),
                         kWriting = flag(contract::VariableFlag::kWriting), kTorn = flag(contract::VariableFlag::kTorn),
                         kDouble = flag(contract::VariableFlag::kDoubleBuffered),
                         kSecond = flag(contract::VariableFlag::kSecond),
                         kInDram = flag(contract::VariableFlag::kInDram),
                         kDeclared = flag(contract::VariableFlag::kDeclared);

// Every test with and without time; one bench a process.
class VariableBench : public ::testing::TestWithParam<Mode> {
 protected:
  static constexpr uint32_t kHash = 0x1234, kLength = 64;
  static constexpr uint32_t kSram = 0x400, kDram = 0x60000;  // places
  static constexpr uint16_t kVariable = 2;

  explicit VariableBench(BenchOptions options = {}) : bench(with_mode(options)) {}

  void set(uint16_t index, uint32_t base, uint8_t flags, uint32_t length = kLength) {
    contract::VariableEntry entry;
    entry.base = base;
    entry.length = length;
    entry.owner = Bench::kOwner;
    entry.flags = flags;
    entry.hash = kHash;
    bench.set_variable(index, entry);
  }
  // Without what says that it was declared.
  uint8_t flags(uint16_t index = kVariable) {
    constexpr uint8_t kMarks = flag(contract::VariableFlag::kSeenValid) | flag(contract::VariableFlag::kDeclared);
    return bench.get_variable(index).flags & static_cast<uint8_t>(~kMarks);
  }
  contract::ErrorCode run(const Stream& stream) {
    bench.write(contract::reg::kJobEpoch, ++epoch);
    EXPECT_TRUE(bench.run(stream));
    return bench.fault();
  }
  static Stream declared(std::initializer_list<uint16_t> variables = {kVariable}) {
    Stream stream(small_machine());
    for (const uint16_t index : variables) stream.declare(index, kHash);
    return stream;
  }
  static contract::DmaCommand store(uint32_t channel, uint32_t from, uint32_t bytes, bool commit, uint32_t at = 0) {
    contract::DmaCommand dma = copy(channel, dram(from), variable(kVariable, at), bytes);
    dma.commit = commit;
    return dma;
  }
  static contract::DmaCommand load(uint32_t channel, uint32_t to) {
    return copy(channel, variable(kVariable), dram(to), kLength);
  }
  static Stream reading(uint32_t to = 0x1000) {
    Stream stream = declared();
    stream.add(load(0, to));
    return stream;
  }
  std::vector<uint8_t> sram(uint32_t offset, uint32_t bytes = kLength) {
    std::vector<uint8_t> data(bytes);
    bench.transport(tlm::TLM_READ_COMMAND, contract::kPsramWindow + offset, data.data(), bytes);
    return data;
  }
  void set_sram(uint32_t offset, std::vector<uint8_t> bytes) {
    bench.transport(tlm::TLM_WRITE_COMMAND, contract::kPsramWindow + offset, bytes.data(),
                    static_cast<uint32_t>(bytes.size()));
  }
  std::vector<uint8_t> memory(uint32_t offset, uint32_t bytes = kLength) {
    return {bench.memory.data.begin() + offset, bench.memory.data.begin() + offset + bytes};
  }

  Bench bench;
  uint32_t epoch = 0;

 private:
  static BenchOptions with_mode(BenchOptions options) {
    options.mode = GetParam();
    return options;
  }
};

inline std::string name_of_mode(const ::testing::TestParamInfo<Mode>& info) {
  return info.param == Mode::kTimed ? "Timed" : "Functional";
}

}  // namespace npu::model::testing
