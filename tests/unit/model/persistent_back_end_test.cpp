// SPDX-License-Identifier: Apache-2.0
// The seam to a back end of the persistent SRAM: what it is asked for, and that the device goes on with its answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hw/timing/table_cycles.h"
#include "tests/unit/model/variable_bench.h"

namespace npu::model::testing {
namespace {

using contract::ErrorCode;
using engine::TableOp;
namespace reg = contract::reg;

// Notes what it is asked for, and answers as the model unless a test says something else.
struct FakePersistent final : engine::PersistentBackEnd {
  void connect(std::span<uint8_t> memory) override { image = memory; }
  void reset() override { note("reset"); }
  void set_power(contract::PsramPower power) override { note("power " + std::to_string(static_cast<int>(power))); }
  void acknowledge_loss() override { note("acknowledge"); }
  void flip(uint64_t word, uint32_t bit) override { note("flip " + std::to_string(word) + "." + std::to_string(bit)); }
  engine::TableAnswer operate(const engine::TableRequest& request, const engine::TableAnswer& model) override {
    static const std::vector<std::string> kNames = {"begin", "declare", "check", "check read", "write", "commit"};
    note(kNames.at(static_cast<size_t>(request.op)));
    requests.push_back(request);
    cycles.push_back(model.cycles);
    engine::TableAnswer answer = model;
    if (answers && request.op == *answers) answer.error = error;
    return answer;
  }
  std::optional<uint64_t> read(uint64_t low, uint64_t high, bool host, std::optional<uint64_t> wrong) override {
    if (host) return wrong;
    note("read " + std::to_string(high - low));
    if (wrong_byte != 0) image[low] = wrong_byte;
    return wrong;
  }
  void write(uint64_t low, uint64_t high, bool host) override {
    if (!host) note("write of " + std::to_string(high - low));
  }
  void put(uint64_t low, uint64_t high, std::span<const engine::WrongWord> wrong) override {
    note("put " + std::to_string(high - low) + " with " + std::to_string(wrong.size()));
  }
  void scrub(uint32_t uncorrectable) override { note("scrub " + std::to_string(uncorrectable)); }
  void refuse(uint64_t) override { note("refuse"); }
  engine::PersistentStatus status(const engine::PersistentStatus& model) override {
    return {model.lost, model.corrected + more_corrected};
  }
  [[nodiscard]] ErrorCode failure() const override { return failed; }

  void note(std::string what) { asked.push_back(std::move(what)); }

  std::span<uint8_t> image;
  std::vector<std::string> asked;
  std::vector<engine::TableRequest> requests;
  std::vector<uint64_t> cycles;    // of each
  std::optional<TableOp> answers;  // with `error`
  ErrorCode error = ErrorCode::kOk, failed = ErrorCode::kOk;
  uint8_t wrong_byte = 0;
  uint32_t more_corrected = 0;
};

// Of the device that was built last.
FakePersistent* fake_of_bench = nullptr;

class PersistentBackEndTest : public VariableBench {
 protected:
  PersistentBackEndTest() : VariableBench(options()) {
    set(kVariable, kSram, static_cast<uint8_t>(contract::VariableFlag::kIsWritten));
    fake->asked.clear();
  }
  static BenchOptions options() {
    BenchOptions options;
    options.make_persistent = [] {
      auto made = std::make_unique<FakePersistent>();
      fake_of_bench = made.get();
      return made;
    };
    return options;
  }
  // Reads the first half, and writes and commits the other one.
  static Stream both() {
    Stream stream = declared();
    stream.add(copy(0, variable(kVariable), dram(0x1000), kLength / 2));
    stream.add(store(0, 0x100, kLength / 2, true, kLength / 2));
    return stream;
  }

  FakePersistent* const fake = fake_of_bench;
};

INSTANTIATE_TEST_SUITE_P(, PersistentBackEndTest, ::testing::Values(Mode::kTimed, Mode::kFunctional), name_of_mode);

TEST_P(PersistentBackEndTest, IsAskedForAllThatAJobDoes) {
  ASSERT_EQ(run(both()), ErrorCode::kOk);
  const std::vector<std::string> of_read = {"check read", "read 32"}, of_write = {"write", "write of 32", "commit"};
  for (const std::vector<std::string>& part : {of_read, of_write}) {
    auto at = fake->asked.begin();
    for (const std::string& what : part) {
      at = std::find(at, fake->asked.end(), what);
      EXPECT_NE(at, fake->asked.end()) << what;
    }
  }
  EXPECT_EQ(fake->asked.front(), "begin");
  EXPECT_EQ(fake->asked.at(1), "declare");
  EXPECT_EQ(std::count(fake->asked.begin(), fake->asked.end(), "check"), 2);
  for (const engine::TableRequest& request : fake->requests) {
    if (request.op != TableOp::kWriteBegin) continue;
    EXPECT_EQ(request.low, kLength / 2);
    EXPECT_EQ(request.high, kLength);
    EXPECT_EQ(request.job.owner, Bench::kOwner);
  }
}

// While the memory has no other users; so many a row that is corrected, and those in which old marks are taken back.
TEST_P(PersistentBackEndTest, IsToldTheCyclesOfOperations) {
  const contract::Capabilities caps = small_machine();
  const auto rows = static_cast<uint32_t>(timing::TableAccesses::of(caps).rows);
  const uint32_t row_of_variable = kVariable * 16 / caps.psram_port_bytes;
  const auto cycles = [&] {
    fake->cycles.clear();
    EXPECT_EQ(run(declared()), ErrorCode::kOk);
    return fake->cycles;
  };
  EXPECT_EQ(cycles(), (std::vector<uint64_t>{rows + 3, rows + 7}));
  EXPECT_EQ(cycles(), (std::vector<uint64_t>{rows + 3, 7}));
  epoch += 128;
  EXPECT_EQ(cycles(), (std::vector<uint64_t>{rows + 3 + 5, 7}));
  epoch += 128;
  const auto flip = [&](uint32_t row) { bench.npu.flip_bit(row * caps.psram_port_bytes, 1); };
  flip(row_of_variable);  // the write behind it waits for its answer anyway
  flip(row_of_variable + 1);
  flip(rows - 1);  // nothing is read behind it
  EXPECT_EQ(cycles(), (std::vector<uint64_t>{rows + 3 + 5 + 1, 7}));
  // A flip between the begin of a job and a declaration.
  set(kVariable, kSram, 0);
  bench.vpu->custom = [&](const engine::Tile&, engine::MemoryView&, bool) {
    for (const uint32_t row : {0u, row_of_variable, rows - 1}) flip(row);
    return engine::TileResult{};
  };
  Stream stream(caps);
  stream.add(ewise(spm(0), spm(0x100), 64));
  contract::DeclareCommand declaration;
  declaration.header.queue = contract::Queue::kSequencer;
  declaration.variable = kVariable;
  declaration.hash = kHash;
  stream.add(declaration, {{kVpuQueue, 1}});
  fake->cycles.clear();
  EXPECT_EQ(run(stream), ErrorCode::kOk);
  EXPECT_EQ(fake->cycles, (std::vector<uint64_t>{rows + 3, rows + 7 + 2}));
}

TEST_P(PersistentBackEndTest, TheDeviceUsesItsBytesAndStatus) {
  fake->wrong_byte = 0xa7;
  fake->more_corrected = 5;
  EXPECT_EQ(run(both()), ErrorCode::kOk);
  EXPECT_EQ(bench.memory.data[0x1000], 0xa7);
  EXPECT_EQ(bench.read(reg::kEccCorrected), 5u);
}

TEST_P(PersistentBackEndTest, ItsRefusalsAreFaults) {
  for (const TableOp op :
       {TableOp::kDeclare, TableOp::kCheck, TableOp::kCheckRead, TableOp::kWriteBegin, TableOp::kCommit}) {
    fake->answers = op;
    fake->error = ErrorCode::kVariableTorn;
    EXPECT_EQ(run(both()), ErrorCode::kVariableTorn) << static_cast<int>(op);
    EXPECT_EQ(bench.read(reg::kFaultOther), kVariable);
  }
}

TEST_P(PersistentBackEndTest, AFailureStopsTheJobAndThoseToCome) {
  fake->failed = ErrorCode::kElementsDiffer;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(both()), ErrorCode::kElementsDiffer);
  }
}

TEST_P(PersistentBackEndTest, HearsOfPowerFlipsAndScrubs) {
  bench.npu.flip_bit(kSram + 8, 66);
  bench.write(reg::kPsramScrub, reg::kPsramScrubStartMask);
  bench.write(reg::kPsramPower, static_cast<uint32_t>(contract::PsramPower::kOff));
  uint32_t word = 0;
  bench.transport(tlm::TLM_READ_COMMAND, contract::kPsramWindow + kSram, &word, 4);
  bench.write(reg::kPsramStatus, reg::kPsramStatusLostMask);
  bench.write(reg::kPsramPower, static_cast<uint32_t>(contract::PsramPower::kOn));
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlColdResetMask); });
  const auto power = [](contract::PsramPower state) { return "power " + std::to_string(static_cast<int>(state)); };
  EXPECT_EQ(fake->asked,
            (std::vector<std::string>{"flip 129.66", "scrub 0", power(contract::PsramPower::kOff), "refuse",
                                      "acknowledge", power(contract::PsramPower::kOn), "reset"}));
}

// Its bytes are as they are, and wrong bits in them are as wrong as before.
TEST_P(PersistentBackEndTest, WhatAStoppedWriteLeavesIsPut) {
  bench.npu.flip_bit(kSram + kLength / 2, 1);
  bench.npu.brown_out(20);
  EXPECT_EQ(run(both()), ErrorCode::kFaultPower);
  EXPECT_EQ(fake->asked.back(), "put 32 with 1");
}

}  // namespace
}  // namespace npu::model::testing
