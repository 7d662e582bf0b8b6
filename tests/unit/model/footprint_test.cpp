// SPDX-License-Identifier: Apache-2.0
// Which bytes commands touch.
#include "hw/model/footprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/unit/model/stream.h"

namespace npu::model::testing {
namespace {

using engine::Access;

std::set<uint64_t> plain_set(const StridedAccess& access, uint64_t base) {
  std::set<uint64_t> bytes;
  std::array<uint64_t, 5> i{};
  for (;;) {
    int64_t at = static_cast<int64_t>(base) + access.first;
    for (int d = 0; d < 5; ++d) at += static_cast<int64_t>(i[d]) * access.dims[d].stride;
    for (uint64_t byte = 0; byte < access.run; ++byte) bytes.insert(static_cast<uint64_t>(at) + byte);
    int d = 4;
    for (; d >= 0; --d) {
      if (++i[d] < access.dims[d].count) break;
      i[d] = 0;
    }
    if (d < 0) return bytes;
  }
}

TEST(FootprintTest, ByteSetsAreExact) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    StridedAccess access;
    access.run = 1 + random() % 10;
    for (auto& dim : access.dims) {
      dim.count = 1 + random() % 3;
      dim.stride = static_cast<int64_t>(random() % 60) - 30;
    }
    if (trial % 4 == 0) access.dims[4].stride = static_cast<int64_t>(access.run);
    access.first = static_cast<int64_t>(random() % 50) - 25;
    int64_t low = 0, high = 0;
    ASSERT_TRUE(span_of(access, low, high));
    ByteSet set;
    ASSERT_TRUE(byte_set(access, 5000, set));
    std::set<uint64_t> seen;
    set.for_each_run([&](uint64_t begin, uint64_t end) {
      for (uint64_t byte = begin; byte < end; ++byte) seen.insert(byte);
      return true;
    });
    const std::set<uint64_t> wanted = plain_set(access, 5000);
    ASSERT_EQ(seen, wanted) << "trial " << trial;
    ASSERT_EQ(*wanted.begin(), static_cast<uint64_t>(5000 + low));
    ASSERT_EQ(*wanted.rbegin() + 1, static_cast<uint64_t>(5000 + high));
    ASSERT_EQ(set.low, *wanted.begin());
    ASSERT_EQ(set.high, *wanted.rbegin() + 1);
  }
}

TEST(FootprintTest, DenseBoxesAreOneRun) {
  StridedAccess access;
  access.run = 16;
  access.dims[3] = {8, 16 * 10};
  access.dims[4] = {10, 16};
  ByteSet set;
  ASSERT_TRUE(byte_set(access, 0, set));
  EXPECT_EQ(set.runs(), 1u);
  EXPECT_EQ(set.run, 16u * 80);
  // Channel slices of a dense box stay one dimension.
  access.run = 4;
  ASSERT_TRUE(byte_set(access, 0, set));
  EXPECT_EQ(set.runs(), 80u);
  EXPECT_EQ(set.rank, 1u);
}

TEST(FootprintTest, WritesThatOverlapThemselvesAreRefused) {
  StridedAccess access;
  access.access = Access::kWrite;
  access.run = 16;
  access.dims[4] = {2, 15};
  ByteSet set;
  EXPECT_FALSE(byte_set(access, 0, set));
  access.dims[4] = {2, 0};
  EXPECT_FALSE(byte_set(access, 0, set));
  access.dims[4] = {2, -16};
  EXPECT_TRUE(byte_set(access, 100, set));
}

TEST(FootprintTest, AbsurdSizesDoNotOverflow) {
  StridedAccess access;
  access.run = 0xffffffff;
  for (auto& dim : access.dims) dim = {0xffffffff, -0x80000000LL};
  int64_t low = 0, high = 0;
  EXPECT_FALSE(span_of(access, low, high));
  EXPECT_GE(access.total_bytes(), uint64_t{1} << 62);
}

// What is read and written does not depend on whether an engine accepts the command.
Footprint footprint_of(contract::AnyCommand command) {
  engine::Tile tile;
  (void)engine::make_tile(std::move(command), tile);
  Footprint footprint;
  collect_footprint(tile, footprint);
  return footprint;
}

contract::MxuCommand conv() {
  contract::MxuCommand mxu;
  mxu.in_h = 5;
  mxu.in_w = 6;
  mxu.in_c = 4;
  mxu.out_h = 2;
  mxu.out_w = 3;
  mxu.out_c = 8;
  mxu.src_row_stride = 24;
  mxu.src_pixel_stride = 4;
  mxu.dst_row_stride = 24;
  mxu.dst_pixel_stride = 8;
  mxu.kernel_h = mxu.kernel_w = 3;
  mxu.stride_y = mxu.stride_x = 2;
  mxu.dilation_y = mxu.dilation_x = 1;
  mxu.pad_top = mxu.pad_left = 1;
  mxu.w_stride = 36;
  mxu.src = spm(0x100);
  mxu.weights = spm(0x1000);
  mxu.params = spm(0x2000);
  mxu.dst = spm(0x3000);
  return mxu;
}

TEST(FootprintTest, Convolution) {
  Footprint footprint = footprint_of(conv());
  ASSERT_EQ(footprint.size(), 4u);
  // Windows start at -1 and 1 (rows), -1, 1 and 3 (columns): rows 0 to 3 of 5, columns 0 to 5 of 6.
  EXPECT_EQ(footprint[0].total_bytes(), 4u * 6 * 4);
  EXPECT_EQ(footprint[1].total_bytes(), 8u * 36);
  EXPECT_EQ(footprint[2].total_bytes(), 32u + 8 * 16);
  EXPECT_EQ(footprint[3].total_bytes(), 2u * 3 * 8);
  EXPECT_EQ(footprint[3].access, Access::kWrite);
}

TEST(FootprintTest, NegativePaddingSkipsRows) {
  contract::MxuCommand mxu = conv();
  mxu.pad_top = -1;  // windows start at row 1 and 3
  mxu.in_h = 6;
  Footprint footprint = footprint_of(mxu);
  EXPECT_EQ(footprint[0].first, 24);
  EXPECT_EQ(footprint[0].total_bytes(), 5u * 6 * 4);
}

TEST(FootprintTest, DepthwiseAndMatmulWeights) {
  contract::MxuCommand mxu = conv();
  mxu.mode = contract::MxuMode::kDepthwise;
  mxu.multiplier = 2;
  Footprint footprint = footprint_of(mxu);
  EXPECT_EQ(footprint[1].total_bytes(), 9u * 8);
  mxu.mode = contract::MxuMode::kMatmul;
  mxu.src_type = mxu.weight_type = contract::Element::kI16;
  footprint = footprint_of(mxu);
  EXPECT_EQ(footprint[0].total_bytes(), 5u * 6 * 4 * 2);
  EXPECT_EQ(footprint[1].total_bytes(), 4u * 8 * 2);
}

TEST(FootprintTest, Residual) {
  contract::MxuCommand mxu = conv();
  mxu.residual = contract::Residual::kScaleValue;
  mxu.residual_src = spm(0x4000);
  mxu.residual_row_stride = 40;
  mxu.residual_pixel_stride = 10;
  const Footprint footprint = footprint_of(mxu);
  ASSERT_EQ(footprint.size(), 5u);
  EXPECT_EQ(footprint[3].access, contract::Access::kRead);
  EXPECT_EQ(footprint[3].base.offset, 0x4000u);
  EXPECT_EQ(footprint[3].total_bytes(), 2u * 3 * 8);
}

TEST(FootprintTest, ResidualOfFloatingPoint) {
  contract::MxuCommand mxu = conv();
  mxu.src_type = mxu.weight_type = contract::Element::kF16;
  mxu.dst_type = contract::Element::kF32;
  mxu.rescale = contract::Rescale::kFloating;
  mxu.residual = contract::Residual::kFloating;
  mxu.residual_src = spm(0x4000);
  mxu.residual_row_stride = 3 * 40;
  mxu.residual_pixel_stride = 40;
  const Footprint footprint = footprint_of(mxu);
  ASSERT_EQ(footprint.size(), 5u);
  EXPECT_EQ(footprint[3].base.offset, 0x4000u);
  EXPECT_EQ(footprint[3].total_bytes(), 2u * 3 * 8 * 4);
}

TEST(FootprintTest, ElementWise) {
  contract::VpuEwiseCommand command = ewise(spm(0), spm(0x100), 10);
  contract::Operand table;
  table.base = spm(0x200);
  table.bytes = 256;
  command.operands.push_back(table);
  contract::Uop lookup;
  lookup.op = contract::UopCode::kTable8;
  lookup.b = 2;
  command.uops.insert(command.uops.begin() + 1, lookup);
  command.commit = true;
  Footprint footprint = footprint_of(command);
  ASSERT_EQ(footprint.size(), 3u);
  EXPECT_EQ(footprint[0].total_bytes(), 10u);
  EXPECT_EQ(footprint[1].total_bytes(), 256u);
  EXPECT_EQ(footprint[2].access, Access::kWrite);
  EXPECT_TRUE(footprint[2].commit);
  EXPECT_FALSE(footprint[0].in_place);
  // The engine loads a block that nothing names, too.
  contract::VpuEwiseCommand unnamed = command;
  unnamed.uops.erase(unnamed.uops.begin() + 1);
  EXPECT_EQ(footprint_of(unnamed), footprint);
  // The result over the operand itself.
  command.operands[1].base = spm(0);
  footprint = footprint_of(command);
  EXPECT_TRUE(footprint[0].in_place);
  // Loaded again behind the store, or loaded there only.
  command.uops.push_back(command.uops[0]);
  footprint = footprint_of(command);
  EXPECT_FALSE(footprint[0].in_place);
  std::rotate(command.uops.begin(), command.uops.begin() + 1, command.uops.end());
  footprint = footprint_of(command);
  EXPECT_FALSE(footprint[0].in_place);
}

TEST(FootprintTest, PoolAndReduce) {
  contract::VpuPoolCommand pool;
  pool.mode = contract::PoolMode::kMax;
  pool.in_h = pool.in_w = 4;
  pool.channels = 8;
  pool.out_h = pool.out_w = 2;
  pool.kernel_h = pool.kernel_w = pool.stride_y = pool.stride_x = 2;
  pool.src_row_stride = 32;
  pool.src_pixel_stride = 8;
  pool.dst_row_stride = 16;
  pool.dst_pixel_stride = 8;
  Footprint footprint = footprint_of(pool);
  ASSERT_EQ(footprint.size(), 2u);  // max needs no parameters
  EXPECT_EQ(footprint[0].total_bytes(), 128u);
  EXPECT_EQ(footprint[1].total_bytes(), 32u);
  pool.mode = contract::PoolMode::kAvg;
  footprint = footprint_of(pool);
  ASSERT_EQ(footprint.size(), 3u);
  EXPECT_EQ(footprint[1].total_bytes(), 32u);

  contract::VpuReduceCommand reduce;
  reduce.op = contract::ReduceOp::kArgmax;
  reduce.outer = 2;
  reduce.axis = 3;
  reduce.inner = 5;
  reduce.src_outer_stride = 15;
  reduce.src_axis_stride = 5;
  reduce.dst_outer_stride = 20;
  footprint = footprint_of(reduce);
  EXPECT_EQ(footprint[0].total_bytes(), 30u);
  EXPECT_EQ(footprint[1].total_bytes(), 2u * 5 * 4);
}

}  // namespace
}  // namespace npu::model::testing
