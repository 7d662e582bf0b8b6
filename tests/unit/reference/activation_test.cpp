// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

using Numbers = std::vector<int64_t>;

// Limits as the file holds them: little endian, padded to 8 bytes.
std::vector<uint8_t> limit(int64_t value) {
  std::vector<uint8_t> bytes(8);
  std::memcpy(bytes.data(), &value, 8);
  return bytes;
}

TEST(Clamp, ClipsToBothLimits) {
  Attributes attributes;
  attributes.min_val = limit(-3);
  attributes.max_val = limit(100);
  EXPECT_EQ((OperatorCase{Op::kClamp, {i8({5}, {-128, -3, 0, 100, 127})}, DType::kInt8, {5}, attributes}.numbers()),
            (Numbers{-3, -3, 0, 100, 100}));
  EXPECT_EQ((OperatorCase{Op::kClamp, {i16({2}, {-32768, 32767})}, DType::kInt16, {2}, attributes}.numbers()),
            (Numbers{-3, 100}));
}

TEST(Clamp, RefusesCrossedLimits) {
  Attributes attributes;
  attributes.min_val = limit(1);
  attributes.max_val = limit(0);
  EXPECT_EQ(error_of(OperatorCase{Op::kClamp, {i8({1}, {0})}, DType::kInt8, {1}, attributes}), ErrorCode::kBadArgument);
}

TEST(Table, LooksUpInt8) {
  Numbers entries(256);
  for (int i = 0; i < 256; ++i) {
    entries[static_cast<size_t>(i)] = 127 - i;  // the entry of value v is -v - 1
  }
  EXPECT_EQ((OperatorCase{Op::kTable, {i8({4}, {-128, -1, 0, 127}), i8({256}, entries)}, DType::kInt8, {4}}.numbers()),
            (Numbers{127, 0, -1, -128}));
}

Value lookup16(const Numbers& entries, const Numbers& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return OperatorCase{
      Op::kTable, {i16(shape, values), i16({static_cast<int64_t>(entries.size())}, entries)}, DType::kInt32, shape}
      .run();
}

TEST(Table, InterpolatesInt16AtBothEnds) {
  Numbers entries(513, 0);
  entries[0] = -32768;
  entries[1] = -32768 + 32767;  // the steepest slope that is allowed
  entries[256] = 10;
  entries[257] = 9;
  entries[511] = 100;
  entries[512] = -28;
  EXPECT_EQ(numbers_of(lookup16(entries, {-32768, -32767, -32641})),
            (Numbers{-32768 * 128, -32768 * 128 + 32767, -32768 * 128 + 127 * 32767}));
  EXPECT_EQ(numbers_of(lookup16(entries, {0, 1, 127})), (Numbers{1280, 1279, 1280 - 127}));
  EXPECT_EQ(numbers_of(lookup16(entries, {32640, 32767})), (Numbers{12800, 12800 - 128 * 127}));
}

TEST(Table, ChecksSlopeOnlyWhereItIsUsed) {
  Numbers entries(513, 0);
  entries[0] = -32768;
  EXPECT_EQ(error_of([&] { (void)lookup16(entries, {0}); }), ErrorCode::kOk);
  std::string message;
  EXPECT_EQ(error_of([&] { (void)lookup16(entries, {-32768}); }, &message), ErrorCode::kRequireFailed);
  EXPECT_NE(message.find("the slope of the table 32768 is outside INT16"), std::string::npos) << message;
}

TEST(Table, ChecksItsLength) {
  EXPECT_EQ(error_of([] { (void)lookup16(Numbers(512, 0), {0}); }), ErrorCode::kRequireFailed);
}

}  // namespace
}  // namespace npu::reference::test
