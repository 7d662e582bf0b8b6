// SPDX-License-Identifier: Apache-2.0
// Programs for sizes within bounds on the fake device: their table, what a job brings, and what the firmware makes of
// the stream.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "driver/compiler/size_table.h"
#include "tests/firmware/firmware_fixture.h"
#include "tests/unit/compiler/size_rule.h"

namespace npu::firmware_test {

class SizesTest : public FirmwareTest {
 protected:
  using Table = compiler::SizeTable;
  using Operation = contract::SizeOperation;
  using Relation = contract::SizeRelation;
  static constexpr uint64_t kTables = 0x400000, kTableBytes = 0x100000;
  static constexpr uint64_t kSizes = RingDriver::kShared + 0x38000, kSizesBytes = 0x800;
  static constexpr uint32_t kPoison = 0xdeadbeef;

  // x.0 in 1..64 and y.0 in 1..64 must be equal; a row has 4 bytes, and the second half of 32 rows is skipped up to
  // 32 rows.
  static Table rows() {
    Table table;
    table.symbols = {{"x.0", 1, 64}, {"y.0", 1, 64}};
    table.expressions = {{Operation::kConstant, 0, 4}, {Operation::kMul, 0, 2}};
    table.conditions = {{Relation::kAtLeast, 0, 1, ""}, {Relation::kEqual, 0, 1, ""}};
    table.results = {0, 3};
    using compiler::testing::rule_of;
    table.rules = {rule_of(3, {{0, 1, 0}}, {7, 20}), rule_of(0, {{1, 0, 1 << 16 | 3}, {33, 0, 3}}, {30}),
                   rule_of(1, {{1, -8, 100}, {32, 2, -1}, {60, 0, 7}}, {5, 63, 40})};
    // Of two values, and only for few rows.
    table.rules.push_back(table.rules.back());
    compiler::SizeTable::Rule& both = table.rules.back();
    both.selector = 0;
    both.second = 3;
    both.most = 20;
    for (compiler::SizeTable::Piece& piece : both.pieces) piece.second_multiplier = 5;
    return table;
  }

  // Puts stream, table and sizes of program `number` into memory. The job has the fixture's simple stream.
  contract::Job place(const Table& table, uint32_t number = 0) {
    const contract::Job job = with_sizes(simple_job(), number);
    poison_stream(job);
    device.write_memory(job.size_table, compiler::encode(table));
    poke(job.size_table + compiler::encode(table).size(), std::vector<uint32_t>(2 * table.symbols.size(), kPoison));
    return job;
  }
  static contract::Job with_sizes(contract::Job job, uint32_t number) {
    job.commands = kStream + 0x1000 * uint64_t{number};
    job.region_flags[0] = 1 + number;
    job.size_table = kTables + kTableBytes * uint64_t{number};
    job.sizes = kSizes + kSizesBytes * uint64_t{number};
    return job;
  }
  void poison_stream(const contract::Job& job) {
    poke(job.commands, std::vector<uint32_t>(job.command_words, kPoison));
  }
  // Of the job's next run.
  void bring(const contract::Job& job, const Table& table, const std::vector<int64_t>& sizes) {
    contract::JobSizes header;
    header.version = 1;
    header.symbols = static_cast<uint16_t>(sizes.size());
    header.hash = compiler::hash_of(compiler::encode(table));
    std::vector<uint8_t> bytes(contract::JobSizes::kBytes + 8 * sizes.size());
    header.store(bytes.data());
    std::memcpy(bytes.data() + contract::JobSizes::kBytes, sizes.data(), 8 * sizes.size());
    bytes.resize(bytes.size() + 8 * table.results.size(), 0xa5);
    device.write_memory(job.sizes, bytes);
  }

  std::vector<uint32_t> words(uint64_t address, size_t count) {
    std::vector<uint32_t> result(count);
    device.read_memory(address, {reinterpret_cast<uint8_t*>(result.data()), 4 * count});
    return result;
  }
  std::vector<uint32_t> stream(const contract::Job& job) { return words(job.commands, job.command_words); }
  void poke(uint64_t address, const std::vector<uint32_t>& values) {
    device.write_memory(address, {reinterpret_cast<const uint8_t*>(values.data()), 4 * values.size()});
  }
  std::vector<int64_t> values_at(uint64_t address, size_t count) {
    std::vector<int64_t> result(count);
    device.read_memory(address, {reinterpret_cast<uint8_t*>(result.data()), 8 * count});
    return result;
  }
  uint32_t current(const contract::Job& job) { return words(job.size_table + 28, 1)[0]; }
  static uint64_t kept(const contract::Job& job, const Table& table) {
    return job.size_table + compiler::encode(table).size();
  }
  static std::vector<uint32_t> expected(const contract::Job& job, const Table& table,
                                        const std::vector<int64_t>& sizes) {
    std::vector<uint32_t> commands(job.command_words, kPoison);
    compiler::apply_rules(table, compiler::evaluate(table, sizes), commands);
    return commands;
  }

  // Runs a job of sizes that the program takes to its end, and looks at all that it leaves.
  void run_well(uint32_t ring, const contract::Job& job, const Table& table, const std::vector<int64_t>& sizes) {
    bring(job, table, sizes);
    const uint32_t id = driver.run(ring, job, 0);
    ASSERT_TRUE(device.run());
    ASSERT_TRUE(device.busy);
    EXPECT_EQ(last_start().pair(contract::reg::kCommandBaseLo), job.commands);
    EXPECT_EQ(stream(job), expected(job, table, sizes));
    device.end_done(10);
    ASSERT_TRUE(device.run());
    completion(ring, id, contract::ErrorCode::kOk);
    look(job, table, sizes);
  }
  void look(const contract::Job& job, const Table& table, const std::vector<int64_t>& sizes) {
    EXPECT_EQ(stream(job), expected(job, table, sizes));
    EXPECT_EQ(current(job), 1u);
    EXPECT_EQ(values_at(kept(job, table), sizes.size()), sizes);
    const compiler::SizeValues values = compiler::evaluate(table, sizes);
    const std::vector<int64_t> results =
        values_at(job.sizes + contract::JobSizes::kBytes + 8 * sizes.size(), table.results.size());
    for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], values[table.results[i]]) << i;
  }
  // Runs a job that the firmware refuses; returns the completion.
  contract::RingCompletion run_badly(uint32_t ring, const contract::Job& job, contract::ErrorCode expected) {
    const size_t starts = device.starts.size();
    const uint32_t id = driver.run(ring, job, 0);
    EXPECT_TRUE(device.run());
    EXPECT_EQ(device.starts.size(), starts);
    EXPECT_FALSE(device.stopped());
    return completion(ring, id, expected);
  }
};

}  // namespace npu::firmware_test
