// SPDX-License-Identifier: Apache-2.0
// Cycles of the MXU: by hand, and properties that hold for every tile.
#include "hw/timing/mxu_cycles.h"

#include <gtest/gtest.h>

#include <random>

#include "hw/contract/elements.h"

namespace npu::timing {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;

Capabilities edge() {
  Capabilities caps;
  caps.mxu_cols = 32;
  caps.mxu_depth = 32;
  caps.mxu_dw_taps = 9;
  caps.mxu_acc_bytes = 65536;  // half of it: 256 pixels of 32 int32 accumulators
  caps.mxu_weight_port_bytes = 64;
  caps.mxu_fp8_cycles = 1;
  caps.mxu_fp16_cycles = 2;
  caps.mxu_bf16_cycles = 3;
  caps.mxu_fp32_cycles = 5;
  return caps;
}

Capabilities nano() {
  Capabilities caps;
  caps.mxu_cols = 8;
  caps.mxu_depth = 8;
  caps.mxu_dw_taps = 2;
  caps.mxu_acc_bytes = 4096;  // 64 pixels
  caps.mxu_weight_port_bytes = 16;
  caps.mxu_fp8_cycles = caps.mxu_fp16_cycles = caps.mxu_bf16_cycles = 2;
  caps.mxu_fp32_cycles = 8;
  return caps;
}

// 5 taps a cycle, of which 6 channels fill 30 of 32 bytes of a beat.
Capabilities odd() {
  Capabilities caps = nano();
  caps.mxu_cols = caps.mxu_depth = 16;
  caps.mxu_dw_taps = 5;
  caps.mxu_weight_port_bytes = 32;
  return caps;
}

MxuCommand conv(uint32_t out_h, uint32_t out_w, uint32_t in_c, uint32_t out_c, uint32_t kernel) {
  MxuCommand command;
  command.mode = MxuMode::kConv;
  command.src_type = command.weight_type = Element::kI8;
  command.out_h = command.in_h = out_h;
  command.out_w = command.in_w = out_w;
  command.in_c = in_c;
  command.out_c = out_c;
  command.kernel_h = command.kernel_w = kernel;
  command.stride_y = command.stride_x = command.dilation_y = command.dilation_x = 1;
  command.multiplier = 1;
  return command;
}

// Pipeline to the accumulators: three registers and an adder tree of five levels over 32 products.
constexpr uint64_t kPipeline = 3 + 5;
constexpr uint64_t kOutput = 5;

TEST(MxuCycles, PointwiseBoundByPixels) {
  // 28 x 28 = 784 pixels: blocks of 256, 256, 256, 16. 96 channels in: 3 steps. 64 out: 2 groups. Loading a step takes
  // 32 * 32 / 64 = 16 cycles, so a step costs max(pixels, 16): (3 * 256 + 16) * 3 * 2 = 4,704. Sums drain under the
  // last step: the last pixel's in the cycle behind it.
  const Cycles cycles = mxu_cycles(conv(28, 28, 96, 64, 1), edge());
  EXPECT_EQ(cycles.fill, 16 + kPipeline);
  EXPECT_EQ(cycles.steady, 4704u);
  EXPECT_EQ(cycles.drain, 1 + kOutput);
}

TEST(MxuCycles, StreamingBoundByWeights) {
  // One pixel, 640 -> 128: 20 steps of 4 groups; each step waits for the next load of 16 cycles, the last one for none:
  // 80 * 16 - 16 + 1 = 1,265.
  const Cycles cycles = mxu_cycles(conv(1, 1, 640, 128, 1), edge());
  EXPECT_EQ(cycles.fill, 16 + kPipeline);
  EXPECT_EQ(cycles.steady, 1265u);
  EXPECT_EQ(cycles.drain, 1 + kOutput);
}

TEST(MxuCycles, OnlyRealColumnsLoad) {
  // 5 channels: a step loads 5 * 32 / 64 = 2.5, so 3 cycles. Two steps, one pixel: 3 + 1; parameters are 5 * 16 / 64,
  // 2 cycles, hidden.
  const Cycles cycles = mxu_cycles(conv(1, 1, 64, 5, 1), edge());
  EXPECT_EQ(cycles.fill, 3 + kPipeline);
  EXPECT_EQ(cycles.steady, 4u);
}

TEST(MxuCycles, ParametersBoundTheSmallest) {
  // One step of one pixel, 32 channels: 32 * 16 / 64 = 8 cycles for the parameters, although the product takes one.
  EXPECT_EQ(mxu_cycles(conv(1, 1, 32, 32, 1), edge()).steady, 8u);
  EXPECT_EQ(mxu_cycles(conv(1, 1, 32, 32, 1), edge()).drain, 1 + kOutput);
  // Four pixels: they wait for the parameters, and then drain one a cycle.
  EXPECT_EQ(mxu_cycles(conv(2, 2, 32, 32, 1), edge()).steady, 8u);
  EXPECT_EQ(mxu_cycles(conv(2, 2, 32, 32, 1), edge()).drain, 4 + kOutput);
  // A hundred: eight wait when the parameters are there, and as many when the last one comes. A second step takes
  // longer than the parameters.
  EXPECT_EQ(mxu_cycles(conv(10, 10, 32, 32, 1), edge()).drain, 8 + kOutput);
  EXPECT_EQ(mxu_cycles(conv(10, 10, 64, 32, 1), edge()).drain, 1 + kOutput);
}

TEST(MxuCycles, FewChannelsPackTheWindow) {
  // 3 x 3 x 3 = 27 products fit into one step of 32; 56 x 56 = 3,136 pixels: 12 * 256 + 64.
  EXPECT_EQ(mxu_loops(conv(56, 56, 3, 32, 3), edge()).steps, 1u);
  EXPECT_EQ(mxu_cycles(conv(56, 56, 3, 32, 3), edge()).steady, 3136u);
  // 5 x 5 x 3 = 75: three steps. With 40 channels a position takes two, whole ones: 9 * 2.
  EXPECT_EQ(mxu_loops(conv(56, 56, 3, 32, 5), edge()).steps, 3u);
  EXPECT_EQ(mxu_loops(conv(8, 8, 40, 32, 3), edge()).steps, 18u);
}

TEST(MxuCycles, Depthwise) {
  // 9 taps, 9 a cycle: one step. 14 x 14 = 196 pixels, 96 channels: 3 groups of 196 cycles. A beat of 64 bytes has the
  // taps of 7 channels: 5 beats. The tree over 9 products has four levels.
  MxuCommand command = conv(14, 14, 96, 96, 3);
  command.mode = MxuMode::kDepthwise;
  const Cycles cycles = mxu_cycles(command, edge());
  EXPECT_EQ(cycles.fill, 5u + 3 + 4);
  EXPECT_EQ(cycles.steady, 3u * 196);
  EXPECT_EQ(cycles.drain, 8 + kOutput);  // the parameters take 32 * 16 / 64 cycles
  // 25 taps: three steps.
  command.kernel_h = command.kernel_w = 5;
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 3u * 3 * 196);
  command.kernel_h = command.kernel_w = 3;
  // On the small machine 2 taps a cycle: 5 steps; 64 pixels a block: 64, 64, 64, 4, 12 groups. Loading takes 1 cycle.
  EXPECT_EQ(mxu_cycles(command, nano()).steady, 12u * 5 * 196);
}

TEST(MxuCycles, BeatsOfWeightsHaveWholeChannels) {
  MxuCommand command = conv(1, 1, 21, 21, 3);
  command.mode = MxuMode::kDepthwise;
  EXPECT_EQ(mxu_loops(command, edge()).load(0), 3u);  // 7 channels each
  command.out_c = command.in_c = 22;
  EXPECT_EQ(mxu_loops(command, edge()).load(0), 4u);
  // Of a channel that is wider than the port each takes beats of its own: 9 bytes, 4 a beat.
  Capabilities narrow = edge();
  narrow.mxu_weight_port_bytes = 4;
  EXPECT_EQ(mxu_loops(command, narrow).load(0), 22u * 3);
}

TEST(MxuCycles, WideOperandsTakeLonger) {
  MxuCommand command = conv(8, 8, 64, 32, 1);  // 64 pixels, 2 steps
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 128u);
  command.src_type = Element::kI16;  // 48-bit accumulators: blocks of 128 pixels, two cycles a pixel
  EXPECT_EQ(mxu_loops(command, edge()).block_pixels, 128u);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 256u);
  command.mode = MxuMode::kMatmul;
  command.weight_type = Element::kI16;  // four cycles a pixel, loads twice as long
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 512u);
  EXPECT_EQ(mxu_loops(command, edge()).load(0), 32u);
}

TEST(MxuCycles, FormatsHaveCyclesOfTheirOwn) {
  const Capabilities caps = edge();
  EXPECT_EQ(contract::mxu_float_cycles(Element::kF8e4m3, caps), 1u);
  EXPECT_EQ(contract::mxu_float_cycles(Element::kF8e5m2, caps), 1u);
  EXPECT_EQ(contract::mxu_float_cycles(Element::kF16, caps), 2u);
  EXPECT_EQ(contract::mxu_float_cycles(Element::kBf16, caps), 3u);
  EXPECT_EQ(contract::mxu_float_cycles(Element::kF32, caps), 5u);
  for (const Element type : {Element::kI8, Element::kI16, Element::kI32, Element::kI48, Element::kBool}) {
    EXPECT_EQ(contract::mxu_float_cycles(type, caps), 0u);
  }
  EXPECT_EQ(contract::mxu_float_cycles(Element::kF32, Capabilities()), 0u);
}

TEST(MxuCycles, FloatsTakeTheCyclesOfTheirFormat) {
  // 64 pixels, 64 -> 32 channels: 2 steps of 32, in a block of 256 pixels since accumulators have 4 bytes. A step of
  // FP16 holds 64 bytes of a channel, a beat: 32 beats, and 2 * 64 * 2 cycles. Sums drain under the last step.
  MxuCommand command = conv(8, 8, 64, 32, 1);
  command.src_type = command.weight_type = Element::kF16;
  EXPECT_EQ(mxu_loops(command, edge()).step_bytes, 64u);
  EXPECT_EQ(mxu_loops(command, edge()).block_pixels, 256u);
  EXPECT_EQ(mxu_cycles(command, edge()).fill, 32 + kPipeline);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 256u);
  EXPECT_EQ(mxu_cycles(command, edge()).drain, 1 + kOutput);
  command.src_type = command.weight_type = Element::kBf16;  // 3 cycles: 2 * 64 * 3
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 384u);
  command.src_type = command.weight_type = Element::kF32;  // 128 bytes are two beats: 64 of them, and 2 * 64 * 5
  EXPECT_EQ(mxu_loops(command, edge()).step_bytes, 128u);
  EXPECT_EQ(mxu_cycles(command, edge()).fill, 64 + kPipeline);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 640u);
  command.src_type = command.weight_type = Element::kF8e5m2;  // as int8: two channels a beat, 2 * 64
  EXPECT_EQ(mxu_cycles(command, edge()).fill, 16 + kPipeline);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 128u);
}

TEST(MxuCycles, FloatsBoundByWeights) {
  // One pixel of FP32, 640 -> 128: 20 steps of 4 groups wait for 64 beats each, the last one for none, and takes the 5
  // cycles of its pixel: 80 * 64 - 64 + 5.
  MxuCommand command = conv(1, 1, 640, 128, 1);
  command.src_type = command.weight_type = Element::kF32;
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 5061u);
}

TEST(MxuCycles, DepthwiseFloats) {
  // 9 taps, one step of 2 cycles: 14 x 14 = 196 pixels, 3 groups, 3 * 196 * 2. A beat of 64 bytes has the 18 of 3
  // channels: 11 beats for 32. The tree over 9 products has four levels.
  MxuCommand command = conv(14, 14, 96, 96, 3);
  command.mode = MxuMode::kDepthwise;
  command.src_type = command.weight_type = Element::kF16;
  EXPECT_EQ(mxu_cycles(command, edge()).fill, 11u + 3 + 4);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 1176u);
}

TEST(MxuCycles, PixelsSideBySideCountAsOne) {
  // ResNet-8's first layers: 32 x 32 pixels, 16 -> 16 channels, 3 x 3. 144 products take 5 steps of 32. Alone 1,024
  // pixels take 5 * 1,024 cycles; two at a time 512, in blocks of 256. The weights of 16 channels are 16 * 32 / 64 = 8
  // beats either way, and the last pixel drains behind its last sum.
  MxuCommand command = conv(32, 32, 16, 16, 3);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 5u * 1024);
  command.side_by_side_log2 = 1;
  EXPECT_EQ(mxu_loops(command, edge()).blocks, 2u);
  EXPECT_EQ(mxu_cycles(command, edge()).fill, 8 + kPipeline);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 5u * 512);
  EXPECT_EQ(mxu_cycles(command, edge()).drain, 1 + kOutput);
  EXPECT_EQ(mxu_macs(command), uint64_t{32} * 32 * 16 * 144);
  // 8 channels, four at a time: 4 beats, 5 * 256 cycles in one block.
  command.out_c = 8;
  command.side_by_side_log2 = 2;
  EXPECT_EQ(mxu_cycles(command, edge()).fill, 4 + kPipeline);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 5u * 256);
}

TEST(MxuCycles, DepthwisePixelsSideBySide) {
  // 48 x 48 pixels of 8 channels, one step of 9 taps: 2,304 cycles alone, 576 four at a time. 8 channels are two beats
  // of 7 and of 1; parameters are 8 * 16 / 64 = 2 beats, so that two pixels wait for them.
  MxuCommand command = conv(48, 48, 8, 8, 3);
  command.mode = MxuMode::kDepthwise;
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 2304u);
  command.side_by_side_log2 = 2;
  EXPECT_EQ(mxu_cycles(command, edge()).fill, 2u + 3 + 4);
  EXPECT_EQ(mxu_cycles(command, edge()).steady, 576u);
  EXPECT_EQ(mxu_cycles(command, edge()).drain, 2 + kOutput);
}

TEST(MxuCycles, EmptyTileTakesNone) {
  EXPECT_EQ(mxu_cycles(conv(0, 4, 4, 4, 1), edge()), Cycles{});
  EXPECT_EQ(mxu_cycles(conv(4, 4, 4, 0, 1), edge()), Cycles{});
  EXPECT_EQ(mxu_cycles(conv(4, 4, 4, 4, 0), edge()), Cycles{});
}

// The closed form against the loops that it stands for.
Cycles loop_by_loop(const MxuCommand& command, const Capabilities& caps) {
  const MxuLoops loops = mxu_loops(command, caps);
  uint64_t steady = 0, drained = 0;  // the latter: when the group before has left the accumulators
  for (uint64_t b = 0; b < loops.blocks; ++b) {
    for (uint64_t g = 0; g < loops.groups; ++g) {
      const uint64_t pixels = loops.block_size(b), stream = pixels * loops.rate;
      uint64_t cycles = 0, last_step = 0;
      for (uint64_t s = 0; s < loops.steps; ++s) {
        last_step = steady + cycles;
        uint64_t load = loops.load(g);
        if (s + 1 == loops.steps) {
          const bool last_group = g + 1 == loops.groups;
          load = loops.load(last_group ? 0 : g + 1);
          if (last_group && b + 1 == loops.blocks) load = 0;
        }
        cycles += std::max(stream, load);
      }
      const uint64_t parameters = steady + ceil_div(loops.columns(g) * 16, loops.port_bytes);
      drained = std::max(drained, parameters);
      for (uint64_t p = 0; p < pixels; ++p) drained = std::max(drained, last_step + (p + 1) * loops.rate) + 1;
      steady = std::max(steady + cycles, parameters);
    }
  }
  Cycles cycles = mxu_cycles(command, caps);
  cycles.steady = steady;
  cycles.drain = drained - steady + loops.output_stages();
  return cycles;
}

MxuCommand random_command(std::mt19937_64& random) {
  const auto pick = [&](uint32_t low, uint32_t high) {
    return low + static_cast<uint32_t>(random() % (high - low + 1));
  };
  MxuCommand command = conv(pick(1, 40), pick(1, 40), pick(1, 100), pick(1, 200), pick(1, 5));
  command.mode = static_cast<MxuMode>(pick(0, 2));
  if (pick(0, 2) == 0) command.src_type = Element::kI16;
  if (command.mode == MxuMode::kMatmul) command.weight_type = command.src_type;
  if (pick(0, 3) == 0) {
    const auto first = static_cast<uint32_t>(Element::kF16), last = static_cast<uint32_t>(Element::kF8e5m2);
    command.src_type = command.weight_type = static_cast<Element>(pick(first, last));
  }
  if (command.mode == MxuMode::kDepthwise) command.in_c = command.out_c;
  if (command.mode != MxuMode::kMatmul && pick(0, 3) == 0) {
    command.side_by_side_log2 = pick(1, 3);
    command.out_w <<= command.side_by_side_log2;
  }
  return command;
}

// Pixels side by side have the channels that the machine has columns for.
MxuCommand fitted(MxuCommand command, const Capabilities& caps) {
  if (command.side_by_side_log2 > 0) command.out_c = caps.mxu_cols >> command.side_by_side_log2;
  return command;
}

TEST(MxuCycles, ClosedFormEqualsItsLoops) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const MxuCommand command = random_command(random);
    for (const Capabilities& caps : {edge(), nano(), odd()}) {
      const MxuCommand here = fitted(command, caps);
      ASSERT_EQ(mxu_cycles(here, caps), loop_by_loop(here, caps)) << "tile " << i << " of seed 1";
    }
  }
}

TEST(MxuCycles, NeverFasterThanThePeak) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) {
    const MxuCommand command = random_command(random);
    for (const Capabilities& caps : {edge(), nano(), odd()}) {
      const uint64_t depth = command.mode == MxuMode::kDepthwise ? caps.mxu_dw_taps : caps.mxu_depth;
      const MxuCommand here = fitted(command, caps);
      const MxuLoops loops = mxu_loops(here, caps);
      const uint64_t peak = caps.mxu_cols * depth;
      ASSERT_GE(mxu_cycles(here, caps).steady * peak, mxu_macs(here) * loops.rate) << "tile " << i << " of seed 2";
    }
  }
}

TEST(MxuCycles, MoreWorkNeverTakesFewerCycles) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const MxuCommand command = random_command(random);
    MxuCommand more = command;
    if (i % 4 == 0) ++more.out_h;
    if (i % 4 == 1) more.out_c += 3, more.in_c += more.mode == MxuMode::kDepthwise ? 3 : 0;
    if (i % 4 == 2) more.in_c += more.mode == MxuMode::kDepthwise ? 0 : 5;
    if (i % 4 == 3) ++more.kernel_h;
    for (const Capabilities& caps : {edge(), nano(), odd()}) {
      ASSERT_GE(mxu_cycles(fitted(more, caps), caps).total(), mxu_cycles(fitted(command, caps), caps).total())
          << "tile " << i << " of seed 3";
    }
  }
}

TEST(MxuCycles, LargeLayersUseTheArray) {
  // ResNet's 3 x 3, 64 -> 64 on 56 x 56, and a wide pointwise one: above 90 %.
  for (const MxuCommand& command : {conv(56, 56, 64, 64, 3), conv(28, 28, 256, 512, 1)}) {
    const double peak = static_cast<double>(mxu_macs(command)) / 1024;
    EXPECT_GT(peak / static_cast<double>(mxu_cycles(command, edge()).total()), 0.9);
  }
}

}  // namespace
}  // namespace npu::timing
