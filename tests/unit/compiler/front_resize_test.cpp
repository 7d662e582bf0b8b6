// SPDX-License-Identifier: Apache-2.0
// RESIZE: segments that cover an axis, steps of any scale against the reference, what runs with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "driver/compiler/lower/resize_axis.h"
#include "driver/compiler/support.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::compiler::testing {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::Rescaling;
using graph::ResizeMode;
using graph::TensorId;
using ::testing::SizeIs;

struct Scale {
  int64_t in = 1, out = 1, n = 1, d = 1, offset = 0, border = 0;
};

// Any scale that the specification allows; the border leads from the last position to the operand's end.
Scale random_scale(std::mt19937& random, int64_t most) {
  const auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution(low, high)(random); };
  Scale s;
  s.out = pick(1, most);
  s.n = pick(0, 2) == 0 ? pick(1, 2048) : pick(1, 6);
  s.d = std::min(16 * s.n - 1, pick(0, 2) == 0 ? pick(1, 16 * s.n - 1) : pick(1, 2 * s.n));
  s.offset = pick(0, 3) == 0 ? pick(-s.n, 16 * s.n - 1) : pick(-s.n, s.n);
  const int64_t last = (s.out - 1) * s.d + s.offset;
  s.in = std::max<int64_t>(0, last) / s.n + 1 + (pick(0, 2) == 0 ? pick(1, 14) : 0);
  s.border = last - (s.in - 1) * s.n;
  return s;
}

TensorId resize(GraphBuilder& b, TensorId x, const Scale& y, const Scale& in_x, bool nearest) {
  const DType type = b.tensor(x).type, wide = type == DType::kInt8 ? DType::kInt32 : DType::kInt48;
  return b.resize(x, nearest ? ResizeMode::kNearest : ResizeMode::kBilinear, {y.n, y.d, in_x.n, in_x.d},
                  {y.offset, in_x.offset}, {y.border, in_x.border}, nearest ? type : wide);
}

// Twice as large, pixels centred.
constexpr Scale kTwice = {8, 16, 4, 2, -1, 1};

TensorId twice(GraphBuilder& b, TensorId x) { return resize(b, x, kTwice, kTwice, false); }

contract::Capabilities machine_of(uint32_t registers, uint32_t spm_bytes) {
  contract::Capabilities machine = front_machine(registers);
  machine.spm_bytes = spm_bytes;
  return machine;
}

void expect_covered(const ResizeAxis& axis, const std::vector<ResizeSegment>& cover) {
  std::vector<int> covered(axis.samples.size());
  for (const ResizeSegment& s : cover) {
    for (int64_t i = 0; i < s.count; ++i) {
      for (int64_t j = 0; j < s.repeat; ++j) {
        const auto out = static_cast<size_t>(s.out + i * s.out_step + j);
        ASSERT_LT(out, covered.size());
        ++covered[out];
        const ResizeSample& sample = axis.samples[out];
        const int64_t first = s.first + i * s.step;
        ASSERT_EQ(first, sample.first);
        ASSERT_LT(s.kind == ResizeSegment::Kind::kCopy ? first : first + 1, axis.in);
        if (s.kind != ResizeSegment::Kind::kUneven) {
          ASSERT_EQ(s.weight, sample.weight);
        }
      }
    }
  }
  EXPECT_EQ(std::count(covered.begin(), covered.end(), 1), std::ssize(covered));
}

TEST(ResizeAxis, EachCoverHasEveryPositionOnce) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const Scale s = random_scale(random, 60);
    SCOPED_TRACE(::testing::Message() << s.n << "/" << s.d << " offset " << s.offset << " border " << s.border);
    const ResizeAxis axis = resize_axis(s.in, s.out, s.n, s.d, s.offset, i % 2 == 0);
    for (const auto& cover : resize_covers(axis)) expect_covered(axis, cover);
    const ResizeAxis::Part part = axis.part(s.out / 3, s.out - s.out / 3);
    for (const auto& cover : resize_covers(part.axis)) expect_covered(part.axis, cover);
  }
}

// A scale whose phases are all different still takes few steps.
TEST(ResizeAxis, OddScalesTakeFewSegments) {
  std::mt19937 random(2);
  for (int i = 0; i < 12; ++i) {
    const int64_t n = std::uniform_int_distribution(1000, 2048)(random),
                  d = std::uniform_int_distribution(500, 4000)(random);
    const int64_t in = std::min<int64_t>(16383, (16382 * d) / n + 1), out = ((in - 1) * n) / d + 1;
    size_t fewest = SIZE_MAX;
    for (const auto& cover : resize_covers(resize_axis(in, out, n, d, 0, i % 2 == 0))) {
      fewest = std::min(fewest, cover.size());
    }
    EXPECT_LE(fewest, 400U) << n << "/" << d;
  }
}

TEST(Resize, RandomScalesEqualTheReference) {
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    const Scale y = random_scale(random, 12), x = random_scale(random, 12);
    const auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution(low, high)(random); };
    GraphBuilder b;
    const DType type = i % 2 == 0 ? DType::kInt8 : DType::kInt16;
    const TensorId image = b.input("x", type, {pick(1, 2), y.in, x.in, pick(1, 5)});
    b.output(resize(b, image, y, x, i % 4 < 2));
    SCOPED_TRACE(::testing::Message() << "case " << i);
    ASSERT_EQ(compare_with_reference(b.build(), 1, 1, machine_of(i % 8 < 4 ? 8 : 16, i % 16 < 8 ? 1 << 20 : 512)), 1);
  }
}

// Values of -2^15 by weights of 2^11 twice: beyond 32 bits.
TEST(Resize, TheLargestValuesAreExact) {
  for (const int64_t d : {2048, 1365, 5000}) {
    Scale s{3, 0, 2048, d, -7, 0};
    s.out = (2 * s.n + 7) / d + 1;
    s.border = (s.out - 1) * d - 7 - 2 * s.n;
    for (const uint32_t registers : {8, 16}) {
      GraphBuilder b;
      std::vector<double> values;
      for (int i = 0; i < 18; ++i) values.push_back(i % 5 == 0 ? 32767 : i % 7 == 0 ? -1 : -32768);
      b.output(resize(b, b.constant(DType::kInt16, {1, 3, 3, 2}, values), s, s, false));
      EXPECT_EQ(compare_with_reference(b.build(), 1, 1, machine_of(registers, 1 << 20)), 1);
    }
  }
}

TEST(Resize, TakesWhatBringsItsResultBack) {
  for (const bool per_channel : {false, true}) {
    GraphBuilder b;
    Rescaling how;
    how.multiplier.assign(per_channel ? 3 : 1, 1 << 30);
    how.shift.assign(per_channel ? 3 : 1, 34);
    how.per_channel = per_channel;
    how.output_zp = -3;
    b.output(b.clamp(b.rescale(twice(b, b.input("x", DType::kInt8, {2, 8, 8, 3})), DType::kInt8, how), -50, 60));
    const Module module = lowered(b.build(), machine_of(16, 1 << 20));
    ASSERT_THAT(module.layers, SizeIs(1));
    EXPECT_EQ(module.layers[0].operators, "RESIZE+RESCALE+CLAMP");
    EXPECT_EQ(module.layers[0].kind, "RESIZE");
    EXPECT_EQ(module.layers[0].engine, contract::Engine::kVpu);
    EXPECT_EQ(compare_with_reference(b.build(), 3, 1, machine_of(16, 1 << 20)), 3);
  }
}

TEST(Resize, LeavesOutWhatOthersReadToo) {
  GraphBuilder b;
  const TensorId y = twice(b, b.input("x", DType::kInt8, {1, 8, 8, 3}));
  b.output(y);
  b.output(b.rescale(y, DType::kInt8));
  EXPECT_THAT(lowered(b.build(), machine_of(16, 1 << 20)).layers, SizeIs(2));
  EXPECT_EQ(compare_with_reference(b.build()), 3);
}

TEST(Resize, TakesNoMoreThanACommandHolds) {
  GraphBuilder b;
  const Scale s{4, 7, 2000, 1000, 0, 0};
  TensorId y = resize(b, b.input("x", DType::kInt16, {1, 4, 4, 2}), s, s, false);
  Rescaling how;
  how.scale32 = false;
  how.multiplier = {1 << 14};
  how.shift = {40};
  y = b.rescale(y, DType::kInt16, how);
  for (int i = 0; i < 12; ++i) y = b.clamp(y, -100 + i, 100 - i);
  b.output(y);
  EXPECT_GT(lowered(b.build(), machine_of(8, 1 << 20)).layers.size(), 1U);
  EXPECT_EQ(compare_with_reference(b.build(), 3, 1, machine_of(8, 1 << 20)), 3);
}

// What reads and writes views of larger tensors.
TEST(Resize, LiesBetweenViews) {
  GraphBuilder b;
  const TensorId image = b.input("x", DType::kInt8, {1, 3, 20, 10});
  const TensorId part = b.transpose(b.slice(image, {0, 1, 2, 1}, {1, 2, 8, 8}), {0, 2, 3, 1});
  const TensorId nearest = resize(b, part, kTwice, kTwice, true);
  b.output(b.concat({nearest, b.reverse(nearest, 1), resize(b, b.reverse(part, 2), kTwice, kTwice, true)}, 3));
  EXPECT_EQ(compare_with_reference(b.build(), 3, 1, machine_of(16, 1 << 20)), 3);
}

TEST(Resize, ImagesBeyondTheScratchpadComeInStripes) {
  for (const uint32_t spm_bytes : {1u << 20, 4096u}) {
    GraphBuilder b;
    b.output(b.rescale(twice(b, b.input("x", DType::kInt8, {2, 8, 8, 3})), DType::kInt8));
    const Module module = lowered(b.build(), machine_of(16, spm_bytes));
    EXPECT_EQ(steps_of<CopyStep>(module).empty(), spm_bytes > 4096) << spm_bytes;
    EXPECT_EQ(compare_with_reference(b.build(), 2, 1, machine_of(16, spm_bytes)), 2);
  }
}

// 416 bytes of an image, its result and what is between: four fit half the scratchpad, and ten come as 4, 4 and 2.
TEST(Resize, SmallImagesComeInStripesOfSeveral) {
  for (const bool nearest : {false, true}) {
    GraphBuilder b;
    const Scale half = {4, 8, 4, 2, -1, 1};
    const TensorId twice_as_large = resize(b, b.input("x", DType::kInt8, {10, 4, 4, 2}), half, half, nearest);
    b.output(nearest ? twice_as_large : b.rescale(twice_as_large, DType::kInt8));
    const contract::Capabilities machine = machine_of(16, nearest ? 2500 : 3400);
    const Module module = lowered(b.build(), machine);
    const auto copies = steps_of<CopyStep>(module);
    ASSERT_THAT(copies, SizeIs(6)) << "each stripe is loaded and stored";
    std::vector<int64_t> elements;
    for (const CopyStep* copy : copies) {
      elements.push_back(
          std::accumulate(copy->src.dims.begin(), copy->src.dims.end(), int64_t{1}, std::multiplies<>()));
    }
    EXPECT_THAT(elements, ::testing::ElementsAre(128, 512, 128, 512, 64, 256));
    EXPECT_EQ(compare_with_reference(b.build(), 2, 1, machine), 2);
  }
}

TEST(Resize, FloatingPointIsRefused) {
  GraphBuilder b;
  b.output(b.resize(b.input("x", DType::kFp32, {1, 2, 2, 1}), ResizeMode::kNearest, {1, 1, 1, 1}, {0, 0}, {0, 0},
                    DType::kFp32));
  const std::vector<SupportRow> rows = support(b.build(), contract::Capabilities{});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_FALSE(rows[0].ok);
  EXPECT_THAT(rows[0].reason, ::testing::HasSubstr("FP32"));
}

}  // namespace
}  // namespace npu::compiler::testing
