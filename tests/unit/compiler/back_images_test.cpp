// SPDX-License-Identifier: Apache-2.0
// Images as operands of tiles: each element of a box is where the image has it, and is in the box once.
#include <gtest/gtest.h>

#include <set>

#include "driver/compiler/schedule/image_operand.h"

namespace npu::compiler::backend {
namespace {

using contract::Element;

struct Part {
  Range n, y, x, c;
};

// Bytes of a box where it lies, in the buffer; `stride` as the operand's view has them.
std::set<int64_t> bytes_of(const View& view, const Box& box) {
  std::set<int64_t> bytes = {view.offset};
  for (size_t d = 0; d < box.size(); ++d) {
    std::set<int64_t> next;
    for (const int64_t at : bytes) {
      for (int64_t i = 0; i < box[d].count; ++i) next.insert(at + (box[d].start + i) * view.strides[d]);
    }
    bytes = std::move(next);
  }
  return bytes;
}

// The box has what the part of the image has, and no more; strides say where.
void expect_part(const View& image, const Part& part) {
  const ImageOperand operand(image);
  const Box box = operand.box(part.n, part.y, part.x, part.c);
  EXPECT_EQ(bytes_of(operand.view(), box), bytes_of(image, {part.n, part.y, part.x, part.c}));
  EXPECT_EQ(packed_bytes(operand.view(), box, false),
            operand.bytes(part.n.count, part.y.count, part.x.count, part.c.count));
  EXPECT_EQ(operand.strides(operand.view().strides), image.strides);
}

constexpr Part kParts[] = {
    {{0, 3}, {0, 2}, {0, 4}, {0, 4}}, {{1, 2}, {1, 1}, {2, 2}, {0, 4}}, {{2, 1}, {0, 2}, {3, 1}, {1, 2}}};

TEST(ImageOperand, KeepsImagesThatLieBehindEachOther) {
  const View image = {0, 5, Element::kI8, {3, 2, 4, 4}, {32, 16, 4, 1}};
  EXPECT_FALSE(ImageOperand(image).batch_inside());
  for (const Part& part : kParts) expect_part(image, part);
}

// As columns of a volume are.
TEST(ImageOperand, PutsABatchInsideOfItsPixels) {
  const View image = {0, 6, Element::kI16, {3, 2, 4, 4}, {8, 96, 24, 2}};
  EXPECT_TRUE(ImageOperand(image).batch_inside());
  EXPECT_EQ(ImageOperand(image).view().dims, (std::vector<int64_t>{2, 4, 3, 4}));
  for (const Part& part : kParts) expect_part(image, part);
}

// As windows of CONV3D do: a box is one run a pixel, and has what images share once.
TEST(ImageOperand, TakesOverlappingImagesAsOne) {
  const View image = {0, 6, Element::kI16, {3, 2, 4, 4}, {4, 96, 24, 2}};
  EXPECT_TRUE(ImageOperand(image).batch_inside());
  EXPECT_EQ(ImageOperand(image).view().dims, (std::vector<int64_t>{2, 4, 8}));
  for (const Part& part : kParts) expect_part(image, part);
}

TEST(ImageOperand, KeepsRepeatedImages) {
  const View image = {0, 0, Element::kI8, {3, 1, 1, 1}, {0, 1, 1, 1}};
  EXPECT_FALSE(ImageOperand(image).batch_inside());
}

}  // namespace
}  // namespace npu::compiler::backend
