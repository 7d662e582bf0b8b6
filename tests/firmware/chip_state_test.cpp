// SPDX-License-Identifier: Apache-2.0
// Variables, power and error correction of the persistent SRAM, asked for by the firmware's requests on the model's
// chip.
#include "tests/firmware/chip_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
namespace mt = model::testing;
using contract::ErrorCode;
using contract::Request;

class ChipStateTest : public ChipTest {
 protected:
  static constexpr uint32_t kOwner = 7, kHash = 0x77, kPlace = 0x400, kBytes = 64;

  void SetUp() override {
    ChipTest::SetUp();
    boot();
    open(1, 0, kOwner);
    write_entry();
  }
  void write_entry() { ask(Request::kVariableWrite, {2, kPlace, kBytes, kOwner, kHash}); }
  // Epochs must differ.
  contract::Job with_epoch(contract::Job job) {
    job.epoch = ++epoch;
    return job;
  }
  contract::Job writing() {
    Stream stream(bench.caps());
    stream.declare(2, kHash);
    contract::DmaCommand store = mt::copy(0, mt::dram(0), mt::variable(2), kBytes);
    store.commit = true;
    stream.add(store);
    return with_epoch(job(0, put(0, 0, stream)));
  }
  contract::Job reading() {
    Stream stream(bench.caps());
    stream.declare(2, kHash);
    stream.add(mt::copy(0, mt::variable(2), mt::dram(0x4000), kBytes));
    return with_epoch(job(1, put(1, 0, stream)));
  }
  contract::RingCompletion run(const contract::Job& job, ErrorCode expected) {
    driver.run(1, job, 0);
    return finish(1, expected);
  }
  void refused(Request type, const std::vector<uint32_t>& value, ErrorCode expected) {
    driver.submit(0, type, 0, value);
    finish(0, expected);
  }
  uint32_t epoch = 0;
};

TEST_F(ChipStateTest, RetentionKeepsAndAJobWakes) {
  run(writing(), ErrorCode::kOk);
  ask(Request::kPersistentPower, {1});
  EXPECT_EQ(bench.read_register(reg::kCpuStatus) & reg::kCpuStatusStoppedMask, 0u);
  refused(Request::kVariableRead, {2}, ErrorCode::kFaultPower);
  run(reading(), ErrorCode::kOk);
  EXPECT_TRUE(copied(0, 0x4000, kBytes));
}

TEST_F(ChipStateTest, OffLosesUntilItIsAcknowledged) {
  run(writing(), ErrorCode::kOk);
  ask(Request::kPersistentPower, {2});
  const auto lost = run(reading(), ErrorCode::kPowerLost);
  EXPECT_EQ(lost.fault_other, 2u);
  ask(Request::kAcknowledgeLoss, {});
  run(reading(), ErrorCode::kFaultBadRegion);  // the table is empty
  write_entry();
  run(reading(), ErrorCode::kVariableUnwritten);
  run(writing(), ErrorCode::kOk);
  run(reading(), ErrorCode::kOk);
  EXPECT_TRUE(copied(0, 0x4000, kBytes));
}

TEST_F(ChipStateTest, AfterABrownOutTheNextJobPowersUp) {
  run(writing(), ErrorCode::kOk);
  bench.write_register(reg::kTestBrownout, kBytes + 5);
  run(writing(), ErrorCode::kOk);
  EXPECT_EQ(bench.read_register(reg::kTestBrownout), 5u);
  const auto broken = run(writing(), ErrorCode::kFaultPower);
  EXPECT_EQ(broken.fault_command, 2u);
  EXPECT_EQ(bench.read_register(reg::kTestBrownout), 0u);
  const auto torn = run(reading(), ErrorCode::kVariableTorn);
  EXPECT_EQ(torn.fault_other, 2u);
  run(writing(), ErrorCode::kOk);
  run(reading(), ErrorCode::kOk);
  EXPECT_TRUE(copied(0, 0x4000, kBytes));
}

TEST_F(ChipStateTest, DamagedWordsAreFoundAndMended) {
  run(writing(), ErrorCode::kOk);
  const auto damage = [&](uint32_t address, uint32_t bits) {
    bench.write_register(reg::kTestFlipAddress, address);
    for (uint32_t bit = 0; bit < bits; ++bit) bench.write_register(reg::kTestFlipBit, 63 + bit);
  };
  damage(kPlace, 1);
  run(reading(), ErrorCode::kOk);
  EXPECT_EQ(bench.read_register(reg::kEccCorrected), 1u);
  damage(kPlace + 8, 2);
  damage(kPlace + 16, 1);
  EXPECT_EQ(ask(Request::kScrub, {}).value, (std::array<uint32_t, 4>{1, 1, kPlace + 8, 0}));
  const auto fault = run(reading(), ErrorCode::kFaultEcc);
  EXPECT_EQ(fault.fault_other, 2u);
  EXPECT_EQ(fault.fault_address & 0xffffffff, 8u);
  run(writing(), ErrorCode::kOk);
  run(reading(), ErrorCode::kOk);
  EXPECT_EQ(bench.read_register(reg::kEccUncorrectable), 2u);
  // An entry: all jobs stop until it is written anew.
  damage(2 * 16, 2);
  refused(Request::kVariableRead, {2}, ErrorCode::kFaultEcc);
  EXPECT_EQ(run(reading(), ErrorCode::kFaultEcc).fault_other, 2u);
  write_entry();
  run(writing(), ErrorCode::kOk);
}

}  // namespace
}  // namespace npu::firmware_test
