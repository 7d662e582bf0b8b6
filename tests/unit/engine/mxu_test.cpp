// SPDX-License-Identifier: Apache-2.0
// The MXU model against naive loops: random tiles and corners, on every kernel set of this machine.
#include <gtest/gtest.h>

#include <cstring>

#include "hw/engine/mxu_model.h"
#include "hw/engine/mxu_tile.h"
#include "tests/unit/engine/mxu_case.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::Element;
using contract::ErrorCode;
using contract::MxuMode;
using contract::Rescale;

class Mxu : public EveryKernelSet {
 protected:
  // Runs a tile and compares the whole scratchpad: results, and nothing else changed.
  void check(const MxuShape& shape, Random& random) {
    MxuCase test = make_case(shape, random);
    const TileResult result = engine_->run(test.words, test.memory, /*timed=*/true);
    ASSERT_EQ(result.error, ErrorCode::kOk) << shape.describe() << ", " << random.name();
    ASSERT_EQ(test.memory.scratchpad(), test.expected) << shape.describe() << ", " << random.name();
    compared_ += test.elements;
  }
  void TearDown() override {
    std::printf("%lld elements compared on %s\n", static_cast<long long>(compared_), GetParam().c_str());
  }

  std::unique_ptr<Engine> engine_ = make_mxu_model(test_machine(), kernels());
  int64_t compared_ = 0;
};

TEST_P(Mxu, RandomTilesEqualNaiveLoops) {
  Random random(20240);
  for (int i = 0; i < 700 && !HasFatalFailure(); ++i) check(cosim::random_mxu_shape(random), random);
}

TEST_P(Mxu, ResidualsEqualNaiveLoops) {
  Random random(20250);
  for (int i = 0; i < 500 && !HasFatalFailure(); ++i) {
    MxuShape shape = cosim::random_mxu_shape(random);
    cosim::add_residual(shape, random);
    check(shape, random);
  }
}

// They are one way of computing: every byte is that of pixels one after the other.
TEST_P(Mxu, PixelsSideBySideEqualNaiveLoopsAndPixelsAlone) {
  Random random(20260);
  const contract::Capabilities caps = test_machine();
  for (int i = 0; i < 300 && !HasFatalFailure(); ++i) {
    MxuShape shape = cosim::random_mxu_shape(random);
    if (random.chance(30)) cosim::add_residual(shape, random);
    put_side_by_side(shape, caps, random);
    if (shape.side_by_side_log2 == 0) continue;
    check(shape, random);
    MxuCase test = make_case(shape, random), alone = test;
    alone.command.side_by_side_log2 = 0;
    alone.words = encode(alone.command);
    const TileResult together = engine_->run(test.words, test.memory, true);
    const TileResult one = engine_->run(alone.words, alone.memory, true);
    ASSERT_EQ(together.error, ErrorCode::kOk);
    ASSERT_EQ(one.error, ErrorCode::kOk);
    EXPECT_EQ(test.memory.scratchpad(), alone.memory.scratchpad());
    EXPECT_EQ(together.macs, one.macs);
    EXPECT_LE(together.cycles, one.cycles) << shape.describe();
  }
}

TEST_P(Mxu, LayersOfRealNetworks) {
  Random random(77);
  const auto conv = [](int64_t size, int64_t in_c, int64_t out_c, int64_t kernel, int64_t stride) {
    MxuShape shape;
    shape.in_h = shape.in_w = size;
    shape.in_c = in_c;
    shape.out_c = out_c;
    shape.kernel_h = shape.kernel_w = kernel;
    shape.stride_y = shape.stride_x = stride;
    shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = kernel / 2;
    shape.rescale = Rescale::kDouble32;
    shape.dst_type = Element::kI8;
    shape.input_zp = -128;
    shape.output_zp = -128;
    return shape;
  };
  check(conv(32, 3, 32, 3, 2), random);
  check(conv(14, 96, 24, 1, 1), random);
  check(conv(7, 320, 200, 1, 1), random);
  check(conv(8, 64, 64, 3, 1), random);
  check(conv(1, 640, 128, 1, 1), random);
  check(conv(2, 300, 33, 1, 1), random);
  MxuShape depthwise = conv(14, 96, 96, 3, 1);
  depthwise.mode = MxuMode::kDepthwise;
  check(depthwise, random);
  depthwise.in_c = depthwise.out_c = 1200;
  depthwise.in_h = depthwise.in_w = 5;
  check(depthwise, random);
  MxuShape streaming;
  streaming.in_h = 20;
  streaming.in_c = streaming.out_c = 40;
  streaming.mode = MxuMode::kDepthwise;
  streaming.kernel_h = 20;
  check(streaming, random);
  streaming.kernel_h = 1;
  streaming.in_h = 90;
  streaming.kernel_h = 70;  // more taps than one call of the kernel takes
  check(streaming, random);
}

TEST_P(Mxu, EveryWidthOfChannelsAndPixels) {
  Random random(5);
  for (int64_t channels = 1; channels <= 70; ++channels) {
    for (const int64_t pixels : {1, 2, 3, 4, 5, 8, 9, 17}) {
      MxuShape shape;
      shape.in_w = pixels;
      shape.in_c = random.between(1, 9);
      shape.out_c = channels;
      shape.wide_src = channels % 5 == 0;
      shape.dst_type = shape.wide_src ? Element::kI48 : Element::kI32;
      check(shape, random);
      shape.mode = MxuMode::kDepthwise;
      shape.in_c = channels;
      check(shape, random);
    }
  }
}

TEST_P(Mxu, LongReductionsWrapAtTheAccumulatorsWidth) {
  Random random(6);
  for (const bool matmul : {false, true}) {
    for (const bool wide : {false, true}) {
      MxuShape shape;
      shape.mode = matmul ? MxuMode::kMatmul : MxuMode::kConv;
      shape.in_w = matmul ? 6 : 1;
      shape.in_c = 70000;
      shape.out_c = 3;
      shape.wide_src = wide;
      shape.wide_weights = wide && matmul;
      shape.dst_type = wide ? Element::kI48 : Element::kI32;
      shape.extreme = true;
      if (!wide) shape.input_zp = -128, shape.weight_zp = 127;
      check(shape, random);
      shape.in_w = 6;
      check(shape, random);
      // All products of one sign: partial sums leave 32 bits on the way.
      for (const uint8_t byte : {0x7f, 0x80}) {
        shape.constant_elements = byte;
        for (const int64_t in_w : {1, 6}) {
          shape.in_w = matmul ? 6 : in_w;
          check(shape, random);
        }
      }
    }
  }
}

TEST_P(Mxu, OnePixelWrapsToo) {
  // A single pixel takes a kernel of its own, whose sixteen partial sums wrap after a million products.
  Random random(12);
  MxuShape shape;
  shape.in_c = 1'200'000;
  shape.constant_elements = 0x7f;
  check(shape, random);
}

TEST_P(Mxu, ExtremeElementsAreExact) {
  // One byte everywhere: all products have the same sign and size, so that a saturating kernel would show.
  Random random(7);
  for (const bool wide : {false, true}) {
    for (const MxuMode mode : {MxuMode::kConv, MxuMode::kDepthwise, MxuMode::kMatmul}) {
      const bool wide_weights = wide && mode == MxuMode::kMatmul;
      for (const uint8_t byte : {0x80, 0x7f, 0xff}) {
        for (const int64_t in_w : {1, 24}) {
          MxuShape shape;
          shape.mode = mode;
          shape.in_w = in_w;
          shape.in_c = 512;
          shape.out_c = mode == MxuMode::kDepthwise ? 512 : 33;
          shape.wide_src = wide;
          shape.wide_weights = wide_weights;
          shape.dst_type = wide ? Element::kI48 : Element::kI32;
          shape.constant_elements = byte;
          check(shape, random);
        }
      }
    }
  }
}

TEST_P(Mxu, PaddingOnlyReadsNothing) {
  Random random(8);
  MxuShape shape;
  shape.in_h = shape.in_w = 2;
  shape.in_c = 5;
  shape.out_c = 9;
  MxuCase test = make_case(shape, random);
  test.command.pad_top = -40;  // every window lies below the box
  test.command.pad_left = 3;
  for (uint32_t oc = 0; oc < 9; ++oc) {
    contract::ParameterEntry entry;
    entry.bias = 1000 + oc;
    entry.store(test.memory.at(test.command.params) + contract::ParameterHeader::kBytes + oc * 16);
  }
  ASSERT_EQ(engine_->run(encode(test.command), test.memory, true).error, ErrorCode::kOk);
  for (uint32_t i = 0; i < 36; ++i) {
    EXPECT_EQ(contract::detail::load<int32_t>(test.memory.at(test.command.dst) + 4 * i), 1000 + int32_t(i % 9));
  }
  for (const TestMemory::Touch& touch : test.memory.touches) EXPECT_NE(touch.low, test.command.src.offset);
  compared_ += 36;
}

TEST_P(Mxu, TouchesExactlyItsOperands) {
  Random random(9);
  for (int i = 0; i < 100; ++i) {
    MxuShape shape = cosim::random_mxu_shape(random);
    if (random.chance(30)) cosim::add_residual(shape, random);
    MxuCase test = make_case(shape, random);
    ASSERT_EQ(engine_->run(test.words, test.memory, false).error, ErrorCode::kOk);
    const std::vector<bool> written = test.memory.touched(Access::kWrite);
    int64_t count = 0;
    for (size_t b = 0; b < written.size(); ++b) count += written[b];
    EXPECT_EQ(count, test.elements * element_bytes(shape.dst_type)) << shape.describe();
    // Reads: parameters, weights without gaps, and no more than the input box.
    const std::vector<bool> read = test.memory.touched(Access::kRead);
    for (size_t b = 0; b < read.size(); ++b) {
      ASSERT_FALSE(read[b] && written[b]) << shape.describe();
      ASSERT_TRUE(!read[b] || b < test.command.dst.offset);
    }
  }
}

TEST_P(Mxu, OperandsInVariables) {
  Random random(10);
  MxuShape shape;
  shape.in_c = shape.out_c = 24;
  shape.in_h = 6;
  shape.kernel_h = 6;
  MxuCase test = make_case(shape, random);
  std::vector<uint8_t>& state = test.memory.variable(3, 400);
  std::copy_n(test.memory.at(test.command.src), 144, state.begin() + 100);
  test.command.src = {100, contract::Region::kVariable, 3};
  ASSERT_EQ(engine_->run(encode(test.command), test.memory, false).error, ErrorCode::kOk);
  EXPECT_EQ(test.memory.scratchpad(), test.expected);
  compared_ += test.elements;
}

TEST_P(Mxu, ReversedAndRepeatedStrides) {
  Random random(11);
  for (int64_t in_c : {4, 7}) {
    MxuShape shape;
    shape.in_h = 5;
    shape.in_w = 6;
    shape.in_c = in_c;
    shape.out_c = 20;
    MxuCase test = make_case(shape, random);
    // Rows from the last to the first: the base is the last row.
    MxuCase mirrored = test;
    mirrored.command.src.offset += static_cast<uint32_t>(4 * test.command.src_row_stride);
    mirrored.command.src_row_stride = -test.command.src_row_stride;
    mirrored.command.dst.offset += static_cast<uint32_t>(4 * test.command.dst_row_stride);
    mirrored.command.dst_row_stride = -test.command.dst_row_stride;
    ASSERT_EQ(engine_->run(encode(mirrored.command), mirrored.memory, true).error, ErrorCode::kOk);
    EXPECT_EQ(mirrored.memory.scratchpad(), test.expected);
    // One row, five times.
    MxuCase repeated = test;
    repeated.command.src_row_stride = 0;
    ASSERT_EQ(engine_->run(encode(repeated.command), repeated.memory, true).error, ErrorCode::kOk);
    for (int64_t y = 1; y < 5; ++y) {
      const uint8_t* first = repeated.memory.at(repeated.command.dst);
      EXPECT_EQ(0, std::memcmp(first, first + y * test.command.dst_row_stride, 6 * 20 * 4));
    }
    compared_ += 2 * test.elements;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Mxu, ::testing::ValuesIn(all_kernel_sets()), kernel_set_name);

}  // namespace
}  // namespace npu::engine::testing
