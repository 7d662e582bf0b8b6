// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "driver/compiler/lower.h"
#include "driver/compiler/support.h"
#include "driver/graph/builder.h"
#include "hw/contract/error.h"
#include "tests/unit/compiler/front_run.h"

namespace npu::compiler {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<SupportRow> rows_of(GraphBuilder& b) { return support(b.build(), testing::front_machine()); }

// The report and the compiler's error give the same reason.
void expect_refused(GraphBuilder& b, ErrorCode code, const std::string& name, const std::string& rule) {
  std::string reason;
  for (const SupportRow& row : rows_of(b)) {
    if (row.ok) continue;
    EXPECT_EQ(row.name, name);
    EXPECT_FALSE(row.way_out.empty());
    reason = row.reason;
    break;
  }
  EXPECT_THAT(reason, HasSubstr(rule));
  try {
    (void)lower(b.build(), testing::front_machine());
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(name), HasSubstr(reason)));
  }
}

TEST(Support, NamesEnginesOfWhatRuns) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 4, 4, 2});
  const TensorId weights = b.reshape(b.constant(DType::kInt8, {2, 2}, {1.}), {2, 1, 1, 2});
  TensorId y = b.conv2d(x, weights, b.constant(DType::kInt32, {2}, {0.}));
  b.output(b.reshape(b.rescale(y, DType::kInt8), {32}));
  b.clamp(x, 0, 1);
  const std::vector<SupportRow> rows = rows_of(b);
  ASSERT_THAT(rows, SizeIs(5));
  EXPECT_EQ(rows[0].engine, "folded");
  EXPECT_EQ(rows[1].engine, "mxu");
  EXPECT_EQ(rows[1].type, "INT8 -> INT32");
  EXPECT_EQ(rows[2].engine, "vpu");
  EXPECT_EQ(rows[3].engine, "view");
  EXPECT_EQ(rows[4].engine, "unused");
  for (const SupportRow& row : rows) EXPECT_TRUE(row.ok);
}

TEST(Support, AsksTheMachineForInt16) {
  contract::Capabilities narrow = testing::front_machine();
  narrow.mxu_int16 = 0;
  for (const DType type : {DType::kInt8, DType::kInt16}) {
    GraphBuilder b;
    const TensorId x = b.input("x", type, {1, 2, 3});
    b.output(b.matmul(x, b.input("y", type, {1, 3, 4})));
    const graph::Graph graph = b.build();
    const std::vector<SupportRow> rows = support(graph, narrow);
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(rows[0].ok, type == DType::kInt8);
    if (rows[0].ok) continue;
    EXPECT_THAT(rows[0].reason, HasSubstr("mxu_int16 is 0"));
    EXPECT_THAT(rows[0].way_out, HasSubstr("mxu_int16: 1"));
    EXPECT_TRUE(support(graph, testing::front_machine())[0].ok);
    EXPECT_THROW((void)lower(graph, narrow), Error);
  }
}

TEST(Support, RefusesFloatingPoint) {
  GraphBuilder b;
  b.output(b.add(b.input("x", DType::kFp32, {2}), b.input("y", DType::kFp32, {2})));
  expect_refused(b, ErrorCode::kTypeUnsupported, "ADD", "FP32");
}

TEST(Support, RefusesFloatingPointOnMachinesWithoutIt) {
  GraphBuilder b;
  b.output(b.op(Op::kErf, {b.input("x", DType::kFp32, {4})}));
  expect_refused(b, ErrorCode::kTypeUnsupported, "ERF", "takes no FP32 (its vpu_float is 0)");
}

TEST(Support, RowsByIndexAreDma) {
  GraphBuilder b;
  const TensorId index = b.input("i", DType::kInt32, {1, 3});
  const TensorId rows = b.gather(b.input("x", DType::kInt8, {1, 4, 2}), index);
  b.output(b.scatter(b.input("y", DType::kInt8, {1, 4, 2}), index, rows));
  for (const SupportRow& row : rows_of(b)) {
    EXPECT_TRUE(row.ok);
    EXPECT_EQ(row.engine, "dma");
  }
}

TEST(Support, MovesRowsOfFloatingPoint) {
  GraphBuilder b;
  b.output(b.gather(b.input("x", DType::kFp16, {1, 4, 2}), b.input("i", DType::kInt32, {1, 3})));
  EXPECT_NO_THROW(static_cast<void>(lower(b.build(), testing::front_machine())));
}

TEST(Support, RunsADeclarationAfterAReadWhereAnEarlierJobDeclaredIt) {
  for (const bool read_first : {false, true}) {
    GraphBuilder b;
    const TensorId state = b.variable("state", DType::kInt8, {1}, std::vector<double>{1});
    if (!read_first) b.declare(state);
    b.output(b.read(state));
    if (read_first) b.declare(state);
    const Module module = lower(b.build(), testing::front_machine());
    ASSERT_THAT(module.variables, SizeIs(1));
    EXPECT_EQ(module.variables[0].read_first, read_first);
  }
}

TEST(Support, RunsADeclarationAfterABranchThatMayReadIt) {
  GraphBuilder reads("reads"), other("other"), b;
  const TensorId i = reads.input("i", DType::kInt8, {1});
  reads.output(reads.op(Op::kBitwiseAnd, {i, reads.read(reads.variable("state", DType::kInt8, {1}))}));
  other.output(other.op(Op::kBitwiseNot, {other.input("i", DType::kInt8, {1})}));
  b.add_region(std::move(reads));
  b.add_region(std::move(other));
  const TensorId state = b.variable("state", DType::kInt8, {1}, std::vector<double>{1});
  b.output(b.cond_if(b.input("flag", DType::kBool, {1}), {b.input("x", DType::kInt8, {1})}, "reads", "other")[0]);
  b.declare(state);
  const Module module = lower(b.build(), testing::front_machine());
  ASSERT_THAT(module.variables, SizeIs(1));
  EXPECT_FALSE(module.variables[0].read_first) << "the branch may not be taken";
}

TEST(Support, RefusesWhatIsAboveTheLimits) {
  GraphBuilder b;
  b.output(b.max_pool2d(b.input("x", DType::kInt8, {1, 70001, 1, 1}), {70000, 1}, {1, 1}, {0, 0, 0, 0}));
  expect_refused(b, ErrorCode::kArgumentUnsupported, "MAX_POOL2D",
                 "kernel of 70000 is above the device's limit of 65535");
}

TEST(Support, RefusesPaddingOfPhasesAboveTheLimits) {
  GraphBuilder b, far;
  const auto add = [](GraphBuilder& to, int64_t kernel, std::vector<int32_t> pad) {
    to.output(to.transpose_conv2d(to.input("x", DType::kInt8, {1, 1, 1, 1}),
                                  to.input("w", DType::kInt8, {1, kernel, 1, 1}), to.constant(DType::kInt32, {1}, {0.}),
                                  {.pad = std::move(pad), .stride = {1, 2}}));
  };
  add(b, 40000, {0, 0, 0, 0});
  expect_refused(b, ErrorCode::kArgumentUnsupported, "TRANSPOSE_CONV2D",
                 "padding in steps of the stride of 39999 is above the device's limit of 32767");
  add(far, 2, {0, 0, 0, 40000});
  expect_refused(far, ErrorCode::kArgumentUnsupported, "TRANSPOSE_CONV2D",
                 "out_pad of 40000 is above the device's limit of 32767");
}

TEST(Support, RefusesShiftsOutOfRange) {
  GraphBuilder b;
  graph::Rescaling how;
  how.shift = {63};
  b.output(b.rescale(b.input("x", DType::kInt8, {2}), DType::kInt8, how));
  expect_refused(b, ErrorCode::kArgumentUnsupported, "RESCALE", "shift of 63");
}

TEST(Support, RefusesWhatIsInControlFlowThatWritesVariablesEvenIfNobodyReadsIt) {
  GraphBuilder body("body"), b;
  const TensorId i = body.input("i", DType::kInt32, {});
  body.output(body.cast(body.cast(i, DType::kFp32), DType::kInt32));
  body.write(body.variable("v", DType::kInt32, {}), i);
  const TensorId x = b.input("x", DType::kInt32, {});
  b.add_region(std::move(body));
  b.cond_if(b.op(Op::kEqual, {x, x}), {x}, "body", "body");
  b.output(x);
  expect_refused(b, ErrorCode::kTypeUnsupported, "COND_IF", "block 'body'");
}

TEST(Support, RefusesDeclarationsWithDifferentInitialValues) {
  for (const std::optional<double> other : {std::optional<double>(2), std::optional<double>()}) {
    GraphBuilder one("one"), two("two"), b;
    one.output(one.input("i", DType::kInt32, {}));
    one.declare(one.variable("v", DType::kInt32, {}, std::vector<double>{1}));
    two.output(two.input("i", DType::kInt32, {}));
    two.declare(other ? two.variable("v", DType::kInt32, {}, std::vector<double>{*other})
                      : two.variable("v", DType::kInt32, {}));
    const TensorId x = b.input("x", DType::kInt32, {});
    b.add_region(std::move(one));
    b.add_region(std::move(two));
    b.output(b.cond_if(b.op(Op::kEqual, {x, x}), {x}, "one", "two")[0]);
    expect_refused(b, ErrorCode::kArgumentUnsupported, "COND_IF", "gives the variable another initial value");
  }
}

TEST(Support, RefusesABadShiftOfMul) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {4});
  b.output(b.mul(x, x, 64));
  expect_refused(b, ErrorCode::kArgumentUnsupported, "MUL", "shift of 64");
}

TEST(Support, IgnoresWhatNobodyNeeds) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt32, {2});
  b.op(Op::kSin, {b.constant(DType::kFp32, {2}, {1.})});
  b.output(b.op(Op::kAbs, {x}));
  EXPECT_NO_THROW((void)lower(b.build(), testing::front_machine()));
}

ErrorCode code_of(GraphBuilder& b) {
  try {
    (void)lower(b.build(), testing::front_machine());
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kOk;
}

TEST(Support, RefusesTensorsThatItCannotStore) {
  GraphBuilder huge;
  huge.output(huge.op(Op::kAbs, {huge.input("x", DType::kInt32, {int64_t{1} << 31})}));
  EXPECT_EQ(code_of(huge), ErrorCode::kDramFull);
}

// A bias that comes at run time needs the VPU, which a machine may have without floating point.
TEST(Support, ABiasOfFloatsAtRunTimeNeedsTheVpu) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp16, {1, 2, 2, 4}), bias = b.input("bias", DType::kFp16, {3});
  b.output(b.conv2d(x, b.constant(DType::kFp16, {3, 1, 1, 4}, {0.5}), bias));
  contract::Capabilities machine = testing::front_machine();
  machine.mxu_fp16_cycles = 1;
  machine.vpu_float = 0;
  const std::vector<SupportRow> rows = support(b.build(), machine);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].reason, HasSubstr("vpu_float is 0"));
  machine.vpu_float = 1;
  EXPECT_TRUE(support(b.build(), machine)[0].ok);
}

// Longer transforms would need matrices of their own size.
TEST(Support, SidesOfTransformsHaveALimit) {
  contract::Capabilities machine = testing::front_machine();
  machine.vpu_float = machine.mxu_fp32_cycles = 1;
  for (const int64_t side : {int64_t{1} << 16, int64_t{1} << 17}) {
    GraphBuilder b;
    b.output(b.rfft2d(b.input("x", DType::kFp32, {1, 1, side}))[0]);
    EXPECT_EQ(support(b.build(), machine)[0].ok, side == 1 << 16);
  }
}

}  // namespace
}  // namespace npu::compiler
