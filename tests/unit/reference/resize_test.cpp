// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

using Numbers = std::vector<int64_t>;

OperatorCase resize(graph::ResizeMode mode, const Value& image, DType type, const Shape& result, const Numbers& scale,
                    const Numbers& offset, const Numbers& border) {
  Attributes a;
  a.resize_mode = mode;
  return {Op::kResize, {image, dims(scale), dims(offset), dims(border)}, type, result, a};
}
constexpr auto kNearest = graph::ResizeMode::kNearest;
constexpr auto kBilinear = graph::ResizeMode::kBilinear;

TEST(Resize, NearestTwofold) {
  const Value image = i8({1, 1, 2, 2}, {1, -1, 2, -2});
  EXPECT_EQ(resize(kNearest, image, DType::kInt8, {1, 2, 4, 2}, {4, 2, 4, 2}, {-1, -1}, {1, 1}).numbers(),
            (Numbers{1, -1, 1, -1, 2, -2, 2, -2, 1, -1, 1, -1, 2, -2, 2, -2}));
}

TEST(Resize, BilinearHalfPixelCentres) {
  // The result carries the factor 4 * 4; positions fall at -1/4, 1/4, 3/4, 5/4 of the operand.
  const Value image = i8({1, 1, 2, 1}, {10, 20});
  EXPECT_EQ(resize(kBilinear, image, DType::kInt32, {1, 2, 4, 1}, {4, 2, 4, 2}, {-1, -1}, {1, 1}).numbers(),
            (Numbers{160, 200, 280, 320, 160, 200, 280, 320}));
}

TEST(Resize, BilinearInt16To48) {
  const Value image = i16({1, 2, 1, 1}, {-32768, 32767});
  // Aligned corners: three rows from two.
  EXPECT_EQ(resize(kBilinear, image, DType::kInt48, {1, 3, 1, 1}, {2048, 1024, 2048, 2048}, {0, 0}, {0, 0}).numbers(),
            (Numbers{int64_t{-32768} * 2048 * 2048, int64_t{-1} * 1024 * 2048, int64_t{32767} * 2048 * 2048}));
}

TEST(Resize, Downscale) {
  const Value image = i8({1, 1, 4, 1}, {1, 2, 3, 4});
  EXPECT_EQ(resize(kNearest, image, DType::kInt8, {1, 1, 2, 1}, {1, 1, 1, 2}, {0, 0}, {0, -1}).numbers(),
            (Numbers{1, 3}));
}

TEST(Resize, ChecksItsParameters) {
  const Value image = i8({1, 1, 2, 1}, {10, 20});
  EXPECT_EQ(error_of(resize(kNearest, image, DType::kInt8, {1, 1, 2, 1}, {1, 1, 0, 1}, {0, 0}, {0, 0})),
            ErrorCode::kBadArgument);
  EXPECT_EQ(error_of(resize(kNearest, image, DType::kInt8, {1, 1, 2, 1}, {1, 1, 1, 16}, {0, 0}, {0, 0})),
            ErrorCode::kBadArgument);
  EXPECT_EQ(error_of(resize(kNearest, image, DType::kInt8, {1, 1, 3, 1}, {1, 1, 1, 1}, {0, 0}, {0, 0})),
            ErrorCode::kBadShape);
  EXPECT_EQ(error_of(resize(kBilinear, image, DType::kInt8, {1, 1, 2, 1}, {1, 1, 1, 1}, {0, 0}, {0, 0})),
            ErrorCode::kTypeUnsupported);
}

}  // namespace
}  // namespace npu::reference::test
