// SPDX-License-Identifier: Apache-2.0
// Each quantity that level 8K bounds, of each operator that has it and in each direction: at the bound and above it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/level.h"

namespace npu::graph {
namespace {

struct Quantity {
  const char* name;
  const char* what;  // where it is, for the test's name
  int64_t most, more;
  std::function<void(GraphBuilder&, int64_t value)> add;
};

void PrintTo(const Quantity& quantity, std::ostream* stream) { *stream << quantity.what; }

// An image [1, height, width, 1] of INT8, or one of rank 5.
TensorId image(GraphBuilder& b, int64_t height, int64_t width) {
  return b.input("x", DType::kInt8, {1, height, width, 1});
}
TensorId weight(GraphBuilder& b, const Shape& shape) { return b.input("w", DType::kInt8, shape); }
TensorId bias(GraphBuilder& b) { return b.input("b", DType::kInt32, {1}); }
// `value` at place i of otherwise equal numbers.
std::vector<int32_t> at(size_t i, int64_t value, std::vector<int32_t> others) {
  others[i] = static_cast<int32_t>(value);
  return others;
}

void pool(GraphBuilder& b, size_t i, int64_t kernel, int64_t stride) {
  b.output(b.max_pool2d(image(b, i == 0 ? kernel : 1, i == 1 ? kernel : 1), at(i, kernel, {1, 1}),
                        at(i, stride, {1, 1}), {0, 0, 0, 0}));
}

void convolve(GraphBuilder& b, const Convolution& options) {
  b.output(b.conv2d(image(b, 1, 1), weight(b, {1, 1, 1, 1}), bias(b), options));
}

void convolve_window(GraphBuilder& b, Op op, size_t i, int64_t size) {
  const int64_t height = i == 0 ? size : 1, width = i == 1 ? size : 1;
  const TensorId x = image(b, height, width);
  if (op == Op::kDepthwiseConv2d) {
    b.output(b.depthwise_conv2d(x, weight(b, {height, width, 1, 1}), bias(b)));
  } else if (op == Op::kTransposeConv2d) {
    b.output(b.transpose_conv2d(x, weight(b, {1, height, width, 1}), bias(b)));
  } else {
    b.output(b.conv2d(x, weight(b, {1, height, width, 1}), bias(b)));
  }
}

// The window of 2 elements with a dilation counts as 2 * dilation.
void dilate(GraphBuilder& b, size_t i, int64_t window) {
  const auto dilation = static_cast<int32_t>(window / 2);
  Shape in = {1, 1, 1, 1, 1}, kernel = {1, 1, 1, 1, 1};
  in[i + 1] = dilation + 1;
  kernel[i + 1] = 2;
  b.output(b.conv3d(b.input("x", DType::kInt8, in), weight(b, kernel), bias(b),
                    {.pad = {0, 0, 0, 0, 0, 0}, .stride = {1, 1, 1}, .dilation = at(i, dilation, {1, 1, 1})}));
}

void transform(GraphBuilder& b, size_t i, int64_t size, bool real) {
  Shape shape = {1, 1, 1};
  shape[i + 1] = size;
  const TensorId x = b.input("x", DType::kFp32, shape);
  b.output(real ? b.rfft2d(x)[0] : b.fft2d(x, b.input("y", DType::kFp32, shape))[0]);
}

// The scale value / 1 as a fraction that could be simplified.
void enlarge(GraphBuilder& b, size_t i, int64_t value) {
  std::vector<int64_t> scale = {1, 1, 1, 1};
  scale[2 * i] = 3 * value;
  scale[2 * i + 1] = 3;
  b.output(b.resize(image(b, 1, 1), ResizeMode::kNearest, scale, {0, 0}, {0, 0}, DType::kInt8));
}

std::vector<Quantity> quantities() {
  std::vector<Quantity> all;
  for (const size_t i : {0, 1}) {
    const char* where = i == 0 ? "y" : "x";
    all.push_back({"kernel", where, 8192, 8193, [i](auto& b, int64_t value) { pool(b, i, value, 1); }});
    all.push_back({"stride", where, 8192, 8193, [i](auto& b, int64_t value) { pool(b, i, 1, value); }});
    all.push_back({"stride", where, 8192, 8193, [i](auto& b, int64_t value) {
                     convolve(b, {.stride = at(i, value, {1, 1})});
                   }});
    for (const Op op : {Op::kConv2d, Op::kDepthwiseConv2d, Op::kTransposeConv2d}) {
      all.push_back({"kernel times dilation", where, 8192, 8193,
                     [i, op](auto& b, int64_t value) { convolve_window(b, op, i, value); }});
    }
    for (const bool real : {false, true}) {
      all.push_back(
          {"height or width", where, 8192, 16384, [i, real](auto& b, int64_t value) { transform(b, i, value, real); }});
    }
    all.push_back({"scale", where, 256, 257, [i](auto& b, int64_t value) { enlarge(b, i, value); }});
  }
  for (const size_t i : {0, 1, 2}) {
    all.push_back(
        {"kernel times dilation", "conv3d", 8192, 8194, [i](auto& b, int64_t value) { dilate(b, i, value); }});
  }
  for (const size_t i : {0, 1, 2, 3}) {
    all.push_back({"pad", "conv2d", 8192, 8193, [i](auto& b, int64_t value) {
                     convolve(b, {.pad = at(i, value, {0, 0, 0, 0})});
                   }});
    all.push_back({"out_pad", "transpose_conv2d", 8192, 8193, [i](auto& b, int64_t value) {
                     b.output(b.transpose_conv2d(image(b, 1, 1), weight(b, {1, 1, 1, 1}), bias(b),
                                                 {.pad = at(i, value, {0, 0, 0, 0})}));
                   }});
  }
  all.push_back({"number of outputs", "custom", 64, 65, [](auto& b, int64_t value) {
                   for (const TensorId id : b.ops(Op::kCustom, {image(b, 1, 1)}, {},
                                                  std::vector<DType>(static_cast<size_t>(value), DType::kInt8))) {
                     b.output(id);
                   }
                 }});
  return all;
}

class Quantities : public testing::TestWithParam<Quantity> {};

TEST_P(Quantities, HaveABound) {
  GraphBuilder fits, exceeds;
  GetParam().add(fits, GetParam().most);
  EXPECT_TRUE(above(fits.build(), Level::k8K).empty());
  GetParam().add(exceeds, GetParam().more);
  const auto excesses = above(exceeds.build(), Level::k8K);
  ASSERT_EQ(excesses.size(), 1u);
  const std::string wanted = std::string(": its ") + GetParam().name + " of " + std::to_string(GetParam().more) +
                             " is above level 8K's " + std::to_string(GetParam().most);
  EXPECT_NE(excesses[0].text.find(wanted), std::string::npos) << excesses[0].text;
  EXPECT_TRUE(above(exceeds.build(), Level::kNone).empty());
}

INSTANTIATE_TEST_SUITE_P(Level8K, Quantities, testing::ValuesIn(quantities()));

TEST(Levels, BytesOfSmallElements) {
  // INT4 elements count as bytes, INT48 ones as six; the bound is 2^31 - 1.
  const auto excesses = [](DType type, int64_t elements) {
    GraphBuilder b;
    b.output(b.input("x", type, {elements}));
    return above(b.build(), Level::k8K).size();
  };
  EXPECT_EQ(excesses(DType::kInt4, (int64_t{1} << 31) - 1), 0u);
  EXPECT_EQ(excesses(DType::kInt16, (int64_t{1} << 30) - 1), 0u);
  EXPECT_EQ(excesses(DType::kInt16, int64_t{1} << 30), 1u);
  EXPECT_EQ(excesses(DType::kInt48, (int64_t{1} << 31) / 6), 0u);
  EXPECT_EQ(excesses(DType::kInt48, (int64_t{1} << 31) / 6 + 1), 1u);
}

}  // namespace
}  // namespace npu::graph
