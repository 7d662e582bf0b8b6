// SPDX-License-Identifier: Apache-2.0
// The MXU model on floating point against sums in the order of the contract, on every kernel set of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "hw/engine/mxu_model.h"
#include "hw/engine/mxu_tile.h"
#include "hw/engine/vpu_model.h"
#include "hw/timing/mxu_cycles.h"
#include "sim/cosim/random_floats.h"
#include "tests/unit/engine/mxu_case.h"
#include "tests/unit/engine/scalar_floats.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::ErrorCode;
using contract::MxuCommand;
using contract::MxuMode;
using contract::ParameterEntry;
using contract::ParameterHeader;

constexpr Element kFormats[] = {Element::kF16, Element::kBf16, Element::kF32, Element::kF8e4m3, Element::kF8e5m2};

struct Array {
  uint32_t depth, dw_taps, cycles;
};

Capabilities machine(const Array& array) {
  Capabilities caps = test_machine();
  caps.mxu_depth = array.depth;
  caps.mxu_dw_taps = array.dw_taps;
  caps.mxu_fp8_cycles = caps.mxu_fp16_cycles = caps.mxu_bf16_cycles = caps.mxu_fp32_cycles = array.cycles;
  return caps;
}

// The results of a tile and what it adds to them, as the VPU adds and clamps them in place.
contract::VpuEwiseCommand addition(const MxuCommand& tile, const ParameterHeader& header, bool residual_first) {
  using contract::UopCode;
  contract::VpuEwiseCommand command;
  command.header.queue = contract::Queue::kVpu;
  command.dims = {1, tile.out_h, tile.out_w, tile.out_c};
  command.register_count = 3;
  const auto bytes = static_cast<int32_t>(element_bytes(tile.dst_type));
  contract::Operand value, residual;
  value.type = residual.type = tile.dst_type;
  value.base = tile.dst;
  value.stride = {0, tile.dst_row_stride, tile.dst_pixel_stride, bytes};
  residual.base = tile.residual_src;
  residual.stride = {0, tile.residual_row_stride, tile.residual_pixel_stride, bytes};
  command.operands = {value, residual};
  const uint32_t first = residual_first ? 1 : 0;
  command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                  {UopCode::kLoad, 1, 1, 0, 0, 0},
                  {UopCode::kFadd, 2, first, 1 - first, static_cast<int32_t>(tile.dst_type), 0},
                  {UopCode::kFclamp, 2, 2, 0, header.clamp_min, header.clamp_max},
                  {UopCode::kStore, 0, 2, 0, 0, 0}};
  return command;
}

class FloatMxu : public ::testing::Test {
 protected:
  // Runs the case on every kernel set and compares the whole scratchpad: results, and nothing else changed.
  void check(const MxuCase& made, const Capabilities& caps, const std::string& what) {
    for (const Kernels* kernels : supported_kernels()) {
      MxuCase test = made;
      const TileResult result = make_mxu_model(caps, *kernels)->run(test.words, test.memory, /*timed=*/true);
      ASSERT_EQ(result.error, ErrorCode::kOk) << what;
      ASSERT_EQ(test.memory.scratchpad(), test.expected) << what << ", on " << kernels->name;
      compared_ += test.elements;
    }
  }
  void check(const MxuShape& shape, const Capabilities& caps, Random& random) {
    check(make_case(shape, random, caps), caps,
          shape.describe() + ", depth " + std::to_string(caps.mxu_depth) + ", " + random.name());
  }
  // What a tile with a residual gives, by a tile without it and without limits and by an addition of the VPU.
  void check_apart(const MxuCase& made, const Capabilities& caps, bool residual_first, const std::string& what) {
    MxuCase test = made;
    uint8_t* params = test.memory.at(test.command.params);
    const ParameterHeader header = ParameterHeader::load(params);
    ParameterHeader unlimited = header;
    unlimited.clamp_min = kMinusInfinity;
    unlimited.clamp_max = kPlusInfinity;
    unlimited.store(params);
    MxuCommand alone = test.command;
    alone.residual = contract::Residual::kNone;
    ASSERT_EQ(make_mxu_model(caps)->run(encode(alone), test.memory, false).error, ErrorCode::kOk) << what;
    const contract::VpuEwiseCommand sum = addition(test.command, header, residual_first);
    ASSERT_EQ(make_vpu_model(caps)->run(encode(sum), test.memory, false).error, ErrorCode::kOk) << what;
    header.store(test.memory.at(test.command.params));
    ASSERT_EQ(test.memory.scratchpad(), made.expected) << what << ", by commands apart";
    compared_ += test.elements;
  }
  void TearDown() override { std::printf("%lld elements compared\n", static_cast<long long>(compared_)); }

  int64_t compared_ = 0;
};

TEST_F(FloatMxu, RandomTilesOfEveryFormat) {
  Random random(401);
  std::map<std::string, int> kinds;
  for (int i = 0; i < 250 && !HasFatalFailure(); ++i) {
    const Array array = random.pick<Array>({{32, 9, 1}, {32, 9, 2}, {8, 2, 8}, {16, 5, 3}, {128, 9, 7}, {4, 64, 64}});
    MxuShape shape = random.chance(10) ? cosim::random_mxu_windows(random) : cosim::random_mxu_shape(random);
    shape.in_c = std::min<int64_t>(shape.in_c, 100);
    if (shape.mode == MxuMode::kDepthwise) shape.out_c = shape.in_c * shape.multiplier;
    make_float(shape, kFormats[static_cast<size_t>(i) % std::size(kFormats)], random);
    if (timing::mxu_macs(mxu_command(shape)) > 60'000) continue;
    if (random.chance(20)) put_side_by_side(shape, machine(array), random);
    ++kinds[shape.kind()];
    check(shape, machine(array), random);
  }
  EXPECT_EQ(kinds.size(), 3 * std::size(kFormats));
}

// What is added lies in memory as the results do, of the same type.
TEST_F(FloatMxu, ResidualsAreWhatCommandsApartGive) {
  Random random(409);
  std::map<std::string, int> kinds;
  for (int i = 0; i < 600 && !HasFatalFailure(); ++i) {
    const Array array = random.pick<Array>({{32, 9, 1}, {32, 9, 2}, {8, 2, 8}, {16, 5, 3}});
    MxuShape shape = random.chance(10) ? cosim::random_mxu_windows(random) : cosim::random_mxu_shape(random);
    shape.in_c = std::min<int64_t>(shape.in_c, 100);
    if (shape.mode == MxuMode::kDepthwise) shape.out_c = shape.in_c * shape.multiplier;
    shape.wide_src = false;
    cosim::add_residual(shape, random);
    make_float(shape, kFormats[static_cast<size_t>(i) % std::size(kFormats)], random);
    if (timing::mxu_macs(mxu_command(shape)) > 60'000) continue;
    if (random.chance(20)) put_side_by_side(shape, machine(array), random);
    ++kinds[shape.kind()];
    const MxuCase test = make_case(shape, random, machine(array));
    ASSERT_EQ(test.command.residual, contract::Residual::kFloating);
    check(test, machine(array), shape.describe() + ", " + random.name());
    if (!HasFatalFailure()) check_apart(test, machine(array), random.chance(50), shape.describe());
  }
  EXPECT_EQ(kinds.size(), 3 * std::size(kFormats));
}

// Depths around that of the array, for every number of elements that a cycle can take.
TEST_F(FloatMxu, EveryNumberOfElementsACycle) {
  Random random(402);
  for (const uint32_t cycles : {1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 17, 31, 32, 33, 64}) {
    const Capabilities caps = machine({32, 9, cycles});
    for (const int64_t in_c : {1, 2, 31, 32, 33, 64, 75}) {
      check(plain_float_shape(Element::kF32, in_c, 3), caps, random);
      MxuShape window = plain_float_shape(Element::kBf16, in_c, 2);
      window.in_h = window.in_w = 3;
      window.kernel_h = window.kernel_w = window.pad_top = window.pad_left = 2;
      check(window, caps, random);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(FloatMxu, EveryWidthOfChannelsAndPixels) {
  Random random(403);
  for (int64_t channels = 1; channels <= 40; ++channels) {
    for (const int64_t pixels : {1, 3, 4, 5, 9}) {
      MxuShape shape = plain_float_shape(kFormats[static_cast<size_t>(channels) % std::size(kFormats)], 5, channels);
      shape.in_w = pixels;
      check(shape, machine({8, 3, 2}), random);
      shape.mode = MxuMode::kMatmul;
      check(shape, machine({8, 3, 2}), random);
      shape.mode = MxuMode::kDepthwise;
      shape.in_c = channels;
      shape.kernel_w = 3;
      shape.pad_left = shape.pad_right = 1;
      check(shape, machine({8, 3, 2}), random);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(FloatMxu, LongReductions) {
  Random random(404);
  for (const Element format : {Element::kF16, Element::kF32}) {
    check(plain_float_shape(format, 20'000, 2), machine({128, 9, 8}), random);
    MxuShape matmul = plain_float_shape(format, 3'001, 5);
    matmul.mode = MxuMode::kMatmul;
    matmul.in_w = 3;
    check(matmul, machine({32, 9, 5}), random);
    MxuShape depthwise = plain_float_shape(format, 20, 20);
    depthwise.mode = MxuMode::kDepthwise;
    depthwise.in_h = 90;
    depthwise.kernel_h = 70;
    depthwise.pad_top = 3;
    check(depthwise, machine({32, 9, 4}), random);
  }
}

// The order decides: FP32 numbers are 2 apart behind 2^24, so that it takes no 1 alone.
TEST_F(FloatMxu, SumsAreMadeInPairs) {
  Random random(405);
  constexpr uint32_t kOne = 0x3f800000, kHalf = 0x3f000000, kTwoTo24 = 0x4b800000;
  struct Sum {
    uint32_t at_once, small, result;
  };
  // 2^24, and then 15 times `small`.
  const Sum sums[] = {
      {1, kOne, kTwoTo24},        // + 1 fifteen times
      {2, kOne, kTwoTo24 + 7},    // 2^24, + 2 seven times
      {2, kHalf, kTwoTo24},       // 2^24, + 1 seven times
      {4, kHalf, kTwoTo24 + 3},   // 2^24 + (1 / 2 + 1 / 2), which changes nothing, + 2 three times
      {16, kHalf, kTwoTo24 + 3},  // the same, (2^24 + 2) + (2 + 2)
  };
  for (const auto& [at_once, small, result] : sums) {
    const Capabilities caps = machine({16, 9, 16 / at_once});
    const auto fill = [small = small](cosim::MadeTile<contract::MxuCommand>& tile) {
      for (uint32_t i = 0; i < 16; ++i) {
        contract::detail::store(tile.at(tile.command.src) + 4 * i, i == 0 ? kTwoTo24 : small);
        contract::detail::store(tile.at(tile.command.weights) + 4 * i, kOne);
      }
      ParameterEntry().store(tile.at(tile.command.params) + ParameterHeader::kBytes);
    };
    const MxuCase test = make_case(plain_float_shape(Element::kF32, 16, 1), random, caps, fill);
    EXPECT_EQ(contract::detail::load<uint32_t>(test.expected.data() + test.command.dst.offset), result) << at_once;
    check(test, caps, "sums of " + std::to_string(at_once));
  }
}

// Numbers whose exponent is all ones in every weight, in some, and around the edge of a padded window: +0 times them is
// not a NaN outside of the input, but it is inside.
TEST_F(FloatMxu, PaddingMeetsInfiniteWeights) {
  Random random(406);
  for (const Element format : kFormats) {
    for (const MxuMode mode : {MxuMode::kConv, MxuMode::kDepthwise}) {
      for (const int percent : {100, 30, 3}) {
        MxuShape shape = plain_float_shape(format, 4, 4);
        shape.mode = mode;
        shape.in_h = shape.in_w = 4;
        shape.kernel_h = shape.kernel_w = 3;
        shape.dilation_x = random.between(1, 2);
        shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = 2;
        shape.dst_type = cosim::random_result_format(random);
        const Capabilities caps = machine({32, 9, 2});
        const auto make_infinite = [&](cosim::MadeTile<contract::MxuCommand>& tile) {
          const uint32_t largest = (1U << (8 * element_bytes(format) - 1)) - 1;  // a NaN
          const uint32_t infinity = format == Element::kF8e4m3 ? largest : scalar::narrow(format, scalar::kInfinity);
          for (int64_t i = 0; i < 9 * 4 * (mode == MxuMode::kConv ? 4 : 1); ++i) {
            if (!random.chance(percent)) continue;
            const uint32_t sign = random.chance(50) ? largest + 1 : 0;
            const uint32_t pattern = sign | (random.chance(80) ? infinity : largest);
            std::memcpy(tile.at(tile.command.weights) + i * element_bytes(format), &pattern, element_bytes(format));
          }
        };
        check(make_case(shape, random, caps, make_infinite), caps, shape.describe() + ", " + random.name());
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Bias, limits and rounding: every result is a number that was chosen.
TEST_F(FloatMxu, OutputStageOnSpecialValues) {
  Random random(407);
  const std::vector<uint32_t> values = scalar::special_patterns(Element::kF32);
  for (const Element dst : {Element::kF16, Element::kBf16, Element::kF32}) {
    for (const auto& [low, high] : {std::pair{kMinusInfinity, kPlusInfinity},
                                    {0, 0x40c00000},
                                    {INT32_MIN, 0},
                                    {0x3f800000, 0x3f800000},
                                    {1, 0x00800000}}) {
      MxuShape shape = plain_float_shape(Element::kF32, 1, static_cast<int64_t>(values.size()));
      shape.in_w = static_cast<int64_t>(values.size());
      shape.dst_type = dst;
      shape.clamp_min = low;
      shape.clamp_max = high;
      const auto fill = [&](cosim::MadeTile<contract::MxuCommand>& tile) {
        for (size_t i = 0; i < values.size(); ++i) {
          contract::detail::store(tile.at(tile.command.src) + 4 * i, values[i]);
          contract::detail::store(tile.at(tile.command.weights) + 4 * i, uint32_t{0x3f800000});
          ParameterEntry entry;
          entry.bias = static_cast<int64_t>(random.bits() << 32 | values[i]);
          entry.store(tile.at(tile.command.params) + ParameterHeader::kBytes + i * ParameterEntry::kBytes);
        }
      };
      check(make_case(shape, random, machine({8, 9, 1}), fill), machine({8, 9, 1}), shape.describe());
      if (HasFatalFailure()) return;
    }
  }
}

// Every special value and every sum of two of them, of which some are half-way between two results, with what is
// added: all kinds of values meet all kinds.
TEST_F(FloatMxu, ResidualsOnSpecialValues) {
  Random random(410);
  const std::vector<uint32_t> values = scalar::special_patterns(Element::kF32);
  for (const Element dst : {Element::kF16, Element::kBf16, Element::kF32}) {
    const std::vector<uint32_t> added = scalar::special_patterns(dst);
    for (const auto& [low, high] : {std::pair{kMinusInfinity, kPlusInfinity},
                                    {0, 0x40c00000},
                                    {INT32_MIN, 0},
                                    {INT32_MIN | 0x3f800000, 0x3f800000},
                                    {1, 0x00800000}}) {
      MxuShape shape = plain_float_shape(Element::kF32, 1, static_cast<int64_t>(added.size()));
      shape.in_w = static_cast<int64_t>(2 * values.size());
      shape.dst_type = dst;
      shape.residual = contract::Residual::kFloating;
      shape.clamp_min = low;
      shape.clamp_max = high;
      const auto fill = [&](cosim::MadeTile<MxuCommand>& tile) {
        for (size_t i = 0; i < 2 * values.size(); ++i) {
          // The second half are of the result's own type.
          const uint32_t value = values[i % values.size()];
          contract::detail::store(tile.at(tile.command.src) + 4 * i,
                                  i < values.size() ? value : scalar::widen(dst, scalar::narrow(dst, value)));
        }
        for (size_t c = 0; c < added.size(); ++c) {
          contract::detail::store(tile.at(tile.command.weights) + 4 * c, uint32_t{0x3f800000});
          ParameterEntry entry;
          entry.bias = static_cast<int64_t>(random.bits() << 32 | (c % 3 == 0 ? values[c % values.size()] : 0));
          entry.store(tile.at(tile.command.params) + ParameterHeader::kBytes + c * ParameterEntry::kBytes);
        }
        for (size_t i = 0; i < 2 * values.size() * added.size(); ++i) {
          std::memcpy(tile.at(tile.command.residual_src) + i * element_bytes(dst), &added[i % added.size()],
                      element_bytes(dst));
        }
      };
      const MxuCase test = make_case(shape, random, machine({8, 9, 1}), fill);
      check(test, machine({8, 9, 1}), shape.describe());
      for (const bool residual_first : {false, true}) {
        if (!HasFatalFailure()) check_apart(test, machine({8, 9, 1}), residual_first, shape.describe());
      }
      if (HasFatalFailure()) return;
    }
  }
}

// A box whose rows and pixels are the same bytes again has more positions than memory could hold apart.
TEST_F(FloatMxu, RepeatedRowsTakeNoMemory) {
  Random random(408);
  const Capabilities caps = machine({32, 9, 1});
  MxuShape shape = plain_float_shape(Element::kF16, 4, 4);
  shape.in_h = shape.in_w = shape.kernel_h = 3;
  MxuCase test = make_case(shape, random, caps);
  test.command.src_row_stride = test.command.src_pixel_stride = 0;
  MxuCase huge = test;
  huge.command.in_h = huge.command.in_w = UINT32_MAX;
  huge.command.dilation_y = huge.command.stride_x = 65'535;
  for (const Kernels* kernels : supported_kernels()) {
    MxuCase one = test, other = huge;
    ASSERT_EQ(make_mxu_model(caps, *kernels)->run(encode(one.command), one.memory, false).error, ErrorCode::kOk);
    ASSERT_EQ(make_mxu_model(caps, *kernels)->run(encode(other.command), other.memory, false).error, ErrorCode::kOk);
    EXPECT_EQ(one.memory.scratchpad(), other.memory.scratchpad());
    compared_ += 3 * 4;
  }
}

// A channel takes as long as all of a panel, so that fewer products end it in time than of integers.
TEST_F(FloatMxu, TilesOfTooMuchWorkAreRefused) {
  contract::MxuCommand command;
  command.in_h = command.out_h = command.kernel_h = command.kernel_w = 1;
  command.stride_y = command.stride_x = command.dilation_y = command.dilation_x = 1;
  command.in_w = command.out_w = command.in_c = 1U << 16;
  command.out_c = 1;
  command.dst_type = Element::kI32;
  MxuTile tile;
  EXPECT_EQ(MxuTile::make(command, tile), ErrorCode::kOk);
  command.src_type = command.weight_type = command.dst_type = Element::kF32;
  command.rescale = contract::Rescale::kFloating;
  EXPECT_EQ(MxuTile::make(command, tile), ErrorCode::kFaultBadCommand);
  command.in_c /= 2;
  EXPECT_EQ(MxuTile::make(command, tile), ErrorCode::kOk);
}

}  // namespace
}  // namespace npu::engine::testing
