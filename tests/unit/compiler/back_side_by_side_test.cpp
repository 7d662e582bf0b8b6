// SPDX-License-Identifier: Apache-2.0
// Pixels side by side: where commands have them, where they cannot, and that nothing but cycles changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <variant>
#include <vector>

#include "driver/compiler/schedule.h"
#include "tests/unit/compiler/back_checks.h"
#include "tests/unit/compiler/back_modules.h"
#include "tests/unit/compiler/segment_checks.h"

namespace npu::compiler::testing {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr ConvShape kSame = {.pad_top = 1, .pad_bottom = 1, .pad_left = 1, .pad_right = 1};

Module one_window(contract::MxuMode mode, const std::vector<int64_t>& src, int64_t channels) {
  ModuleBuilder b(7);
  std::vector<int64_t> dims = src;
  dims[3] = channels;
  const View in = b.input(src), out = b.tensor(dims, contract::Element::kI8, true);
  if (mode == contract::MxuMode::kDepthwise) {
    b.depthwise(in, out, kSame);
  } else {
    b.conv(in, out, kSame);
  }
  return std::move(b.module);
}

// Of each command of the MXU, in order.
std::vector<uint32_t> pixels_of(const Module& module, const contract::Capabilities& machine) {
  std::vector<uint32_t> pixels;
  for (const backend::Command& command : decode_stream(schedule(Module(module), machine)).commands) {
    const auto* mxu = std::get_if<contract::MxuCommand>(&command.body);
    if (mxu != nullptr) pixels.push_back(1U << mxu->side_by_side_log2);
  }
  EXPECT_THAT(pixels, Not(IsEmpty()));
  EXPECT_EQ(check_module(module, machine, {}, 1, 2), "");
  return pixels;
}

// edge has 32 columns for up to four pixels.
TEST(BackSideBySide, NarrowLayersFillTheColumns) {
  const contract::Capabilities edge = edge_capabilities();
  for (const auto mode : {contract::MxuMode::kConv, contract::MxuMode::kDepthwise}) {
    EXPECT_THAT(pixels_of(one_window(mode, {1, 32, 32, 16}, 16), edge), Each(2U));
    EXPECT_THAT(pixels_of(one_window(mode, {1, 16, 16, 8}, 8), edge), Each(4U));
    EXPECT_THAT(pixels_of(one_window(mode, {1, 16, 16, 32}, 32), edge), Each(1U));
  }
}

TEST(BackSideBySide, OthersTakeOnePixelAtATime) {
  contract::Capabilities edge = edge_capabilities();
  const auto conv = contract::MxuMode::kConv;
  EXPECT_THAT(pixels_of(one_window(conv, {1, 8, 8, 16}, 4), edge), Each(1U)) << "eight pixels";
  EXPECT_THAT(pixels_of(one_window(conv, {1, 8, 8, 16}, 12), edge), Each(1U)) << "no part of the columns";
  EXPECT_THAT(pixels_of(one_window(conv, {1, 8, 9, 16}, 16), edge), Each(1U)) << "an odd row";
  edge.mxu_split = 1;
  EXPECT_THAT(pixels_of(one_window(conv, {1, 8, 8, 16}, 16), edge), Each(1U)) << "a machine without";
}

// Channels of a wider tensor do not follow each other from pixel to pixel.
TEST(BackSideBySide, PartsOfAWiderResultTakeOnePixelAtATime) {
  ModuleBuilder b(8);
  const View in = b.input({1, 8, 8, 8}), wide = b.tensor({1, 8, 8, 32}, contract::Element::kI8),
             out = b.tensor({1, 8, 8, 32}, contract::Element::kI8, true);
  for (const int64_t first : {0, 16}) {
    View part = wide;
    part.dims[3] = 16;
    part.offset = first;
    b.conv(in, part, kSame);
  }
  b.add(wide, wide, out);
  EXPECT_THAT(pixels_of(b.module, edge_capabilities()), Each(1U));
}

// Tiles of part of a row keep a number of columns that pixels side by side fill.
TEST(BackSideBySide, CutRowsStayWhole) {
  contract::Capabilities small = edge_capabilities();
  small.spm_bytes = 4 << 10;
  const std::vector<uint32_t> pixels = pixels_of(one_window(contract::MxuMode::kConv, {1, 4, 200, 8}, 8), small);
  EXPECT_GT(pixels.size(), 4u);
  EXPECT_THAT(pixels, Each(4U));
}

TEST(BackSideBySide, TakeFewerCyclesByTheEstimate) {
  contract::Capabilities edge = edge_capabilities(), alone = edge;
  alone.mxu_split = 1;
  const Module module = one_window(contract::MxuMode::kConv, {1, 32, 32, 16}, 16);
  const auto cycles = [&](const contract::Capabilities& machine) {
    return schedule(Module(module), machine).estimated_cycles;
  };
  // The array takes 5 steps of 512 pixels fewer; the image comes and goes as before.
  EXPECT_LE(cycles(edge) + 1'500, cycles(alone));
}

}  // namespace
}  // namespace npu::compiler::testing
