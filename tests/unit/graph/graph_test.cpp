// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "driver/graph/analyse.h"
#include "driver/graph/builder.h"
#include "driver/graph/element.h"
#include "driver/graph/file_number.h"
#include "driver/graph/operators.h"
#include "driver/graph/text.h"
#include "driver/graph/tosa_generated.h"
#include "driver/graph/validate.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {
namespace {

TEST(Element, OfInt48TakesEightBytesAndOfInt4One) {
  EXPECT_EQ(contract::element_bytes(*element_of(DType::kInt48)), 8u);
  EXPECT_EQ(contract::element_bytes(*element_of(DType::kInt4)), 1u);
  EXPECT_EQ(element_of(DType::kFp32), contract::Element::kF32);
  EXPECT_EQ(element_of(DType::kShape), std::nullopt);
}

TEST(Names, AreThoseOfTheFormat) {
  for (uint32_t i = 0; i < kOpCount; ++i) {
    EXPECT_EQ(name(static_cast<Op>(i)), tosa::EnumNameOp(file_number(static_cast<Op>(i))));
    EXPECT_EQ(op_of_file(file_number(static_cast<Op>(i))), static_cast<Op>(i));
    EXPECT_EQ(op_from_name(name(static_cast<Op>(i))), static_cast<Op>(i));
  }
  for (uint32_t i = 0; i <= static_cast<uint32_t>(tosa::DType::MAX); ++i) {
    EXPECT_EQ(name(static_cast<DType>(i)), tosa::EnumNameDType(static_cast<tosa::DType>(i)));
  }
  EXPECT_EQ(dtype_from_name("INT48"), DType::kInt48);
  EXPECT_EQ(dtype_from_name("INT7"), std::nullopt);
}

TEST(Names, OperatorsThatAreNotReadHaveNone) {
  size_t unread = 0;
  for (uint32_t i = 1; i <= static_cast<uint32_t>(tosa::Op::MAX); ++i) {
    const Op op = op_of_file(static_cast<tosa::Op>(i));
    if (op == Op::kUnknown) {
      ++unread;
    } else {
      EXPECT_EQ(file_number(op), static_cast<tosa::Op>(i));
    }
  }
  EXPECT_EQ(unread, 10u);  // of block-scaled tensors, adaptive pooling, ROW_GATHER and MATMUL_T
  EXPECT_EQ(op_of_file(static_cast<tosa::Op>(1000)), Op::kUnknown);
}

// Attribute tables are found by the operator's number.
TEST(Names, OperatorsAndAttributesHaveTheSameNumbers) {
  EXPECT_EQ(static_cast<uint32_t>(tosa::Attribute::MAX), static_cast<uint32_t>(tosa::Op::MAX));
  EXPECT_EQ(static_cast<uint32_t>(tosa::Attribute::RescaleAttribute), static_cast<uint32_t>(Op::kRescale));
  EXPECT_EQ(static_cast<uint32_t>(tosa::Attribute::ConstShapeAttribute), static_cast<uint32_t>(Op::kConstShape));
  EXPECT_EQ(attribute_table(Op::kDim), tosa::Attribute::DimAttribute);
  EXPECT_EQ(attribute_table(Op::kAssertEqualShape), tosa::Attribute::AssertEqualShapeAttribute);
  EXPECT_EQ(static_cast<uint32_t>(tosa::NanPropagationMode::IGNORE), static_cast<uint32_t>(NanMode::kIgnore));
  EXPECT_EQ(static_cast<uint32_t>(tosa::RoundingMode::DOUBLE_ROUND), static_cast<uint32_t>(RoundingMode::kDoubleRound));
  EXPECT_EQ(static_cast<uint32_t>(tosa::ResizeMode::BILINEAR), static_cast<uint32_t>(ResizeMode::kBilinear));
}

TEST(Names, InMessagesFitOneLine) {
  EXPECT_EQ(in_quotes("a\nb\x7f"), "'a\\x0ab\\x7f'");
  EXPECT_EQ(in_quotes(std::string(1000, 'x')).size(), 80u + 5u);
}

TEST(Counts, StopBeforeTheyOverflow) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, 0, int64_t{1} << 40}), 0);
  EXPECT_EQ(element_count({2, -1}), std::nullopt);
  EXPECT_EQ(element_count({int64_t{1} << 40}), int64_t{1} << 40);
  EXPECT_EQ(element_count({int64_t{1} << 40, 2}), std::nullopt);
  EXPECT_EQ(element_count({INT64_MAX, INT64_MAX}), std::nullopt);
  EXPECT_EQ(element_count({int64_t{1} << 40, int64_t{1} << 40, 0}), 0);
  EXPECT_EQ(byte_size(DType::kInt4, 3), 2);
  EXPECT_EQ(byte_size(DType::kInt48, 3), 18);
}

TEST(Values, WidenPackedConstants) {
  GraphBuilder b;
  const Value wide =
      value_of_constant(b.tensor(b.constant(DType::kInt48, {3}, {-1, 140737488355327.0, -140737488355328.0})));
  int64_t elements[3];
  ASSERT_EQ(wide.bytes.size(), sizeof(elements));
  std::memcpy(elements, wide.bytes.data(), sizeof(elements));
  EXPECT_EQ(elements[0], -1);
  EXPECT_EQ(elements[1], (int64_t{1} << 47) - 1);
  EXPECT_EQ(elements[2], -(int64_t{1} << 47));
  const Value nibbles = value_of_constant(b.tensor(b.constant(DType::kInt4, {3}, {-7, 7, -1})));
  EXPECT_EQ(nibbles.bytes, (std::vector<uint8_t>{0xf9, 7, 0xff}));
  const Value bytes = value_of_constant(b.tensor(b.constant(DType::kInt8, {2}, {-128, 127})));
  EXPECT_EQ(bytes.bytes, (std::vector<uint8_t>{0x80, 0x7f}));
}

TEST(Values, CompareElementByElement) {
  const Value want{DType::kInt16, {3}, {1, 0, 0, 0x80, 5, 0}};
  EXPECT_EQ(compare(want, want).differing, 0);
  Value got = want;
  got.bytes = {1, 0, 0xff, 0x7f, 6, 0};
  const Difference difference = compare(got, want);
  EXPECT_EQ(difference.compared, 3);
  EXPECT_EQ(difference.differing, 2);
  EXPECT_EQ(difference.first, 1);
  EXPECT_EQ(difference.max_absolute, 65535);
  got.shape = {1, 3};
  EXPECT_THROW(static_cast<void>(compare(got, want)), Error);
}

TEST(Encode, RoundsFloatsToNearestEven) {
  const auto half = [](double value) {
    const auto bytes = encode(DType::kFp16, 1, {value});
    return bytes[0] | bytes[1] << 8;
  };
  EXPECT_EQ(half(1), 0x3c00);
  EXPECT_EQ(half(-2.5), 0xc100);
  EXPECT_EQ(half(65504), 0x7bff);
  EXPECT_EQ(half(65520), 0x7c00) << "overflow is infinity";
  EXPECT_EQ(half(std::ldexp(1, -24)), 1);
  EXPECT_EQ(half(std::ldexp(1, -25)), 0) << "ties to even";
  EXPECT_EQ(half(std::ldexp(3, -25)), 2) << "ties to even";
  EXPECT_EQ(half(1 + std::ldexp(1, -11)), 0x3c00) << "ties to even";
  EXPECT_EQ(encode(DType::kBf16, 1, {-0.0}), (std::vector<uint8_t>{0, 0x80}));
  EXPECT_EQ(encode(DType::kFp8E4M3, 1, {1e9}), (std::vector<uint8_t>{0x7f})) << "no infinity";
  EXPECT_EQ(encode(DType::kFp8E4M3, 1, {448}), (std::vector<uint8_t>{0x7e}));
  EXPECT_EQ(encode(DType::kFp8E5M2, 1, {1.5}), (std::vector<uint8_t>{0x3e}));
  EXPECT_EQ(encode(DType::kBool, 2, {1}), (std::vector<uint8_t>{1, 1}));
}

TEST(Builder, RefusesWhatDoesNotFit) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {2, 3});
  EXPECT_THROW(b.reshape(x, {7}), Error);
  EXPECT_THROW(b.op(Op::kMatMul, {x}), Error);
  EXPECT_THROW(b.op(Op::kTanh, {x}), Error);
  EXPECT_THROW(b.op(Op::kCast, {x}), Error) << "the result's type is open";
  EXPECT_NO_THROW(b.cast(x, DType::kInt8));
}

TEST(Builder, ChoosesTypesOfResults) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt16, {1, 4, 4, 2});
  const TensorId y = b.conv2d(x, b.constant(DType::kInt8, {3, 1, 1, 2}, {1}), b.constant(DType::kInt48, {1}, {0}));
  EXPECT_EQ(b.tensor(y).type, DType::kInt48);
  EXPECT_EQ(b.tensor(y).shape, (Shape{1, 4, 4, 3}));
  EXPECT_EQ(b.tensor(b.op(Op::kEqual, {b.cast(x, DType::kInt32), b.cast(x, DType::kInt32)})).type, DType::kBool);
}

TEST(Analyse, NamesProfilesAndExtensions) {
  const auto needs = [](const Graph& graph) {
    const Needs result = analyse(graph);
    std::string text;
    for (const auto* names : {&result.profiles, &result.extensions}) {
      for (const auto& entry : *names) {
        text += entry + " ";
      }
    }
    return text + result.level;
  };
  EXPECT_EQ(needs(samples::of(Op::kAdd)), "PRO-INT 8K");
  EXPECT_EQ(needs(samples::of(Op::kTanh)), "PRO-FP 8K");
  EXPECT_EQ(needs(samples::of(Op::kFft2d)), "PRO-FP EXT-FFT 8K");
  EXPECT_EQ(needs(samples::of(Op::kRescale)), "PRO-INT EXT-DOUBLEROUND 8K");
  EXPECT_EQ(needs(samples::of(Op::kVariableRead)), "PRO-INT EXT-VARIABLE 8K");
  EXPECT_EQ(needs(samples::network()), "PRO-INT EXT-DOUBLEROUND EXT-VARIABLE PROPOSAL-VARIABLE 8K");
  EXPECT_EQ(needs(samples::nested_control_flow()), "PRO-INT EXT-CONTROLFLOW 8K");
  GraphBuilder floats;  // INT8 constants and INT32 sums are in both profiles
  const TensorId one = floats.constant(DType::kInt8, {1}, {0});
  const TensorId x = floats.input("x", DType::kFp32, {2});
  floats.output(floats.op(Op::kMul, {x, x, one}));
  EXPECT_EQ(needs(floats.build()), "PRO-FP 8K");
  GraphBuilder brain;
  brain.output(brain.cast(brain.input("x", DType::kBf16, {2}), DType::kFp8E4M3));
  EXPECT_EQ(needs(brain.build()), "PRO-FP EXT-BF16 EXT-FP8E4M3 8K");
}

TEST(Analyse, SaysWhatIsBeyondTheSpecification) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 1, 1, 1, 1, 1, 3});
  const TensorId zp = b.input("zp", DType::kInt8, {1});
  b.output(b.op(Op::kNegate, {x, zp, zp}));
  const Needs needs = analyse(b.build());
  EXPECT_EQ(needs.level, "none");
  EXPECT_TRUE(needs.extensions.contains("EXT-DYNAMIC"));
  std::string notes;
  for (const auto& note : needs.notes) {
    notes += note + "\n";
  }
  EXPECT_NE(notes.find("rank of 7 is above level 8K's 6"), std::string::npos) << notes;
  EXPECT_NE(notes.find("input1_zp 'zp' is a run-time value"), std::string::npos) << notes;
}

// Each block of a graph repeats the variables that it uses.
TEST(Analyse, SaysOfAVariableOnceWhatManyBlocksRepeat) {
  GraphBuilder b;
  const TensorId flag = b.input("flag", DType::kBool, {1});
  for (const char* region : {"then", "else"}) {
    GraphBuilder branch(region);
    branch.output(branch.read(branch.variable("state", DType::kInt32, {3})), std::string(region) + "_out");
    b.add_region(branch);
  }
  const TensorId state = b.variable("state", DType::kInt32, {3});
  b.declare(state);
  b.output(b.cond_if(flag, {}, "then", "else")[0]);
  const Needs needs = analyse(b.build());
  ASSERT_EQ(needs.notes.size(), 1U);
  EXPECT_NE(needs.notes[0].find("variable 'state' is INT32"), std::string::npos) << needs.notes[0];
}

// Each result's taps, one by one.
int64_t transposed_macs(int32_t kernel, int32_t stride, int32_t before, int32_t after, int64_t size) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, size, 1, 1});
  const TensorId w = b.constant(DType::kInt8, {1, kernel, 1, 1}, std::vector<double>{1});
  b.output(b.transpose_conv2d(x, w, b.constant(DType::kInt32, {1}, std::vector<double>{0}),
                              {.pad = {before, after, 0, 0}, .stride = {stride, 1}}));
  return macs(b.build());
}

TEST(Macs, LeaveOutTheZerosThatTransposeConv2dInserts) {
  for (int32_t kernel = 1; kernel <= 6; ++kernel) {
    for (int32_t stride = 1; stride <= 5; ++stride) {
      for (int32_t before = 1 - kernel; before <= 4; ++before) {
        for (const int32_t after : {1 - kernel, 0, 3}) {
          const int64_t size = 4, results = (size - 1) * stride + before + after + kernel;
          if (results < 1) continue;
          int64_t want = 0;
          for (int64_t o = 0; o < results; ++o) {
            for (int64_t k = 0; k < kernel; ++k) want += (o - before - k) % stride == 0 ? 1 : 0;
          }
          EXPECT_EQ(transposed_macs(kernel, stride, before, after, size), want)
              << kernel << " " << stride << " " << before << " " << after;
        }
      }
    }
  }
}

TEST(Macs, CountProducts) {
  const auto count = [](Op op) { return macs(samples::of(op)); };
  EXPECT_EQ(count(Op::kConv2d), 1 * 3 * 5 * 4 * (3 * 2 * 3));
  EXPECT_EQ(count(Op::kDepthwiseConv2d), 1 * 5 * 6 * 6 * (3 * 2));
  // Of 10 rows half have two taps and half have one, of 13 columns each has one.
  EXPECT_EQ(count(Op::kTransposeConv2d), 1 * (5 * 2 + 5 * 1) * 13 * 4 * 3);
  EXPECT_EQ(count(Op::kMatMul), 2 * 3 * 5 * 4);
  EXPECT_EQ(count(Op::kAdd), 0);
}

TEST(Macs, SaturateInsteadOfOverflowing) {
  Graph graph = samples::of(Op::kMatMul);
  auto& tensors = graph.main().tensors;
  const Operator& op = samples::find(graph, Op::kMatMul);
  tensors[op.inputs[0]].shape = {1, 1 << 20, INT32_MAX};
  tensors[op.outputs[0]].shape = {1, 1 << 20, 1 << 20};
  EXPECT_EQ(macs(graph), INT64_MAX);
}

}  // namespace
}  // namespace npu::graph
