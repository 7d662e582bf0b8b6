// SPDX-License-Identifier: Apache-2.0
// The rules of the operators, one by one: the shape of the result where no two sizes are equal, and what is refused
// just beyond each limit.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

// The shape of what a builder adds, or the name of the error with which the rule refuses it.
std::string outcome(const std::function<TensorId(GraphBuilder&)>& add) {
  GraphBuilder b;
  try {
    const TensorId id = add(b);
    b.output(id);
    validate(b.build());
    return to_string(b.tensor(id).shape);
  } catch (const Error& error) {
    return std::string(contract::name(error.code()));
  }
}

constexpr const char* kBadShapeName = "bad_shape";
constexpr const char* kBadArgumentName = "bad_argument";

TensorId i8(GraphBuilder& b, const Shape& shape) {
  return b.input(std::string("in").append(std::to_string(b.build().main().tensors.size())), DType::kInt8, shape);
}

std::string convolved(Op op, const Shape& in, const Shape& weight, const Convolution& options, int64_t biases) {
  return outcome([&](GraphBuilder& b) {
    const TensorId x = i8(b, in);
    const TensorId w = i8(b, weight);
    const TensorId bias = b.input("bias", DType::kInt32, {biases});
    return op == Op::kConv2d            ? b.conv2d(x, w, bias, options)
           : op == Op::kConv3d          ? b.conv3d(x, w, bias, options)
           : op == Op::kDepthwiseConv2d ? b.depthwise_conv2d(x, w, bias, options)
                                        : b.transpose_conv2d(x, w, bias, options);
  });
}

TEST(Rules, ConvolutionShapes) {
  for (const std::vector<int32_t>& pad : {std::vector<int32_t>{1, 0, 0, 1}, {0, 1, 1, 0}}) {
    const Convolution options{.pad = pad, .stride = {3, 2}, .dilation = {2, 3}};
    EXPECT_EQ(convolved(Op::kConv2d, {2, 10, 13, 3}, {5, 3, 2, 3}, options, 5), "[2, 3, 6, 5]");
    EXPECT_EQ(convolved(Op::kDepthwiseConv2d, {2, 10, 13, 3}, {3, 2, 3, 4}, options, 12), "[2, 3, 6, 12]");
  }
  for (const std::vector<int32_t>& pad : {std::vector<int32_t>{1, 0, 1, 0, 0, 1}, {0, 1, 0, 1, 1, 0}}) {
    EXPECT_EQ(convolved(Op::kConv3d, {2, 4, 10, 13, 3}, {5, 2, 3, 2, 3},
                        {.pad = pad, .stride = {1, 3, 2}, .dilation = {1, 2, 3}}, 5),
              "[2, 4, 3, 6, 5]");
  }
  EXPECT_EQ(convolved(Op::kTransposeConv2d, {2, 3, 4, 5}, {6, 3, 2, 5}, {.pad = {1, -1, 0, 2}, .stride = {2, 3}}, 6),
            "[2, 7, 13, 6]");
}

TEST(Rules, ConvolutionLimits) {
  EXPECT_EQ(convolved(Op::kConv2d, {1, 3, 4, 1}, {1, 3, 4, 1}, {}, 1), "[1, 1, 1, 1]");
  EXPECT_EQ(convolved(Op::kConv2d, {1, 3, 4, 1}, {1, 4, 4, 1}, {}, 1), kBadShapeName);
  EXPECT_EQ(convolved(Op::kConv2d, {1, 3, 4, 1}, {1, 3, 5, 1}, {}, 1), kBadShapeName);
  EXPECT_EQ(convolved(Op::kConv2d, {1, 3, 4, 1}, {3, 3, 4, 1}, {}, 1), "[1, 1, 1, 3]");
  EXPECT_EQ(convolved(Op::kConv2d, {1, 3, 4, 1}, {3, 3, 4, 1}, {}, 2), kBadShapeName);
  for (const size_t i : {0, 1, 2, 3}) {
    Convolution negative;
    negative.pad[i] = -1;
    EXPECT_EQ(convolved(Op::kConv2d, {1, 5, 5, 1}, {1, 2, 2, 1}, negative, 1), kBadArgumentName);
  }
  for (const size_t i : {0, 1}) {
    Convolution still, flat;
    still.stride[i] = 0;
    flat.dilation[i] = 0;
    for (const Op op : {Op::kConv2d, Op::kDepthwiseConv2d}) {
      EXPECT_EQ(convolved(op, {1, 5, 5, 1}, {1, 1, 1, 1}, still, 1), kBadArgumentName);
      EXPECT_EQ(convolved(op, {1, 5, 5, 1}, {1, 1, 1, 1}, flat, 1), kBadArgumentName);
    }
    EXPECT_EQ(convolved(Op::kTransposeConv2d, {1, 5, 5, 1}, {1, 1, 1, 1}, still, 1), kBadArgumentName);
  }
  EXPECT_EQ(convolved(Op::kDepthwiseConv2d, {1, 5, 5, 2}, {1, 1, 2, 3}, {}, 2), kBadShapeName);
  EXPECT_EQ(convolved(Op::kDepthwiseConv2d, {1, 5, 5, 3}, {1, 1, 2, 3}, {}, 6), kBadShapeName);
  EXPECT_EQ(convolved(Op::kTransposeConv2d, {1, 5, 5, 3}, {2, 1, 1, 3}, {}, 3), kBadShapeName);
}

TEST(Rules, OutPadLimits) {
  // A kernel of 3 x 2: out_pad may take away one less than that on each side, as long as something is left.
  for (const size_t i : {0, 1, 2, 3}) {
    const int32_t kernel = i < 2 ? 3 : 2;
    Convolution most, more;
    most.pad[i] = 1 - kernel;
    more.pad[i] = -kernel;
    EXPECT_EQ(convolved(Op::kTransposeConv2d, {1, 5, 5, 1}, {1, 3, 2, 1}, most, 1),
              i < 2 ? "[1, 5, 6, 1]" : "[1, 7, 5, 1]");
    EXPECT_EQ(convolved(Op::kTransposeConv2d, {1, 5, 5, 1}, {1, 3, 2, 1}, more, 1), kBadArgumentName);
  }
  EXPECT_EQ(convolved(Op::kTransposeConv2d, {1, 1, 1, 1}, {1, 3, 3, 1}, {.pad = {-2, 0, 0, -2}}, 1), "[1, 1, 1, 1]");
  EXPECT_EQ(convolved(Op::kTransposeConv2d, {1, 1, 1, 1}, {1, 3, 3, 1}, {.pad = {-2, -1, 0, 0}}, 1), kBadShapeName);
  EXPECT_EQ(convolved(Op::kTransposeConv2d, {1, 1, 1, 1}, {1, 3, 3, 1}, {.pad = {0, 0, -1, -2}}, 1), kBadShapeName);
}

TEST(Rules, Pooling) {
  for (const std::vector<int32_t>& pad : {std::vector<int32_t>{2, 0, 1, 0}, {0, 2, 0, 1}}) {
    EXPECT_EQ(outcome([&](auto& b) {
                return b.avg_pool2d(i8(b, {2, 9, 12, 3}), {3, 4}, {2, 3}, pad);
              }),
              "[2, 5, 4, 3]");
    EXPECT_EQ(outcome([&](auto& b) {
                return b.max_pool2d(i8(b, {2, 9, 12, 3}), {3, 4}, {2, 3}, pad);
              }),
              "[2, 5, 4, 3]");
  }
  const auto pooled = [](std::vector<int32_t> kernel, std::vector<int32_t> stride, std::vector<int32_t> pad) {
    return outcome([&](auto& b) { return b.max_pool2d(i8(b, {1, 3, 4, 1}), kernel, stride, pad); });
  };
  EXPECT_EQ(pooled({3, 4}, {1, 1}, {0, 0, 0, 0}), "[1, 1, 1, 1]");
  EXPECT_EQ(pooled({4, 4}, {1, 1}, {0, 0, 0, 0}), kBadShapeName);
  EXPECT_EQ(pooled({3, 5}, {1, 1}, {0, 0, 0, 0}), kBadShapeName);
  EXPECT_EQ(pooled({1, 1}, {2, 1}, {0, 0, 0, 0}), "[1, 2, 4, 1]");
  EXPECT_EQ(pooled({1, 1}, {1, 2}, {0, 0, 0, 0}), kBadShapeName);
  for (const size_t i : {0, 1, 2, 3}) {
    std::vector<int32_t> pad = {0, 0, 0, 0};
    pad[i] = i < 2 ? 1 : 2;  // one less than the kernel
    EXPECT_EQ(pooled({2, 3}, {1, 1}, pad), i < 2 ? "[1, 3, 2, 1]" : "[1, 2, 4, 1]");
    ++pad[i];
    EXPECT_EQ(pooled({2, 3}, {1, 1}, pad), kBadArgumentName);
    pad[i] = -1;
    EXPECT_EQ(pooled({2, 3}, {1, 1}, pad), kBadArgumentName);
  }
  for (const size_t i : {0, 1}) {
    std::vector<int32_t> none = {1, 1};
    none[i] = 0;
    EXPECT_EQ(pooled(none, {1, 1}, {0, 0, 0, 0}), kBadArgumentName);
    EXPECT_EQ(pooled({1, 1}, none, {0, 0, 0, 0}), kBadArgumentName);
  }
}

TEST(Rules, ZeroPointsAreForInt8) {
  const auto convolution = [](DType in, DType weight, DType out, double input_zp, double weight_zp) {
    return outcome([&](GraphBuilder& b) {
      const TensorId x = b.input("x", in, {1, 1, 1, 1});
      const TensorId w = b.input("w", weight, {1, 1, 1, 1});
      return b.conv2d(x, w, b.input("b", out, {1}), {.input_zp = input_zp, .weight_zp = weight_zp});
    });
  };
  EXPECT_EQ(convolution(DType::kInt8, DType::kInt8, DType::kInt32, 1, 1), "[1, 1, 1, 1]");
  EXPECT_EQ(convolution(DType::kInt16, DType::kInt8, DType::kInt48, 0, 1), "[1, 1, 1, 1]");
  EXPECT_EQ(convolution(DType::kInt16, DType::kInt8, DType::kInt48, 1, 0), kBadArgumentName);
  EXPECT_EQ(convolution(DType::kFp32, DType::kFp32, DType::kFp32, 0, 1), kBadArgumentName);
  EXPECT_EQ(convolution(DType::kFp32, DType::kFp32, DType::kFp32, 1, 0), kBadArgumentName);
  for (const auto& [a, b] : {std::pair{1, 0}, {0, 1}}) {
    const auto pooled = [&](DType type) {
      return outcome([&](auto& g) {
        return g.avg_pool2d(g.input("x", type, {1, 1, 1, 1}), {1, 1}, {1, 1}, {0, 0, 0, 0}, a, b);
      });
    };
    EXPECT_EQ(pooled(DType::kInt8), "[1, 1, 1, 1]");
    EXPECT_EQ(pooled(DType::kInt16), kBadArgumentName);
    const auto negated = [&](DType type) {
      return outcome([&](auto& g) { return g.negate(g.input("x", type, {2}), a, b); });
    };
    EXPECT_EQ(negated(DType::kInt8), "[2]");
    EXPECT_EQ(negated(DType::kInt16), kBadArgumentName);
    const auto product = [&](DType type) {
      return outcome([&](auto& g) {
        const TensorId x = g.input("x", type, {1, 1, 1});
        return g.matmul(x, g.input("y", type, {1, 1, 1}), a, b);
      });
    };
    EXPECT_EQ(product(DType::kInt8), "[1, 1, 1]");
    EXPECT_EQ(product(DType::kInt16), kBadArgumentName);
  }
}

TEST(Rules, ProductsAndTransforms) {
  const auto product = [](const Shape& x, const Shape& y) {
    return outcome([&](auto& b) {
      const TensorId a = i8(b, x);
      return b.matmul(a, i8(b, y));
    });
  };
  EXPECT_EQ(product({2, 3, 4}, {2, 4, 5}), "[2, 3, 5]");
  EXPECT_EQ(product({2, 3, 4}, {1, 4, 5}), kBadShapeName);
  EXPECT_EQ(product({2, 3, 4}, {2, 3, 5}), kBadShapeName);
  EXPECT_EQ(product({2, 3, 4}, {2, 2, 4}), kBadShapeName);
  const auto transformed = [](const Shape& shape, bool real) {
    return outcome([&](auto& b) {
      const TensorId x = b.input("x", DType::kFp32, shape);
      return real ? b.rfft2d(x)[1] : b.fft2d(x, b.input("y", DType::kFp32, shape))[1];
    });
  };
  EXPECT_EQ(transformed({3, 2, 8}, false), "[3, 2, 8]");
  EXPECT_EQ(transformed({3, 2, 8}, true), "[3, 2, 5]");
  EXPECT_EQ(transformed({3, 1, 1}, true), "[3, 1, 1]");
  for (const bool real : {false, true}) {
    EXPECT_EQ(transformed({1, 3, 4}, real), kBadShapeName);
    EXPECT_EQ(transformed({1, 4, 6}, real), kBadShapeName);
  }
}

TEST(Rules, Broadcasting) {
  const auto sum = [](const Shape& x, const Shape& y) {
    return outcome([&](auto& b) {
      const TensorId a = b.input("x", DType::kInt32, x);
      return b.add(a, b.input("y", DType::kInt32, y));
    });
  };
  EXPECT_EQ(sum({2, 1, 3}, {1, 4, 3}), "[2, 4, 3]");
  EXPECT_EQ(sum({1, 4, 3}, {2, 1, 3}), "[2, 4, 3]");
  EXPECT_EQ(sum({}, {}), "[]");
  EXPECT_EQ(sum({2, 3}, {3, 3}), kBadShapeName);
  EXPECT_EQ(sum({2, 3}, {2, 2}), kBadShapeName);
  EXPECT_EQ(sum({2, 3}, {2, 3, 1}), kBadShapeName);
  EXPECT_EQ(sum({2, 3}, {3}), kBadShapeName);
  const auto product = [](const Shape& x, const Shape& y) {
    return outcome([&](auto& b) {
      const TensorId a = i8(b, x);
      return b.mul(a, i8(b, y));
    });
  };
  EXPECT_EQ(product({2, 1, 3}, {1, 4, 3}), "[2, 4, 3]");
  EXPECT_EQ(product({2, 3}, {3, 3}), kBadShapeName);
  const auto choice = [](const Shape& flag, const Shape& x, const Shape& y) {
    return outcome([&](auto& b) {
      const TensorId f = b.input("flag", DType::kBool, flag);
      const TensorId a = i8(b, x);
      return b.select(f, a, i8(b, y));
    });
  };
  EXPECT_EQ(choice({1, 1}, {2, 1}, {1, 3}), "[2, 3]");
  EXPECT_EQ(choice({2, 1}, {1, 1}, {1, 3}), "[2, 3]");
  EXPECT_EQ(choice({1, 2}, {1, 1}, {1, 3}), kBadShapeName);
}

TEST(Rules, ClampLimits) {
  const auto clamped = [](DType type, double low, double high) {
    return outcome([&](auto& b) { return b.clamp(b.input("x", type, {2}), low, high); });
  };
  for (const DType type : {DType::kInt8, DType::kInt16, DType::kFp32, DType::kFp16, DType::kBf16}) {
    EXPECT_EQ(clamped(type, -2, -2), "[2]");
    EXPECT_EQ(clamped(type, -2, -1), "[2]");
    EXPECT_EQ(clamped(type, -1, -2), kBadArgumentName);
    EXPECT_EQ(clamped(type, -100, 100), "[2]");
    EXPECT_EQ(clamped(type, 100, -100), kBadArgumentName);
    EXPECT_EQ(clamped(type, 100, 99), kBadArgumentName);
  }
  EXPECT_EQ(clamped(DType::kInt16, -32768, 32767), "[2]");
  EXPECT_EQ(clamped(DType::kInt16, 256, 255), kBadArgumentName);
  for (const DType type : {DType::kFp32, DType::kFp16, DType::kBf16}) {
    constexpr double kInfinity = HUGE_VAL;
    EXPECT_EQ(clamped(type, -kInfinity, kInfinity), "[2]");
    EXPECT_EQ(clamped(type, kInfinity, kInfinity), "[2]");
    EXPECT_EQ(clamped(type, kInfinity, 1), kBadArgumentName);
    EXPECT_EQ(clamped(type, NAN, 1), kBadArgumentName);
    EXPECT_EQ(clamped(type, 1, NAN), kBadArgumentName);
    EXPECT_EQ(clamped(type, 0.75, 0.5), kBadArgumentName);
  }
  // The smallest numbers of FP16, and its smallest normal one.
  EXPECT_EQ(clamped(DType::kFp16, 0x1p-24, 0x1p-24), "[2]");
  EXPECT_EQ(clamped(DType::kFp16, 0x1p-24, 0), kBadArgumentName);
  EXPECT_EQ(clamped(DType::kFp16, 0x1p-14, 0x1p-15), kBadArgumentName);
  EXPECT_EQ(clamped(DType::kFp16, 0x1p-15, 0x1p-14), "[2]");
}

TEST(Rules, RescaleAttributes) {
  const auto rescaled = [](DType in, DType out, const Rescaling& options) {
    return outcome([&](auto& b) { return b.rescale(b.input("x", in, {2, 3}), out, options); });
  };
  const auto narrow = [](DType type) { return type == DType::kInt8 || type == DType::kInt16; };
  for (const DType in : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt48}) {
    for (const DType out : {DType::kInt8, DType::kInt16, DType::kInt32}) {
      for (const unsigned flags : {0u, 1u, 2u, 3u}) {
        Rescaling options{.scale32 = in != DType::kInt48};
        options.multiplier = {1};
        options.input_unsigned = (flags & 1) != 0;
        options.output_unsigned = (flags & 2) != 0;
        const bool fits = flags == 0 || (flags != 3 && narrow(in) && narrow(out));
        EXPECT_EQ(rescaled(in, out, options), fits ? "[2, 3]" : kBadArgumentName)
            << name(in) << " to " << name(out) << ", " << flags;
      }
    }
  }
  EXPECT_EQ(rescaled(DType::kInt48, DType::kInt8, {}), kBadArgumentName);
  EXPECT_EQ(rescaled(DType::kInt8, DType::kInt8, {.rounding = RoundingMode::kDoubleRound}), "[2, 3]");
  EXPECT_EQ(rescaled(DType::kInt8, DType::kInt8,
                     {.multiplier = {1}, .scale32 = false, .rounding = RoundingMode::kDoubleRound}),
            kBadArgumentName);
  EXPECT_EQ(rescaled(DType::kInt8, DType::kInt8, {.multiplier = {1, 2, 3}, .shift = {30, 30, 30}, .per_channel = true}),
            "[2, 3]");
  EXPECT_EQ(rescaled(DType::kInt8, DType::kInt8, {.multiplier = {1, 2}, .shift = {30, 30}, .per_channel = true}),
            kBadShapeName);
  EXPECT_EQ(
      outcome([](auto& b) { return b.rescale(b.input("x", DType::kInt8, {}), DType::kInt8, {.per_channel = true}); }),
      kBadArgumentName);
}

TEST(Rules, RescaleZeroPoints) {
  const auto rescaled = [](DType in, DType out, const Rescaling& options) {
    return outcome([&](auto& b) { return b.rescale(b.input("x", in, {2}), out, options); });
  };
  constexpr DType kI8 = DType::kInt8, kI16 = DType::kInt16, kI32 = DType::kInt32;
  EXPECT_EQ(rescaled(kI8, kI8, {.input_zp = 7, .output_zp = -128}), "[2]");
  EXPECT_EQ(rescaled(kI32, kI8, {.input_zp = 1}), kBadArgumentName);
  EXPECT_EQ(rescaled(kI8, kI32, {.output_zp = 1}), kBadArgumentName);
  for (const bool input : {false, true}) {
    // -32768 has the bits of 32768.
    for (const auto& [zero, is_unsigned, fits] : {std::tuple{0, true, true},
                                                  {-32768, true, true},
                                                  {-32767, true, false},
                                                  {1, true, false},
                                                  {0, false, true},
                                                  {-32768, false, false}}) {
      Rescaling options;
      (input ? options.input_unsigned : options.output_unsigned) = is_unsigned;
      (input ? options.input_zp : options.output_zp) = zero;
      EXPECT_EQ(rescaled(input ? kI16 : kI8, input ? kI8 : kI16, options), fits ? "[2]" : kBadArgumentName)
          << zero << (is_unsigned ? " unsigned" : " signed");
    }
  }
}

}  // namespace
}  // namespace npu::graph
