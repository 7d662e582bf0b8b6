// SPDX-License-Identifier: Apache-2.0
// The persistent SRAM on RTL by itself, and what lockstep says of blocks that are wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "hw/contract/error.h"
#include "hw/timing/table_cycles.h"
#include "rtl/verilated/machines.h"
#include "sim/cosim/blocks.h"
#include "sim/cosim/rtl_persistent_sram.h"
#include "tests/block/other_persistent_sram.h"

namespace npu::cosim {
namespace {

using contract::ErrorCode;
using contract::PsramPower;
using contract::VariableEntry;
using engine::TableAnswer;
using engine::TableOp;
using engine::TableRequest;
using rtl::PersistentSram;
using rtl::test::OtherPersistentSram;

constexpr engine::VariableTable::Job kJob = {7, 3};
constexpr uint32_t kIndex = 2, kHash = 0x55, kLength = 48;

// A device's side of the seam: the image, and what the model would say.
class PersistentSramOnRtl : public testing::TestWithParam<std::string> {
 protected:
  void make(bool lockstep, std::unique_ptr<PersistentSram> block) {
    image_.assign(caps_.psram_bytes, 0);
    sram_.emplace(std::move(block), lockstep, record_, [this](ErrorCode code, const std::string& text) {
      failure_ = code;
      text_ = text;
    });
    sram_->connect(image_);
  }
  void make(bool lockstep) { make(lockstep, right()); }
  std::unique_ptr<PersistentSram> right() { return make_rtl_persistent_sram(caps_); }

  // The host writes bytes, the entry of a variable.
  void write(uint64_t low, const std::vector<uint8_t>& bytes) {
    std::copy(bytes.begin(), bytes.end(), image_.begin() + static_cast<int64_t>(low));
    sram_->write(low, low + bytes.size(), true);
  }
  void add_variable() {
    VariableEntry entry;
    entry.base = base_;
    entry.length = kLength;
    entry.owner = kJob.owner;
    entry.hash = kHash;
    std::vector<uint8_t> bytes(VariableEntry::kBytes);
    entry.store(bytes.data());
    write(kIndex * VariableEntry::kBytes, bytes);
  }
  engine::VariableTable table() { return {image_, caps_.var_entries, caps_.psram_port_bytes}; }

  ErrorCode begin() {
    return sram_
        ->operate({TableOp::kBeginJob, 0, 0, 0, 0, kJob},
                  {ErrorCode::kOk, 0, timing::table_cycles(accesses_.begin_job())})
        .error;
  }
  ErrorCode declare() {
    table().declare(kIndex, kJob.epoch);
    return sram_
        ->operate({TableOp::kDeclare, kIndex, kHash, 0, 0, kJob},
                  {ErrorCode::kOk, 0, timing::table_cycles(accesses_.declare(false))})
        .error;
  }
  // A write of the whole variable, then a read.
  void use() {
    begin();
    declare();
    static_cast<void>(
        sram_->operate(request(TableOp::kCheck), {ErrorCode::kOk, 0, timing::table_cycles(accesses_.check())}));
    table().begin_write(kIndex);
    static_cast<void>(sram_->operate(request(TableOp::kWriteBegin),
                                     {ErrorCode::kOk, 0, timing::table_cycles(accesses_.begin_write())}));
    for (uint32_t i = 0; i < kLength; ++i) image_[base_ + i] = static_cast<uint8_t>(3 * i + 1);
    sram_->write(base_, base_ + kLength, false);
    table().commit_write(kIndex);
    static_cast<void>(sram_->operate({TableOp::kCommit, kIndex, 0, 0, 0, kJob},
                                     {ErrorCode::kOk, 0, timing::table_cycles(accesses_.commit())}));
    static_cast<void>(
        sram_->operate(request(TableOp::kCheckRead), {ErrorCode::kOk, 0, timing::table_cycles(accesses_.check())}));
    static_cast<void>(sram_->read(base_, base_ + kLength, false, std::nullopt));
  }
  static TableRequest request(TableOp op) { return {op, kIndex, 0, 0, kLength, kJob}; }

  void expect_difference(const std::string& text) {
    EXPECT_EQ(failure_, ErrorCode::kElementsDiffer);
    EXPECT_EQ(sram_->failure(), ErrorCode::kElementsDiffer);
    EXPECT_NE(text_.find(text), std::string::npos) << text_;
  }

  const contract::Capabilities caps_ = rtl::sizes_of(GetParam());
  const timing::TableAccesses accesses_ = timing::TableAccesses::of(caps_);
  const uint32_t base_ = caps_.psram_bytes / 2;
  std::vector<uint8_t> image_;
  PersistentRecord record_;
  ErrorCode failure_ = ErrorCode::kOk;
  std::string text_;
  std::optional<RtlPersistentSram> sram_;
};

TEST_P(PersistentSramOnRtl, LockstepFindsNothingInTheRightBlock) {
  make(true);
  add_variable();
  use();
  sram_->flip(base_ / 8, 5);
  EXPECT_EQ(sram_->read(base_, base_ + 8, false, std::nullopt), std::nullopt);
  static_cast<void>(sram_->status({false, 1}));
  sram_->flip(base_ / 8 + 1, 5);
  sram_->flip(base_ / 8 + 1, 70);
  EXPECT_EQ(sram_->read(base_, base_ + 16, false, base_ + 8), base_ + 8);
  sram_->scrub(1);
  sram_->set_power(PsramPower::kRetention);
  sram_->refuse(base_);
  sram_->flip(0, 3);  // waits for power
  sram_->set_power(PsramPower::kOn);
  EXPECT_EQ(sram_->read(0, 8, true, std::nullopt), std::nullopt);
  static_cast<void>(sram_->status({false, 2}));
  sram_->put(base_ + 9, base_ + 11, {});  // mends the word
  EXPECT_EQ(sram_->read(base_, base_ + 16, false, std::nullopt), std::nullopt);
  sram_->set_power(PsramPower::kOff);
  std::fill(image_.begin(), image_.end(), uint8_t{0});
  sram_->set_power(PsramPower::kOn);
  static_cast<void>(sram_->status({true, 2}));
  sram_->acknowledge_loss();
  static_cast<void>(sram_->status({false, 2}));
  sram_->finish();
  EXPECT_EQ(failure_, ErrorCode::kOk) << text_;
  EXPECT_EQ(record_.operations, 6u);
  EXPECT_GT(record_.compared, caps_.psram_bytes / 8u);
  EXPECT_EQ(record_.cycles.count, 8u);  // and it cleared itself twice
  EXPECT_TRUE(record_.cycles.all_exact());
}

TEST_P(PersistentSramOnRtl, TheDeviceGoesOnWithTheRtlsBytesAndAnswers) {
  make(false);
  add_variable();
  use();
  const std::vector<uint8_t> wanted = image_;
  // An image that has gone wrong is put right by what is read.
  std::fill(image_.begin(), image_.end(), uint8_t{0xee});
  EXPECT_EQ(sram_->read(base_, base_ + kLength, false, std::nullopt), std::nullopt);
  EXPECT_TRUE(std::equal(wanted.begin() + base_, wanted.begin() + base_ + kLength, image_.begin() + base_));
  EXPECT_EQ(begin(), ErrorCode::kOk);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.begin() + table().bytes(), image_.begin()));
  // What the model would allow.
  EXPECT_EQ(sram_->operate({TableOp::kDeclare, kIndex, kHash + 1, 0, 0, kJob}, {}).error, ErrorCode::kVariableMismatch);
  EXPECT_EQ(sram_->operate(request(TableOp::kCheckRead), {ErrorCode::kVariableTorn, 0, 0}).error, ErrorCode::kOk);
  sram_->flip(0, 1);
  sram_->flip(0, 2);
  EXPECT_EQ(begin(), ErrorCode::kFaultEcc);
  EXPECT_EQ(sram_->status({true, 99}).corrected, 0u);
  EXPECT_EQ(failure_, ErrorCode::kOk) << text_;
}

TEST_P(PersistentSramOnRtl, LockstepFindsAWrongByte) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    void access(const Access& access) override {
      std::vector<uint8_t> data(access.data.begin(), access.data.end());
      Access other = access;
      if (access.write && !access.privileged) data[3] ^= 0x40;
      other.data = data;
      OtherPersistentSram::access(other);
    }
  };
  make(true, std::make_unique<Wrong>(right()));
  add_variable();
  use();
  expect_difference("of the persistent SRAM: RTL ");
}

TEST_P(PersistentSramOnRtl, LockstepFindsAMarkThatIsMissing) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    void operate(const Operation& operation) override {
      Operation other = operation;
      if (other.op == Op::kWriteBegin) other.op = Op::kCheck;
      OtherPersistentSram::operate(other);
    }
  };
  make(true, std::make_unique<Wrong>(right()));
  add_variable();
  use();
  expect_difference("of the persistent SRAM: RTL ");
  EXPECT_FALSE(record_.cycles.all_exact());
}

TEST_P(PersistentSramOnRtl, LockstepFindsAWrongAnswerAndPlace) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    [[nodiscard]] Place operation_place() const override { return {false, 8}; }
  };
  make(true, std::make_unique<Wrong>(right()));
  add_variable();
  use();
  expect_difference("check of variable 2, place: RTL 0x8, model");

  failure_ = ErrorCode::kOk;
  make(true);
  add_variable();
  begin();
  EXPECT_EQ(sram_->operate({TableOp::kDeclare, kIndex, kHash + 1, 0, 0, kJob}, {}).error, ErrorCode::kOk);
  expect_difference("declaration of variable 2: RTL variable_mismatch, model ok");
}

TEST_P(PersistentSramOnRtl, LockstepFindsWrongBitsThatAreNotFoundOrCounted) {
  struct Wrong final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    void inject(uint32_t row, uint32_t lane, uint64_t data_flips, uint8_t) override {
      OtherPersistentSram::inject(row, lane, data_flips, 0);
    }
  };
  make(true, std::make_unique<Wrong>(right()));
  sram_->flip(base_ / 8, 64);
  EXPECT_EQ(sram_->read(base_, base_ + 8, true, std::nullopt), std::nullopt);
  EXPECT_EQ(sram_->status({false, 1}).corrected, 1u);
  expect_difference("count of corrected bits: RTL 0x0, model 0x1");

  make(true, std::make_unique<Wrong>(right()));
  sram_->flip(base_ / 8, 0);
  sram_->flip(base_ / 8, 64);
  EXPECT_EQ(sram_->read(base_, base_ + 8, true, base_), base_);
  expect_difference("word with two wrong bits");
}

// What was never read is compared in the end.
TEST_P(PersistentSramOnRtl, LockstepComparesAllContentsInTheEnd) {
  make(true);
  image_.back() = 1;
  sram_->finish();
  expect_difference("of the persistent SRAM: RTL 0x0");
}

TEST_P(PersistentSramOnRtl, ABlockThatHangsStopsTheRun) {
  struct Hanging final : OtherPersistentSram {
    using OtherPersistentSram::OtherPersistentSram;
    [[nodiscard]] bool operation_done() const override { return false; }
  };
  make(false, std::make_unique<Hanging>(right()));
  begin();
  EXPECT_EQ(failure_, ErrorCode::kBug);
  EXPECT_EQ(sram_->failure(), ErrorCode::kBug);
  EXPECT_NE(text_.find("the RTL has not ended an operation after"), std::string::npos) << text_;
  // Nothing more is asked of it.
  EXPECT_EQ(declare(), ErrorCode::kOk);
  EXPECT_EQ(record_.operations, 1u);
}

TEST_P(PersistentSramOnRtl, OtherSizesAreRefused) {
  contract::Capabilities other = caps_;
  other.psram_bytes *= 2;
  EXPECT_FALSE(has_rtl_persistent_sram(other));
  EXPECT_TRUE(has_rtl_persistent_sram(caps_));
  try {
    (void)make_rtl_persistent_sram(other);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadPreset);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, PersistentSramOnRtl, testing::Values("nano", "edge"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace npu::cosim
