// SPDX-License-Identifier: Apache-2.0
#include "hw/contract/gen/errors.h"

#include <gtest/gtest.h>

#include "hw/contract/error.h"

namespace npu {
namespace {

using contract::ErrorCode;

TEST(Errors, CodesCarryTheirExitStatus) {
  EXPECT_EQ(static_cast<uint32_t>(ErrorCode::kOk), 0u);
  EXPECT_EQ(static_cast<uint32_t>(ErrorCode::kRequireFailed), 0x101u);
  EXPECT_EQ(exit_status(ErrorCode::kFileDamaged), 2);
  EXPECT_EQ(exit_status(ErrorCode::kVersionUnsupported), 3);
  EXPECT_EQ(exit_status(ErrorCode::kScratchpadFull), 4);
  EXPECT_EQ(exit_status(ErrorCode::kFaultHazard), 5);
  EXPECT_EQ(exit_status(ErrorCode::kPowerLost), 6);
  EXPECT_EQ(exit_status(ErrorCode::kElementsDiffer), 7);
  EXPECT_EQ(exit_status(ErrorCode::kBadPreset), 64);
  EXPECT_EQ(exit_status(ErrorCode::kCannotRead), 66);
  EXPECT_EQ(exit_status(ErrorCode::kBug), 70);
}

TEST(Errors, HaveNamesAndDescriptions) {
  EXPECT_EQ(name(ErrorCode::kVariableUnwritten), "variable_unwritten");
  EXPECT_EQ(describe(ErrorCode::kOk), "No error.");
  EXPECT_EQ(name(static_cast<ErrorCode>(0x1ff)), "?");
  EXPECT_EQ(describe(static_cast<ErrorCode>(0x1ff)), "An unknown error code.");
}

TEST(Errors, ExceptionCarriesCodeAndSentence) {
  const Error error(ErrorCode::kBadInput, "input 'x' is missing");
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_EQ(error.exit_status(), 64);
  EXPECT_STREQ(error.what(), "input 'x' is missing");
}

TEST(Errors, FailedCheckNamesItsPlaceAndAborts) {
  EXPECT_DEATH(NPU_CHECK(1 + 1 == 3), "errors_test.cpp:.*1 \\+ 1 == 3");
}

}  // namespace
}  // namespace npu
