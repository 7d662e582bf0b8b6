// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/compiler/lower/views.h"

namespace npu::compiler {
namespace {

using contract::Element;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

View dense(const Dims& dims, Element type = Element::kI8) { return dense_view(7, type, dims); }

TEST(Views, DenseViewHasStridesOfCOrder) {
  const View view = dense({2, 3, 4}, Element::kI32);
  EXPECT_THAT(view.strides, ElementsAre(48, 16, 4));
  EXPECT_TRUE(is_dense(view));
  EXPECT_TRUE(inner_dense(view));
}

TEST(Views, ReshapeOfADenseViewIsDense) {
  const auto view = reshape(dense({2, 3, 4}), {4, 1, 6});
  ASSERT_TRUE(view);
  EXPECT_THAT(view->dims, ElementsAre(4, 1, 6));
  EXPECT_TRUE(is_dense(*view));
}

TEST(Views, ReshapeToAndFromRankZero) {
  const auto scalar = reshape(dense({1, 1}), {});
  ASSERT_TRUE(scalar);
  EXPECT_THAT(scalar->dims, IsEmpty());
  EXPECT_TRUE(reshape(*scalar, {1, 1, 1}));
}

TEST(Views, SliceKeepsStridesAndMovesTheStart) {
  const View view = slice(dense({5, 8}), {1, 2}, {3, 4});
  EXPECT_EQ(view.offset, 10);
  EXPECT_THAT(view.strides, ElementsAre(8, 1));
  EXPECT_FALSE(is_dense(view));
  EXPECT_TRUE(inner_dense(view));
}

TEST(Views, ReshapeOfASliceWorksWhereDimensionsStayWhole) {
  const View view = slice(dense({4, 6, 8}), {0, 0, 0}, {4, 6, 4});
  const auto rows = reshape(view, {24, 4});
  ASSERT_TRUE(rows);
  EXPECT_THAT(rows->strides, ElementsAre(8, 1));
  const auto split = reshape(view, {2, 2, 6, 2, 2});
  ASSERT_TRUE(split);
  EXPECT_THAT(split->strides, ElementsAre(96, 48, 8, 2, 1));
  EXPECT_FALSE(reshape(view, {4, 24}));
}

TEST(Views, ReshapeOfATransposedViewWorksOnlyWithinDimensions) {
  const View view = permute(dense({4, 6}), std::vector<int32_t>{1, 0});
  EXPECT_THAT(view.strides, ElementsAre(1, 6));
  EXPECT_TRUE(reshape(view, {6, 2, 2}));
  EXPECT_FALSE(reshape(view, {24}));
  EXPECT_FALSE(reshape(view, {4, 6}));
}

TEST(Views, ReverseStartsAtTheEnd) {
  const View view = reverse(dense({3, 4}), 1);
  EXPECT_EQ(view.offset, 3);
  EXPECT_THAT(view.strides, ElementsAre(4, -1));
  EXPECT_FALSE(inner_dense(view));
}

TEST(Views, BroadcastRepeatsDimensionsOfOne) {
  const View view = broadcast(dense({2, 1, 4}), {2, 5, 4});
  EXPECT_THAT(view.dims, ElementsAre(2, 5, 4));
  EXPECT_THAT(view.strides, ElementsAre(4, 0, 1));
}

TEST(Views, SamePlaceIgnoresStridesOfDimensionsOfOne) {
  View a = dense({1, 4}), b = a;
  b.strides[0] = 1000;
  EXPECT_TRUE(same_place(a, b));
  b.strides[1] = 2;
  EXPECT_FALSE(same_place(a, b));
}

void merge(Dims& dims, std::vector<std::vector<int64_t>>& strides, bool keep = false) {
  std::vector<std::vector<int64_t>*> pointers;
  for (auto& list : strides) pointers.push_back(&list);
  coalesce(dims, pointers, keep);
}

TEST(Coalesce, MergesWhatAllWalkAsOne) {
  Dims dims = {2, 3, 1, 4};
  std::vector<std::vector<int64_t>> strides = {{12, 4, 4, 1}, {0, 0, 0, 0}};
  merge(dims, strides);
  EXPECT_THAT(dims, ElementsAre(24));
  EXPECT_THAT(strides[0], ElementsAre(1));
  EXPECT_THAT(strides[1], ElementsAre(0));
}

TEST(Coalesce, KeepsWhatOneOfThemWalksInSteps) {
  Dims dims = {2, 3, 4};
  std::vector<std::vector<int64_t>> strides = {{12, 4, 1}, {12, 4, 0}};
  merge(dims, strides);
  EXPECT_THAT(dims, ElementsAre(6, 4));
  EXPECT_THAT(strides[0], ElementsAre(4, 1));
  EXPECT_THAT(strides[1], ElementsAre(4, 0));
}

TEST(Coalesce, KeepsTheInnermostDimensionWhenAsked) {
  Dims dims = {2, 3, 4};
  std::vector<std::vector<int64_t>> strides = {{12, 4, 1}};
  merge(dims, strides, true);
  EXPECT_THAT(dims, ElementsAre(6, 4));
}

TEST(Coalesce, DropsInnermostDimensionOfOne) {
  Dims dims = {2, 3, 1};
  std::vector<std::vector<int64_t>> strides = {{64, 1, 77}};
  merge(dims, strides);
  EXPECT_THAT(dims, ElementsAre(2, 3));
  EXPECT_THAT(strides[0], ElementsAre(64, 1));
}

TEST(Coalesce, LeavesOneDimensionOfAScalar) {
  Dims dims;
  std::vector<std::vector<int64_t>> strides = {{}};
  merge(dims, strides);
  EXPECT_THAT(dims, ElementsAre(1));
  EXPECT_THAT(strides[0], ElementsAre(0));
}

}  // namespace
}  // namespace npu::compiler
