// SPDX-License-Identifier: Apache-2.0
// Refusals of operators that move data, of RESIZE, and of conversions.
#include "tests/unit/reference/refusals.h"

namespace npu::reference::test {
namespace {

using namespace refusals;

TEST(Refusals, Moves) {
  const OperatorCase concat{
      Op::kConcat, {zeros(DType::kInt8, {2, 3}), zeros(DType::kInt8, {2, 4})}, DType::kInt8, {2, 7}, with_axis(1)};
  expect_refused(concat, {{"rank", shaped(1, {2, 4, 1}), kShape},
                          {"other size", shaped(1, {3, 4}), kShape},
                          {"too long", shaped(1, {2, 5}), kShape},
                          {"too short", shaped(1, {2, 3}), kShape},
                          {"type", typed(1, DType::kInt16), kType},
                          {"negative axis", [](OperatorCase& c) { c.attributes.axis = -1; }, kArgument},
                          {"axis beyond the rank", [](OperatorCase& c) { c.attributes.axis = 2; }, kArgument}});
  const OperatorCase pad{
      Op::kPad, {zeros(DType::kInt8, {2, 3}), dims({1, 0, 2, 1}), i8({1}, {0})}, DType::kInt8, {3, 6}};
  expect_refused(pad, {{"count", valued(1, {1, 0, 3}), kShape},
                       {"negative before", valued(1, {-1, 2, 2, 1}), kArgument},
                       {"negative after", valued(1, {2, -1, 2, 1}), kArgument},
                       {"result", valued(1, {1, 1, 2, 1}), kShape},
                       {"rank", result({3, 6, 1}), kShape},
                       {"type of the constant", typed(2, DType::kInt16), kType},
                       {"padding is no shape",
                        [](OperatorCase& c) {
                          c.inputs[1] = i32({4}, {1, 0, 2, 1});
                        },
                        ErrorCode::kBadType}});
  const OperatorCase reshape{Op::kReshape, {zeros(DType::kInt8, {2, 3}), dims({6})}, DType::kInt8, {6}};
  expect_refused(reshape, {{"elements", result({5}), kShape}, {"type", result_type(DType::kInt16), kType}});
  const OperatorCase reverse{Op::kReverse, {zeros(DType::kInt8, {2, 3})}, DType::kInt8, {2, 3}, with_axis(1)};
  expect_refused(reverse, {{"shape", result({3, 2}), kShape},
                           {"axis", [](OperatorCase& c) { c.attributes.axis = 2; }, kArgument}});
}

TEST(Refusals, RanksAreComparedFirst) {
  // An operand without the axis must not be asked for its size there.
  const OperatorCase concat{
      Op::kConcat, {zeros(DType::kInt8, {2, 3}), zeros(DType::kInt8, {2})}, DType::kInt8, {2, 6}, with_axis(1)};
  std::string message;
  EXPECT_EQ(error_of(concat, &message), kShape);
  EXPECT_NE(message.find("operand [2] and result [2, 6] differ in rank"), std::string::npos) << message;
}

TEST(Refusals, Boxes) {
  const OperatorCase slice{Op::kSlice, {zeros(DType::kInt8, {4, 5}), dims({1, 0}), dims({3, 2})}, DType::kInt8, {3, 2}};
  expect_refused(slice, {{"negative start", valued(1, {-1, 0}), kArgument},
                         {"start", valued(1, {2, 0}), kArgument},
                         {"start of the second", valued(1, {1, 4}), kArgument},
                         {"size of 0", valued(2, {0, 2}), kArgument},
                         {"size beside the result", valued(2, {2, 2}), kShape},
                         {"starts", valued(1, {1, 0, 0}), kShape},
                         {"sizes", valued(2, {3}), kShape},
                         {"rank", result({3, 2, 1}), kShape}});
  const OperatorCase tile{Op::kTile, {zeros(DType::kInt8, {2, 3}), dims({2, 1})}, DType::kInt8, {4, 3}};
  expect_refused(tile, {{"multiple of 0", valued(1, {0, 1}), kShape},
                        {"result", valued(1, {2, 2}), kShape},
                        {"nothing",
                         [](OperatorCase& c) {
                           valued(1, {2, 0})(c);
                           result({4, 0})(c);
                         },
                         kShape},
                        {"count", valued(1, {2}), kShape},
                        {"rank", result({4, 3, 1}), kShape}});
  Attributes a;
  a.perms = {1, 0};
  const OperatorCase transpose{Op::kTranspose, {zeros(DType::kInt8, {2, 3})}, DType::kInt8, {3, 2}, a};
  expect_refused(transpose, {{"repeated", list(&Attributes::perms, {1, 1}), kArgument},
                             {"negative", list(&Attributes::perms, {1, -1}), kArgument},
                             {"beyond the rank", list(&Attributes::perms, {1, 2}), kArgument},
                             {"count", list(&Attributes::perms, {1}), kArgument},
                             {"result", result({2, 3}), kShape},
                             {"rank", result({3, 2, 1}), kShape}});
}

TEST(Refusals, GatherAndScatter) {
  const OperatorCase gather{
      Op::kGather, {zeros(DType::kInt8, {2, 5, 3}), zeros(DType::kInt32, {2, 4})}, DType::kInt8, {2, 4, 3}};
  expect_refused(gather, {{"rank of the values", shaped(0, {2, 5, 3, 1}), kShape},
                          {"rank of the indices", shaped(1, {2, 4, 1}), kShape},
                          {"rank of the result", result({2, 4, 3, 1}), kShape},
                          {"batches", shaped(1, {1, 4}), kShape},
                          {"indices", result({2, 3, 3}), kShape},
                          {"channels", result({2, 4, 2}), kShape},
                          {"type of the indices", typed(1, DType::kInt16), kType},
                          {"type of the result", result_type(DType::kInt16), kType},
                          {"negative index", valued(1, {0, 0, 0, -1, 0, 0, 0, 0}), kRequire},
                          {"index beyond the values", valued(1, {0, 0, 0, 0, 0, 0, 0, 5}), kRequire}});
  const OperatorCase scatter{
      Op::kScatter,
      {zeros(DType::kInt8, {2, 5, 3}), i32({2, 2}, {4, 1, 0, 4}), zeros(DType::kInt8, {2, 2, 3})},
      DType::kInt8,
      {2, 5, 3}};
  expect_refused(scatter, {{"rank of the moved", shaped(2, {2, 2, 3, 1}), kShape},
                           {"type of the moved", typed(2, DType::kInt16), kType},
                           {"result", result({2, 4, 3}), kShape},
                           {"type of the result", result_type(DType::kInt16), kShape},
                           {"twice", valued(1, {4, 1, 3, 3}), kRequire},
                           {"index beyond the values", valued(1, {4, 1, 0, 5}), kRequire}});
}

TEST(Refusals, Resize) {
  Attributes a;
  a.resize_mode = graph::ResizeMode::kNearest;
  // 2 rows and 3 columns, twice as high, and three halves as wide: ((3 - 1) * 3 - 0 + 0) / 2 + 1 = 4.
  const OperatorCase legal{Op::kResize,
                           {zeros(DType::kInt8, {1, 2, 3, 2}), dims({2, 1, 3, 2}), dims({0, 0}), dims({1, 0})},
                           DType::kInt8,
                           {1, 4, 4, 2},
                           a};
  expect_refused(legal, {{"rank of the operand", shaped(0, {1, 2, 3, 2, 1}), kShape},
                         {"rank of the result", result({1, 4, 4, 2, 1}), kShape},
                         {"images", result({2, 4, 4, 2}), kShape},
                         {"channels", result({1, 4, 4, 1}), kShape},
                         {"scale values", valued(1, {2, 1, 3}), kShape},
                         {"offset values", valued(2, {0}), kShape},
                         {"border values", valued(3, {1}), kShape},
                         {"height", result({1, 3, 4, 2}), kShape},
                         {"width", result({1, 4, 5, 2}), kShape},
                         {"type of the result", result_type(DType::kInt16), kType},
                         {"result of bilinear",
                          [](OperatorCase& c) { c.attributes.resize_mode = graph::ResizeMode::kBilinear; }, kType},
                         {"INT48 of nearest INT16",
                          [](OperatorCase& c) {
                            typed(0, DType::kInt16)(c);
                            c.result_type = DType::kInt48;
                          },
                          kType}});
}

// RESIZE of one row of `in` pixels; the result's size follows, as the specification says, where the arguments allow it.
ErrorCode resized(int64_t in, int64_t n, int64_t d, int64_t offset, int64_t border, int64_t out) {
  Attributes a;
  a.resize_mode = graph::ResizeMode::kNearest;
  const auto one = [&](const Shape& shape, const Shape& result_shape, bool high) {
    const std::vector<int64_t> scale = high ? std::vector<int64_t>{n, d, 1, 1} : std::vector<int64_t>{1, 1, n, d};
    return error_of(OperatorCase{Op::kResize,
                                 {zeros(DType::kInt8, shape), dims(scale), dims({high ? offset : 0, high ? 0 : offset}),
                                  dims({high ? border : 0, high ? 0 : border})},
                                 DType::kInt8,
                                 result_shape,
                                 a});
  };
  const ErrorCode high = one({1, in, 1, 1}, {1, out, 1, 1}, true);
  EXPECT_EQ(high, one({1, 1, in, 1}, {1, 1, out, 1}, false));
  return high;
}

TEST(Refusals, ResizeLimits) {
  // ((in - 1) * n - offset + border) / d + 1, with each argument at its limit and beyond.
  EXPECT_EQ(resized(3, 2, 1, 0, 0, 5), ErrorCode::kOk);
  EXPECT_EQ(resized(3, 0, 1, 0, 0, 1), kArgument);
  EXPECT_EQ(resized(3, 2, 0, 0, 0, 5), kArgument);
  EXPECT_EQ(resized(2, 2048, 2048, 0, 0, 2), ErrorCode::kOk);
  EXPECT_EQ(resized(2, 2049, 2049, 0, 0, 2), kArgument);
  EXPECT_EQ(resized(16, 1, 15, 0, 0, 2), ErrorCode::kOk);
  EXPECT_EQ(resized(17, 1, 16, 0, 0, 2), kArgument);
  EXPECT_EQ(resized(3, 2, 1, -2, 0, 7), ErrorCode::kOk);
  EXPECT_EQ(resized(3, 2, 1, -3, 0, 8), kArgument);
  EXPECT_EQ(resized(20, 2, 1, 31, 0, 8), ErrorCode::kOk);
  EXPECT_EQ(resized(20, 2, 1, 32, 0, 7), kArgument);
  EXPECT_EQ(resized(20, 2, 1, 0, -32, 7), ErrorCode::kOk);
  EXPECT_EQ(resized(20, 2, 1, 0, -33, 6), kArgument);
  EXPECT_EQ(resized(3, 2, 1, 0, 1, 6), ErrorCode::kOk);
  EXPECT_EQ(resized(3, 2, 1, 0, 2, 7), kArgument);
  EXPECT_EQ(resized(3, 2, 3, 0, 0, 2), kShape) << "4 is no multiple of 3";
  EXPECT_EQ(resized(16383, 1, 1, 0, 0, 16383), ErrorCode::kOk);
  EXPECT_EQ(resized(16384, 1, 1, 0, 0, 16384), kShape);
  EXPECT_EQ(resized(8193, 2, 1, 1, 0, 16384), kShape);
}

TEST(Refusals, Rescale) {
  Attributes a;
  a.scale32 = true;
  a.per_channel = true;
  a.rounding_mode = graph::RoundingMode::kSingleRound;
  const OperatorCase legal{
      Op::kRescale,
      {zeros(DType::kInt8, {2, 3}), i32({3}, {1, 1, 1}), i8({3}, {30, 30, 30}), i8({1}, {0}), i8({1}, {0})},
      DType::kInt8,
      {2, 3},
      a};
  expect_refused(legal, {{"shape", result({3, 2}), kShape},
                         {"multipliers", valued(1, {1, 1}), kShape},
                         {"shifts", valued(2, {30, 30}), kShape},
                         {"type of the multipliers",
                          [](OperatorCase& c) {
                            c.inputs[1] = i16({3}, {1, 1, 1});
                          },
                          ErrorCode::kBadType},
                         {"no channels",
                          [](OperatorCase& c) {
                            shaped(0, {})(c);
                            result({})(c);
                          },
                          kShape},
                         {"type of the operand", typed(0, DType::kFp32), kType},
                         {"type of the result", result_type(DType::kInt48), kType}});
}

TEST(Refusals, RescaleZeroPoints) {
  const auto code = [](DType in, DType out, bool input, bool is_unsigned, int64_t zero) {
    Attributes a;
    a.scale32 = true;
    a.rounding_mode = graph::RoundingMode::kSingleRound;
    (input ? a.input_unsigned : a.output_unsigned) = is_unsigned;
    const Value zeros_of_both[] = {value_of(in, {1}, {input ? zero : 0}), value_of(out, {1}, {input ? 0 : zero})};
    return error_of(OperatorCase{
        Op::kRescale, {zeros(in, {1}), i32({1}, {1}), i8({1}, {30}), zeros_of_both[0], zeros_of_both[1]}, out, {1}, a});
  };
  constexpr DType kI8 = DType::kInt8, kI16 = DType::kInt16, kI32 = DType::kInt32;
  for (const bool input : {false, true}) {
    const auto narrow = [&](DType type, bool is_unsigned, int64_t zero) {
      return input ? code(type, kI8, true, is_unsigned, zero) : code(kI8, type, false, is_unsigned, zero);
    };
    for (const bool is_unsigned : {false, true}) {
      EXPECT_EQ(narrow(kI8, is_unsigned, -128), ErrorCode::kOk);
      EXPECT_EQ(narrow(kI8, is_unsigned, 127), ErrorCode::kOk);
      EXPECT_EQ(narrow(kI16, is_unsigned, 0), ErrorCode::kOk);
      EXPECT_EQ(narrow(kI16, is_unsigned, 1), kArgument);
      EXPECT_EQ(narrow(kI16, is_unsigned, -32767), kArgument);
    }
    // -32768 has the bits of 32768.
    EXPECT_EQ(narrow(kI16, true, -32768), ErrorCode::kOk);
    EXPECT_EQ(narrow(kI16, false, -32768), kArgument);
    EXPECT_EQ(narrow(kI32, false, 0), ErrorCode::kOk);
    EXPECT_EQ(narrow(kI32, false, 1), kArgument);
    EXPECT_EQ(narrow(kI32, false, 32768), kArgument);
  }
}

TEST(Refusals, Cast) {
  const OperatorCase legal{Op::kCast, {zeros(DType::kInt8, {2, 3})}, DType::kInt16, {2, 3}};
  expect_refused(legal, {{"shape", result({3, 2}), kShape},
                         {"type of the result", result_type(DType::kInt48), kType},
                         {"same type", result_type(DType::kInt8), kType}});
}

}  // namespace
}  // namespace npu::reference::test
