// SPDX-License-Identifier: Apache-2.0
// Writes of variables: their marks, what tears, two places, and places in DRAM.
#include "tests/unit/model/variable_bench.h"

namespace npu::model::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;

class VariableWriteTest : public VariableBench {};

INSTANTIATE_TEST_SUITE_P(, VariableWriteTest, ::testing::Values(Mode::kTimed, Mode::kFunctional), name_of_mode);

TEST_P(VariableWriteTest, WithoutCommitTheMarkStays) {
  set(kVariable, kSram, kWritten);
  Stream half = declared();
  half.add(store(0, 0, 32, false));
  ASSERT_EQ(run(half), ErrorCode::kOk);
  EXPECT_EQ(flags(), kWritten | kWriting);
  // The next execution finds it torn, in whichever order they look.
  Stream read = declared();
  read.add(load(0, 0x1000));
  EXPECT_EQ(run(read), ErrorCode::kVariableTorn);
  EXPECT_EQ(bench.read(reg::kFaultOther), kVariable);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 2u);
  EXPECT_EQ(flags(), kWritten | kTorn);
  Stream engine = declared();
  engine.add(ewise(variable(kVariable), spm(0), kLength));
  EXPECT_EQ(run(engine), ErrorCode::kVariableTorn);
  // Only a whole write mends it.
  Stream write = declared();
  write.add(store(0, 0, 32, false));
  write.add(store(0, 32, 32, true, 32));
  write.add(load(0, 0x1000), {{0, 1}});
  EXPECT_EQ(run(write), ErrorCode::kOk);
  EXPECT_EQ(flags(), kWritten);
  EXPECT_EQ(memory(0x1000), memory(0));
}

TEST_P(VariableWriteTest, AJobMayReadWhatItIsWriting) {
  set(kVariable, kSram, kWritten);
  Stream stream = declared();
  stream.add(store(0, 0, 32, false));
  stream.add(load(0, 0x1000), {{0, 1}});
  stream.add(store(0, 32, 32, true, 32));
  EXPECT_EQ(run(stream), ErrorCode::kOk);
  EXPECT_EQ(memory(0x1000, 32), memory(0, 32));
  EXPECT_EQ(flags(), kWritten);
}

TEST_P(VariableWriteTest, AFaultAfterTheFirstByteTears) {
  set(kVariable, kSram, kWritten);
  set(3, kSram + kLength, 0);
  Stream stream = declared({kVariable, 3});
  stream.add(store(0, 0, 32, false));
  stream.add(copy(1, variable(3), dram(0x1000), 4), {{0, 1}});
  stream.add(store(0, 32, 32, true, 32), {{1, 1}});
  EXPECT_EQ(run(stream), ErrorCode::kVariableUnwritten);
  EXPECT_EQ(flags(), kWritten | kWriting);
  Stream read = declared();
  read.add(load(0, 0x1000));
  EXPECT_EQ(run(read), ErrorCode::kVariableTorn);
}

TEST_P(VariableWriteTest, AHungWriteTears) {
  set(kVariable, kSram, kWritten);
  bench.npu.hang(0, 1);
  Stream stream = declared();
  stream.add(store(0, 0, kLength, true));
  bench.write(reg::kJobEpoch, ++epoch);
  bench.start(stream.finish());
  sc_core::sc_start(20, sc_core::SC_US);
  ASSERT_TRUE(bench.npu.running());
  bench.in_thread([&] { bench.write(reg::kControl, reg::kControlSoftResetMask); });
  EXPECT_EQ(flags(), kWritten | kWriting);
  Stream read = declared();
  read.add(load(0, 0x1000));
  EXPECT_EQ(run(read), ErrorCode::kVariableTorn);
}

TEST_P(VariableWriteTest, OfTwoPlacesTheOldValueStays) {
  set(kVariable, kSram, kDouble);
  Stream write = declared();
  write.add(store(0, 0x100, kLength, true));
  ASSERT_EQ(run(write), ErrorCode::kOk);
  EXPECT_EQ(flags(), kWritten | kDouble | kSecond);
  EXPECT_EQ(sram(kSram + kLength), memory(0x100));
  Stream half = declared();
  half.add(store(0, 0x200, 32, false));
  ASSERT_EQ(run(half), ErrorCode::kOk);
  EXPECT_EQ(sram(kSram, 32), memory(0x200, 32));  // it went to the other place
  Stream read = declared();
  read.add(load(0, 0x1000));
  ASSERT_EQ(run(read), ErrorCode::kOk);
  EXPECT_EQ(memory(0x1000), memory(0x100));
  EXPECT_EQ(flags(), kWritten | kDouble | kSecond);
}

// Two writes in one execution, with reads before, between and behind; in the FIFOs before the first has completed.
TEST_P(VariableWriteTest, OfTwoPlacesAReadSeesTheWriteBeforeIt) {
  set(kVariable, kSram, kDouble);
  Stream first = declared();
  first.add(store(0, 0x100, kLength, true));
  ASSERT_EQ(run(first), ErrorCode::kOk);
  Stream stream = declared();
  stream.add(load(1, 0x1000));
  stream.add(store(0, 0x200, kLength, true), {{1, 1}});
  stream.add(load(1, 0x2000), {{0, 1}});
  stream.add(store(0, 0x300, kLength, true), {{1, 1}});
  stream.add(load(1, 0x3000), {{0, 1}});
  ASSERT_EQ(run(stream), ErrorCode::kOk);
  EXPECT_EQ(memory(0x1000), memory(0x100));
  EXPECT_EQ(memory(0x2000), memory(0x200));
  EXPECT_EQ(memory(0x3000), memory(0x300));
  EXPECT_EQ(flags(), kWritten | kDouble | kSecond);
  EXPECT_EQ(sram(kSram + kLength), memory(0x300));
}

// Rows that no index chooses would be those of the other place.
TEST_P(VariableWriteTest, OfTwoPlacesAScatterLeavesNoRows) {
  constexpr uint32_t kRowBytes = 16, kRows = kLength / kRowBytes, kIndices = 0x3000;
  const std::array<int32_t, 2> rows = {2, 0};
  std::memcpy(bench.memory.data.data() + kIndices, rows.data(), sizeof(rows));
  contract::DmaCommand scatter = store(0, 0x200, kRowBytes, true);
  scatter.mode = contract::DmaMode::kScatter;
  scatter.count = {1, kRows, rows.size(), 1, 1};
  scatter.dst_stride[1] = scatter.src_stride[2] = kRowBytes;
  scatter.index = dram(kIndices);
  Stream stream = declared();
  stream.add(scatter);
  for (const uint8_t place : {uint8_t{0}, kSecond}) {
    set(kVariable, kSram, kDouble | kWritten | place);
    EXPECT_EQ(run(stream), ErrorCode::kFaultBadCommand);
    EXPECT_EQ(bench.read(reg::kFaultCommand), 2u);
    EXPECT_EQ(bench.read(reg::kFaultOther), kVariable);
    EXPECT_EQ(flags(), kDouble | kWritten | place);
  }
  set(kVariable, kSram, kWritten);
  set_sram(kSram, memory(0x100));
  ASSERT_EQ(run(stream), ErrorCode::kOk);
  std::vector<uint8_t> want = memory(0x100);
  const std::vector<uint8_t> fresh = memory(0x200, 2 * kRowBytes);
  std::copy_n(fresh.begin(), kRowBytes, want.begin() + 2 * kRowBytes);
  std::copy_n(fresh.begin() + kRowBytes, kRowBytes, want.begin());
  EXPECT_EQ(sram(kSram), want);
}

// What a write leaves out of its place would be of the value before the last one.
TEST_P(VariableWriteTest, OfTwoPlacesAWriteCoversAllOfItsPlace) {
  set(kVariable, kSram, kDouble | kWritten);
  Stream half = declared();
  half.add(store(0, 0, 32, true));
  EXPECT_EQ(run(half), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 2u);
  EXPECT_EQ(bench.read(reg::kFaultOther), kVariable);
  EXPECT_EQ(flags(), kDouble | kWritten);
  Stream gap = declared();  // a byte in the middle
  gap.add(store(0, 0, 31, false));
  gap.add(store(0, 32, 32, true, 32));
  EXPECT_EQ(run(gap), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 3u);
  Stream once_more = declared();  // what the first write covered counts for that one
  once_more.add(store(0, 0, kLength, true));
  once_more.add(store(0, 0x100, 32, true));
  EXPECT_EQ(run(once_more), ErrorCode::kFaultBadCommand);
  EXPECT_EQ(bench.read(reg::kFaultCommand), 3u);
  Stream pieces = declared();  // in any order, and twice
  for (const uint32_t at : {48u, 0u, 16u}) pieces.add(store(0, 0x200 + at, 16, false, at));
  pieces.add(store(0, 0x208, 40, true, 8));
  pieces.add(load(0, 0x1000), {{0, 1}});
  EXPECT_EQ(run(pieces), ErrorCode::kOk);
  EXPECT_EQ(memory(0x1000), memory(0x200));
  // With one place the rest of the old value stays, as a scatter wants it.
  set(kVariable, kSram, kWritten);
  EXPECT_EQ(run(half), ErrorCode::kOk);
}

TEST_P(VariableWriteTest, OfTwoPlacesAMissingTokenIsFoundByPlace) {
  set(kVariable, kSram, kDouble | kWritten);
  Stream write_behind_read = declared();  // other bytes: no order needed
  write_behind_read.add(load(1, 0x1000));
  write_behind_read.add(store(0, 0x200, kLength, true));
  EXPECT_EQ(run(write_behind_read), ErrorCode::kOk);
  Stream read_behind_write = declared();
  read_behind_write.add(store(0, 0x200, kLength, true));
  read_behind_write.add(load(1, 0x1000));
  EXPECT_EQ(run(read_behind_write), ErrorCode::kFaultHazard);
  Stream second_write = declared();  // over what the first command reads
  second_write.add(load(1, 0x1000));
  second_write.add(store(0, 0x200, kLength, true));
  second_write.add(store(0, 0x300, kLength, true));
  EXPECT_EQ(run(second_write), ErrorCode::kFaultHazard);
}

// The read touches none of the bytes that the last part of the write stores, but only the commit makes them readable.
TEST_P(VariableWriteTest, AReadComesBehindWhatCompletedTheWrite) {
  for (const uint8_t two : {uint8_t{0}, kDouble}) {
    set(kVariable, kSram, two);
    const auto reading_behind = [](uint32_t part) {
      Stream stream = declared();
      stream.add(store(0, 0x100, 32, false));
      stream.add(store(1, 0x120, 32, true, 32), {{0, 1}});
      stream.add(copy(2, variable(kVariable), dram(0x1000), 32), {{part, 1}});
      return stream;
    };
    EXPECT_EQ(run(reading_behind(0)), ErrorCode::kFaultHazard) << uint32_t{two};
    EXPECT_EQ(bench.read(reg::kFaultCommand), 4u);
    EXPECT_EQ(bench.read(reg::kFaultOther), 3u);
    set(kVariable, kSram, two);
    EXPECT_EQ(run(reading_behind(1)), ErrorCode::kOk) << uint32_t{two};
    EXPECT_EQ(memory(0x1000, 32), memory(0x100, 32));
    // What reads the old value is not in the way.
    Stream before = declared();
    before.add(load(2, 0x1000));
    before.add(store(0, 0x200, kLength, true));
    EXPECT_EQ(run(before), two != 0 ? ErrorCode::kOk : ErrorCode::kFaultHazard);
  }
}

TEST_P(VariableWriteTest, EnginesUpdateInPlaceOrToTheOtherPlace) {
  for (const uint8_t two : {uint8_t{0}, kDouble}) {
    set(kVariable, kSram, two);
    Stream first = declared();
    first.add(store(0, 0x100, kLength, true));
    ASSERT_EQ(run(first), ErrorCode::kOk);
    Stream update = declared();
    contract::VpuEwiseCommand command = ewise(variable(kVariable), variable(kVariable), kLength);
    command.commit = true;
    update.add(command);
    update.add(load(0, 0x1000), {{kVpuQueue, 1}});
    ASSERT_EQ(run(update), ErrorCode::kOk);
    bench.expect_identities();
    EXPECT_EQ(memory(0x1000), memory(0x100));
    EXPECT_EQ(flags(), kWritten | two);  // current is the first place again
    EXPECT_EQ(sram(kSram), memory(0x100));
  }
}

TEST_P(VariableWriteTest, TwoStoresOfOneCommandAreOneWrite) {
  set(kVariable, kSram, kDouble);
  Stream stream = declared();
  contract::VpuEwiseCommand command = ewise(spm(0), variable(kVariable), 32);
  contract::Operand half = command.operands[1];
  half.base = variable(kVariable, 32);
  command.operands.push_back(half);
  contract::Uop store = command.uops[1];
  store.b = 2;
  command.uops.push_back(store);
  command.commit = true;
  stream.add(command);
  ASSERT_EQ(run(stream), ErrorCode::kOk);
  EXPECT_EQ(flags(), kWritten | kDouble | kSecond);
}

TEST_P(VariableWriteTest, LivesInDram) {
  for (const uint8_t two : {uint8_t{0}, kDouble}) {
    set(kVariable, kDram / 64, kInDram | two);
    Stream write = declared();
    write.add(store(0, 0x100, kLength, true));
    write.add(load(1, 0x1000), {{0, 1}});
    ASSERT_EQ(run(write), ErrorCode::kOk);
    bench.expect_identities();
    EXPECT_EQ(memory(0x1000), memory(0x100));
    EXPECT_EQ(memory(two != 0 ? kDram + kLength : kDram), memory(0x100));
    EXPECT_EQ(flags(), kWritten | kInDram | two | (two != 0 ? kSecond : 0));
    EXPECT_EQ(bench.counter(0, contract::Counter::kDramWritten), kLength);
    EXPECT_EQ(bench.counter(0, contract::Counter::kPsramWritten), 0u);
    Stream unordered = declared();
    unordered.add(store(0, 0x100, kLength, true));
    unordered.add(load(1, 0x1000));
    EXPECT_EQ(run(unordered), ErrorCode::kFaultHazard);
  }
}

TEST_P(VariableWriteTest, EnginesDoNotReachDram) {
  set(kVariable, kDram / 64, kInDram | kWritten);
  Stream stream = declared();
  stream.add(ewise(variable(kVariable), spm(0), kLength));
  EXPECT_EQ(run(stream), ErrorCode::kFaultAccessRight);
  EXPECT_EQ(bench.read(reg::kFaultOther), kVariable);
  EXPECT_EQ(bench.vpu->runs, 0);
}

TEST_P(VariableWriteTest, InDramBothPlacesLieInTheMemory) {
  const uint32_t end = (small_machine().dram_mib << 20) / 64;
  set(kVariable, end - 2, kInDram | kDouble | kWritten);
  Stream stream = declared();
  stream.add(load(0, 0x1000));
  EXPECT_EQ(run(stream), ErrorCode::kOk);
  set(kVariable, end - 1, kInDram | kDouble | kWritten);
  EXPECT_EQ(run(declared()), ErrorCode::kFaultOutOfBounds);
  set(kVariable, end - 1, kInDram | kWritten);
  EXPECT_EQ(run(declared()), ErrorCode::kOk);
  set(kVariable, UINT32_MAX, kInDram | kWritten, UINT32_MAX);
  EXPECT_EQ(run(declared()), ErrorCode::kFaultOutOfBounds);
}

// What a variable has in DRAM is reached through the table only, even where a region of the job lies over it.
TEST_P(VariableWriteTest, NoRegionReachesAVariableInDram) {
  const uint32_t at = Bench::kWorkspaceBytes - 0x1000;
  set(kVariable, at / 64, kInDram | kDouble | kWritten);
  Stream before(small_machine());
  before.add(copy(0, dram(at - 64), spm(0), 64));
  EXPECT_EQ(run(before), ErrorCode::kOk);
  for (const uint32_t offset : {0u, 127u}) {
    Stream read(small_machine());
    read.add(copy(0, dram(at + offset), spm(0), 1));
    EXPECT_EQ(run(read), ErrorCode::kFaultAccessRight) << offset;
    Stream write(small_machine());
    write.add(copy(0, spm(0), dram(at + offset), 1));
    EXPECT_EQ(run(write), ErrorCode::kFaultAccessRight) << offset;
    EXPECT_EQ(bench.read(reg::kFaultAddressLo), at + offset);
  }
  Stream behind(small_machine());
  behind.add(copy(0, spm(0), dram(at + 128), 64));
  EXPECT_EQ(run(behind), ErrorCode::kOk);
}

// The mark of a write that a preemption divides stays, and the job goes on without declaring anew.
TEST_P(VariableWriteTest, APreemptedWriteGoesOn) {
  set(kVariable, kSram, kWritten);
  Stream stream = declared();
  stream.add(store(0, 0, 32, false));
  stream.yield(0);
  stream.add(store(0, 32, 32, true, 32));
  const std::vector<uint32_t> words = stream.finish();
  bench.write(reg::kJobEpoch, ++epoch);
  ASSERT_TRUE(bench.run(words, 0, reg::kControlPreemptMask));
  ASSERT_NE(bench.read(reg::kStatus) & reg::kStatusPreemptedMask, 0u);
  EXPECT_EQ(flags(), kWritten | kWriting);
  ASSERT_TRUE(bench.run(words, bench.read(reg::kCommandNext)));
  EXPECT_EQ(bench.fault(), ErrorCode::kOk);
  EXPECT_EQ(flags(), kWritten);
  EXPECT_EQ(sram(kSram), memory(0));
}

}  // namespace
}  // namespace npu::model::testing
