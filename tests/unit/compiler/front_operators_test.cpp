// SPDX-License-Identifier: Apache-2.0
// Every operator that the device runs, alone, against the reference.
#include <gtest/gtest.h>

#include "tests/unit/compiler/front_check.h"

namespace npu::compiler::testing {
namespace {

using graph::Convolution;
using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Rescaling;
using graph::RoundingMode;
using graph::Shape;
using graph::TensorId;

// Builds one output and compares three invocations.
template <typename Make>
void check(Make make) {
  GraphBuilder b;
  b.output(make(b), "out");
  EXPECT_EQ(compare_with_reference(b.build()), 3);
}

std::vector<double> ramp(int64_t count, int64_t modulus = 251, int64_t offset = -120) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 37 % modulus + offset));
  return values;
}

TEST(Operators, Binary32WithBroadcast) {
  for (Op op : {Op::kAdd, Op::kSub, Op::kBitwiseAnd, Op::kBitwiseOr, Op::kBitwiseXor}) {
    check([op](GraphBuilder& b) {
      return b.op(op, {b.input("a", DType::kInt32, {2, 3, 4}), b.input("b", DType::kInt32, {2, 1, 4})});
    });
  }
  for (Op op : {Op::kEqual, Op::kGreater, Op::kGreaterEqual}) {
    check([op](GraphBuilder& b) {
      return b.op(op, {b.input("a", DType::kInt32, {1, 3, 1}), b.input("b", DType::kInt32, {5, 1, 4})});
    });
  }
  check([](GraphBuilder& b) { return b.maximum(b.input("a", DType::kInt32, {7}), b.input("b", DType::kInt32, {1})); });
  check([](GraphBuilder& b) { return b.minimum(b.input("a", DType::kInt32, {7}), b.input("b", DType::kInt32, {7})); });
}

TEST(Operators, BitwiseOfNarrowTypes) {
  for (DType type : {DType::kInt8, DType::kInt16}) {
    for (Op op : {Op::kBitwiseAnd, Op::kBitwiseOr, Op::kBitwiseXor}) {
      check([=](GraphBuilder& b) { return b.op(op, {b.input("a", type, {9}), b.input("b", type, {9})}); });
    }
    check([=](GraphBuilder& b) { return b.op(Op::kBitwiseNot, {b.input("a", type, {9})}); });
  }
}

TEST(Operators, Logical) {
  for (Op op : {Op::kLogicalAnd, Op::kLogicalOr, Op::kLogicalXor}) {
    check([op](GraphBuilder& b) {
      return b.op(op, {b.input("a", DType::kBool, {3, 4}), b.input("b", DType::kBool, {3, 1})});
    });
  }
  check([](GraphBuilder& b) { return b.op(Op::kLogicalNot, {b.input("a", DType::kBool, {13})}); });
}

TEST(Operators, Unary32) {
  for (Op op : {Op::kAbs, Op::kClz, Op::kBitwiseNot}) {
    check([op](GraphBuilder& b) { return b.op(op, {b.input("a", DType::kInt32, {4, 5})}); });
  }
}

TEST(Operators, Negate) {
  check([](GraphBuilder& b) { return b.negate(b.input("a", DType::kInt8, {40}), -5, 17); });
  check([](GraphBuilder& b) { return b.negate(b.input("a", DType::kInt16, {40})); });
  check([](GraphBuilder& b) { return b.negate(b.input("a", DType::kInt32, {40})); });
}

TEST(Operators, Shifts) {
  for (DType type : {DType::kInt8, DType::kInt16, DType::kInt32}) {
    const auto amounts = [=](GraphBuilder& b) { return b.constant(type, {4}, {0., 1., 3., 7.}); };
    for (Op op : {Op::kLogicalLeftShift, Op::kLogicalRightShift}) {
      check([&](GraphBuilder& b) { return b.op(op, {b.input("a", type, {6, 4}), b.reshape(amounts(b), {1, 4})}); });
    }
    for (bool round : {false, true}) {
      check([&](GraphBuilder& b) {
        return b.arithmetic_right_shift(b.input("a", type, {6, 4}), b.reshape(amounts(b), {1, 4}), round);
      });
    }
  }
}

TEST(Operators, Mul) {
  check([](GraphBuilder& b) { return b.mul(b.input("a", DType::kInt8, {8}), b.input("b", DType::kInt8, {8})); });
  check([](GraphBuilder& b) { return b.mul(b.input("a", DType::kInt16, {8}), b.input("b", DType::kInt16, {1})); });
  check([](GraphBuilder& b) { return b.mul(b.input("a", DType::kInt32, {8}), b.input("b", DType::kInt32, {8}), 5); });
}

TEST(Operators, IntDivByAConstant) {
  check([](GraphBuilder& b) {
    return b.op(Op::kIntDiv, {b.input("a", DType::kInt32, {9}), b.constant(DType::kInt32, {1}, {-7.})});
  });
}

TEST(Operators, SelectAndClamp) {
  for (DType type : {DType::kBool, DType::kInt8, DType::kInt16, DType::kInt32}) {
    check([=](GraphBuilder& b) {
      return b.select(b.input("c", DType::kBool, {2, 1, 5}), b.input("a", type, {1, 3, 5}),
                      b.input("b", type, {2, 3, 1}));
    });
  }
  check([](GraphBuilder& b) { return b.clamp(b.input("a", DType::kInt8, {30}), -100, 90); });
  check([](GraphBuilder& b) { return b.clamp(b.input("a", DType::kInt8, {30}), -128, 127); });
  check([](GraphBuilder& b) { return b.clamp(b.input("a", DType::kInt16, {30}), -500, 20); });
}

TEST(Operators, Table) {
  check([](GraphBuilder& b) { return b.table(b.input("a", DType::kInt8, {4, 8}), ramp(256)); });
  check([](GraphBuilder& b) { return b.table(b.input("a", DType::kInt16, {4, 8}), ramp(513, 20011, -9000)); });
}

TEST(Operators, Cast) {
  const DType types[] = {DType::kBool, DType::kInt8, DType::kInt16, DType::kInt32};
  for (DType from : types) {
    for (DType to : types) {
      if (from == to) continue;
      check([=](GraphBuilder& b) { return b.cast(b.input("a", from, {30}), to); });
    }
  }
}

TEST(Operators, RescaleOfEveryTypeAndRounding) {
  for (DType from : {DType::kInt8, DType::kInt16, DType::kInt32}) {
    for (DType to : {DType::kInt8, DType::kInt16, DType::kInt32}) {
      for (RoundingMode mode : {RoundingMode::kSingleRound, RoundingMode::kInexactRound, RoundingMode::kDoubleRound}) {
        Rescaling how;
        how.multiplier = {1518500250};
        how.shift = {33};
        how.rounding = mode;
        if (from == DType::kInt8) how.input_zp = -9;
        if (to == DType::kInt8) how.output_zp = 4;
        check([=](GraphBuilder& b) { return b.rescale(b.input("a", from, {5, 6}), to, how); });
      }
    }
  }
}

TEST(Operators, RescalePerChannel) {
  Rescaling how;
  how.multiplier = {1 << 30, 1300000000, 2000000000};
  how.shift = {30, 35, 38};
  how.per_channel = true;
  check([=](GraphBuilder& b) { return b.rescale(b.input("a", DType::kInt32, {2, 5, 3}), DType::kInt8, how); });
}

TEST(Operators, RescaleWith16BitMultipliers) {
  Rescaling how;
  how.multiplier = {20000};
  how.shift = {17};
  how.scale32 = false;
  check([=](GraphBuilder& b) { return b.rescale(b.input("a", DType::kInt48, {12}), DType::kInt16, how); });
  check([=](GraphBuilder& b) { return b.rescale(b.input("a", DType::kInt48, {12}), DType::kInt32, how); });
  check([=](GraphBuilder& b) { return b.rescale(b.input("a", DType::kInt8, {12}), DType::kInt16, how); });
}

TEST(Operators, RescaleUnsigned) {
  Rescaling in, out;
  in.input_unsigned = true;
  in.input_zp = -3;  // 253
  out.output_unsigned = true;
  out.output_zp = -128;  // 128
  check([=](GraphBuilder& b) { return b.rescale(b.input("a", DType::kInt8, {40}), DType::kInt8, in); });
  check([=](GraphBuilder& b) { return b.rescale(b.input("a", DType::kInt8, {40}), DType::kInt8, out); });
  // In one group: what leaves unsigned is read as signed, and the other way round.
  check([=](GraphBuilder& b) {
    return b.clamp(b.rescale(b.input("a", DType::kInt8, {40}), DType::kInt8, out), -50, 60);
  });
  check([=](GraphBuilder& b) {
    return b.rescale(b.clamp(b.input("a", DType::kInt8, {40}), -100, 100), DType::kInt8, in);
  });
  check([=](GraphBuilder& b) {
    return b.rescale(b.rescale(b.input("a", DType::kInt8, {40}), DType::kInt8, out), DType::kInt8, in);
  });
}

// As users bound them: what is below 0, or too large, chooses the first row or the last one.
TensorId bounded(GraphBuilder& b, const Shape& shape, double last) {
  const auto bound = [&](double value) { return b.constant(DType::kInt32, {1, 1}, {value}); };
  return b.maximum(b.minimum(b.input("index", DType::kInt32, shape), bound(last)), bound(0));
}

TEST(Operators, GatherRows) {
  for (const DType type : {DType::kInt8, DType::kInt16, DType::kInt32}) {
    check([=](GraphBuilder& b) { return b.gather(b.input("a", type, {2, 5, 3}), bounded(b, {2, 7}, 4)); });
    check([=](GraphBuilder& b) { return b.gather(b.constant(type, {1, 9, 4}, ramp(36)), bounded(b, {1, 1}, 8)); });
    check([=](GraphBuilder& b) {  // rows that lie across
      return b.gather(b.transpose(b.input("a", type, {2, 3, 5}), {0, 2, 1}), bounded(b, {2, 7}, 4));
    });
    check([=](GraphBuilder& b) {  // indices that lie across, and a result that becomes a part
      const TensorId index = b.transpose(b.reshape(bounded(b, {7, 2}, 4), {7, 2}), {1, 0});
      return b.concat({b.gather(b.input("a", type, {2, 5, 3}), index), b.input("b", type, {2, 2, 3})}, 1);
    });
  }
}

TEST(Operators, ScatterRows) {
  const std::vector<double> rows = {3, 0, 4, 2, 1, 0};
  for (const DType type : {DType::kInt8, DType::kInt16, DType::kInt32}) {
    const auto index = [=](GraphBuilder& b) { return b.constant(DType::kInt32, {2, 3}, rows); };
    check([=](GraphBuilder& b) {
      return b.scatter(b.input("a", type, {2, 5, 4}), index(b), b.input("b", type, {2, 3, 4}));
    });
    check([=](GraphBuilder& b) {  // into a constant, rows that lie across
      return b.scatter(b.constant(type, {2, 5, 4}, ramp(40)), index(b),
                       b.transpose(b.input("b", type, {4, 3, 2}), {2, 1, 0}));
    });
    check([=](GraphBuilder& b) {  // the values are used again
      const TensorId values = b.input("a", type, {2, 5, 4});
      const TensorId placed = b.scatter(values, index(b), b.input("b", type, {2, 3, 4}));
      return b.concat({placed, values, b.gather(placed, index(b))}, 1);
    });
  }
}

TEST(Operators, ReduceEveryAxis) {
  for (int32_t axis : {0, 1, 2}) {
    for (Op op : {Op::kReduceSum, Op::kReduceMax, Op::kReduceMin}) {
      check([=](GraphBuilder& b) { return b.reduce(op, b.input("a", DType::kInt32, {3, 4, 5}), axis); });
    }
    for (Op op : {Op::kReduceMax, Op::kReduceMin}) {
      check([=](GraphBuilder& b) { return b.reduce(op, b.input("a", DType::kInt8, {3, 4, 5}), axis); });
    }
    for (Op op : {Op::kReduceAll, Op::kReduceAny}) {
      check([=](GraphBuilder& b) { return b.reduce(op, b.input("a", DType::kBool, {3, 4, 5}), axis); });
    }
    check([=](GraphBuilder& b) { return b.argmax(b.input("a", DType::kInt8, {3, 4, 5}), axis); });
    check([=](GraphBuilder& b) { return b.argmax(b.input("a", DType::kInt16, {3, 4, 5}), axis); });
  }
}

TEST(Operators, Pool) {
  for (DType type : {DType::kInt8, DType::kInt16}) {
    check([=](GraphBuilder& b) {
      return b.max_pool2d(b.input("a", type, {2, 7, 6, 3}), {3, 2}, {2, 2}, {1, 1, 0, 0});
    });
    check([=](GraphBuilder& b) {
      return b.avg_pool2d(b.input("a", type, {2, 7, 6, 3}), {3, 2}, {2, 2}, {1, 1, 1, 1}, type == DType::kInt8 ? -4 : 0,
                          type == DType::kInt8 ? 9 : 0);
    });
  }
}

TEST(Operators, ConvolutionsWithoutRescale) {
  Convolution how;
  how.pad = {1, 2, 0, 1};
  how.stride = {2, 1};
  how.dilation = {1, 2};
  for (DType type : {DType::kInt8, DType::kInt16}) {
    how.input_zp = type == DType::kInt8 ? 5 : 0;
    how.weight_zp = type == DType::kInt8 ? -2 : 0;
    const DType acc = type == DType::kInt8 ? DType::kInt32 : DType::kInt48;
    check([=](GraphBuilder& b) {
      return b.conv2d(b.input("x", type, {2, 8, 9, 3}), b.constant(DType::kInt8, {4, 3, 2, 3}, ramp(72)),
                      b.constant(acc, {4}, ramp(4)), how);
    });
    check([=](GraphBuilder& b) {
      return b.depthwise_conv2d(b.input("x", type, {2, 8, 9, 3}), b.constant(DType::kInt8, {3, 2, 3, 2}, ramp(36)),
                                b.constant(acc, {1}, {77.}), how);
    });
  }
}

// Images of one pixel: what stride and dilation step over is not the next image.
TEST(Operators, ConvolutionsOfABatchOfPixels) {
  for (const std::vector<int32_t>& stride : {std::vector{1, 1}, {1, 2}, {3, 1}, {2, 3}}) {
    for (const std::vector<int32_t>& dilation : {std::vector{1, 1}, {2, 3}}) {
      Convolution how;
      how.stride = stride;
      how.dilation = dilation;
      how.input_zp = 5;
      check([=](GraphBuilder& b) {
        return b.conv2d(b.input("x", DType::kInt8, {4, 1, 1, 3}), b.constant(DType::kInt8, {2, 1, 1, 3}, ramp(6)),
                        b.constant(DType::kInt32, {2}, ramp(2)), how);
      });
      check([=](GraphBuilder& b) {
        return b.depthwise_conv2d(b.input("x", DType::kInt8, {4, 1, 1, 3}),
                                  b.constant(DType::kInt8, {1, 1, 3, 2}, ramp(6)),
                                  b.constant(DType::kInt32, {1}, {77.}), how);
      });
    }
  }
}

TEST(Operators, ConvolutionOfInt4Weights) {
  check([](GraphBuilder& b) {
    return b.conv2d(b.input("x", DType::kInt8, {1, 4, 4, 2}), b.constant(DType::kInt4, {3, 2, 2, 2}, ramp(24, 15, -7)),
                    b.constant(DType::kInt32, {3}, ramp(3)));
  });
}

TEST(Operators, ConvolutionOfRunTimeWeights) {
  check([](GraphBuilder& b) {
    const TensorId weights = b.slice(b.input("w", DType::kInt8, {5, 2, 2, 6}), {1, 0, 0, 0}, {3, 2, 2, 3});
    return b.conv2d(b.input("x", DType::kInt8, {1, 4, 4, 3}), weights, b.constant(DType::kInt32, {3}, ramp(3)));
  });
}

TEST(Operators, MatMul) {
  check([](GraphBuilder& b) {
    return b.matmul(b.input("a", DType::kInt8, {2, 3, 5}), b.input("b", DType::kInt8, {2, 5, 4}), 3, -7);
  });
  check([](GraphBuilder& b) {
    return b.matmul(b.input("a", DType::kInt16, {2, 3, 5}), b.input("b", DType::kInt16, {2, 5, 4}));
  });
}

TEST(Operators, MatMulOfATransposedMatrix) {
  for (DType type : {DType::kInt8, DType::kInt16}) {
    check([=](GraphBuilder& b) {
      const TensorId right = b.transpose(b.input("b", type, {2, 4, 5}), {0, 2, 1});
      return b.matmul(b.input("a", type, {2, 3, 5}), right, type == DType::kInt8 ? 3 : 0,
                      type == DType::kInt8 ? -7 : 0);
    });
  }
}

TEST(Operators, Layout) {
  for (DType type : {DType::kBool, DType::kInt8, DType::kInt16, DType::kInt32}) {
    check([=](GraphBuilder& b) { return b.reshape(b.input("a", type, {2, 3, 4}), {6, 4}); });
    check([=](GraphBuilder& b) { return b.transpose(b.input("a", type, {2, 3, 4}), {2, 0, 1}); });
    check([=](GraphBuilder& b) { return b.reverse(b.input("a", type, {2, 3, 4}), 1); });
    check([=](GraphBuilder& b) { return b.slice(b.input("a", type, {2, 3, 4}), {0, 1, 1}, {2, 2, 3}); });
    check([=](GraphBuilder& b) { return b.tile(b.input("a", type, {2, 3, 4}), {3, 1, 2}); });
    check([=](GraphBuilder& b) { return b.pad(b.input("a", type, {2, 3, 4}), {1, 0, 0, 2, 3, 1}, 1); });
    check([=](GraphBuilder& b) {
      return b.concat({b.input("a", type, {2, 3}), b.input("b", type, {2, 1}), b.input("c", type, {2, 2})}, 1);
    });
    check([=](GraphBuilder& b) { return b.op(Op::kIdentity, {b.input("a", type, {2, 3})}); });
  }
}

TEST(Operators, RankZero) {
  check([](GraphBuilder& b) { return b.add(b.input("a", DType::kInt32, {}), b.input("b", DType::kInt32, {})); });
}

}  // namespace
}  // namespace npu::compiler::testing
