// SPDX-License-Identifier: Apache-2.0
// Tiles of floating point on the MXU's RTL.
#include <algorithm>
#include <cstring>

#include "sim/cosim/random_floats.h"
#include "tests/block/mac_array_block.h"
#include "tests/unit/engine/scalar_floats.h"

namespace npu::rtl::test {
namespace {

using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;
using contract::ParameterEntry;
using contract::ParameterHeader;
using engine::testing::kMinusInfinity;
using engine::testing::kPlusInfinity;
using engine::testing::plain_float_shape;
using engine::testing::scalar::special_patterns;
using MadeTile = cosim::MadeTile<MxuCommand>;

constexpr uint32_t kOne = 0x3f800000;

class FloatMacArray : public MacArrayBlock {
 protected:
  void SetUp() override {
    if (formats_.empty()) GTEST_SKIP() << "the machine has no floating point";
  }

  [[nodiscard]] bool adds() const { return caps_.mxu_residual != 0; }
  static void put(uint8_t* to, Element format, uint32_t pattern) { std::memcpy(to, &pattern, element_bytes(format)); }
  static uint8_t* entry_of(MadeTile& tile, int64_t channel) {
    return tile.at(tile.command.params) + ParameterHeader::kBytes + channel * int64_t{ParameterEntry::kBytes};
  }

  const std::vector<Element> formats_ = float_formats(caps_);
};

// Every format and shape, of numbers around 1 and, of some, of every kind.
TEST_P(FloatMacArray, RandomTiles) {
  Random random(seed(9'000));
  Buckets buckets("random tiles of floating point", seed(9'000));
  for (size_t i = 0; i < 3'000 && !HasFailure(); ++i) {
    MxuShape shape = shape_within(random, i % 50 == 0 ? 10'000 : 800);
    shape.extreme = random.chance(50);
    if (adds() && random.chance(30)) shape.residual = contract::Residual::kFloating;
    make_float(shape, formats_[i % formats_.size()], random);
    check(shape, random, buckets, /*throttled=*/i % 3 == 2);
  }
  EXPECT_EQ(tiles_.size(), 3 * formats_.size() * (adds() ? 2 : 1));
  for (const auto& [what, count] : tiles_) EXPECT_GE(count, 50) << what;
}

// Where each format and FP32 change what they do: ends of subnormal and normal numbers, infinities, NaNs, zeros. Sums
// of a few of them, so that a NaN hides little.
TEST_P(FloatMacArray, SpecialsInAllPlaces) {
  Random random(seed(9'100));
  Buckets buckets("specials", seed(9'100));
  const std::vector<uint32_t> biases = special_patterns(Element::kF32);
  for (size_t i = 0; i < 1'500 && !HasFailure(); ++i) {
    const Element format = formats_[i % formats_.size()];
    MxuShape shape = plain_float_shape(format, random.between(1, 3), random.between(1, 2 * int64_t{caps_.mxu_cols}));
    shape.mode = random.pick({MxuMode::kConv, MxuMode::kDepthwise, MxuMode::kMatmul});
    shape.in_w = random.between(1, 20);
    if (shape.mode != MxuMode::kMatmul) shape.kernel_w = random.between(1, 3), shape.pad_left = 2;
    if (shape.mode == MxuMode::kDepthwise) shape.multiplier = shape.out_c, shape.out_c *= shape.in_c;
    shape.dst_type = cosim::random_result_format(random);
    if (adds() && random.chance(50)) shape.residual = contract::Residual::kFloating;
    const std::vector<uint32_t> values = special_patterns(format), added = special_patterns(shape.dst_type);
    const auto any_of = [&](const std::vector<uint32_t>& patterns) {
      return patterns[static_cast<size_t>(random.between(0, static_cast<int64_t>(patterns.size()) - 1))];
    };
    const auto fill = [&](MadeTile& tile) {
      const int64_t bytes = element_bytes(format), pixels = shape.in_w * shape.in_c;
      const int64_t weights = shape.kernel_w * shape.out_c * (shape.mode == MxuMode::kDepthwise ? 1 : shape.in_c);
      for (int64_t e = 0; e < pixels; ++e) put(tile.at(tile.command.src) + e * bytes, format, any_of(values));
      for (int64_t e = 0; e < weights; ++e) put(tile.at(tile.command.weights) + e * bytes, format, any_of(values));
      for (int64_t c = 0; c < shape.out_c; ++c) {
        ParameterEntry entry;
        entry.bias = random.chance(50) ? 0 : any_of(biases);
        entry.store(entry_of(tile, c));
      }
      if (shape.residual == contract::Residual::kNone) return;
      const int64_t results = shape.out_h() * shape.out_w() * shape.out_c, result = element_bytes(shape.dst_type);
      for (int64_t e = 0; e < results; ++e) {
        put(tile.at(tile.command.residual_src) + e * result, shape.dst_type, any_of(added));
      }
    };
    check(make_case(shape, random, caps_, fill), shape, random, buckets, std::nullopt);
  }
}

// All that two FP8 numbers can be.
TEST_P(FloatMacArray, EveryPairOfFp8) {
  Random random(seed(9'200));
  Buckets buckets("pairs of FP8", seed(9'200));
  for (const Element format : formats_) {
    if (element_bytes(format) != 1) continue;
    constexpr int64_t kPatterns = 256;
    MxuShape shape = plain_float_shape(format, 1, kPatterns);
    shape.mode = MxuMode::kMatmul;
    shape.in_w = kPatterns;
    const auto fill = [&](MadeTile& tile) {
      for (int64_t i = 0; i < kPatterns; ++i) {
        tile.at(tile.command.src)[i] = tile.at(tile.command.weights)[i] = static_cast<uint8_t>(i);
        ParameterEntry().store(entry_of(tile, i));
      }
    };
    check(make_case(shape, random, caps_, fill), shape, random, buckets, std::nullopt);
  }
}

// Outside of the input a product is +0 where the weight is infinite or a NaN, too; inside it is not.
TEST_P(FloatMacArray, PaddingMeetsInfiniteWeights) {
  Random random(seed(9'300));
  Buckets buckets("padding and infinite weights", seed(9'300));
  for (size_t i = 0; i < 300 && !HasFailure(); ++i) {
    const Element format = formats_[i % formats_.size()];
    MxuShape shape = plain_float_shape(format, random.between(1, 2 * int64_t{caps_.mxu_depth}), 4);
    shape.mode = random.pick({MxuMode::kConv, MxuMode::kDepthwise});
    if (shape.mode == MxuMode::kDepthwise) shape.out_c = shape.in_c;
    shape.in_h = shape.in_w = 4;
    shape.kernel_h = shape.kernel_w = 3;
    shape.dilation_x = random.between(1, 2);
    shape.pad_top = shape.pad_left = shape.pad_bottom = shape.pad_right = 2;
    if (i % 2 == 0) put_side_by_side(shape, caps_, random);
    const int64_t percent = random.pick({100, 30, 3});
    const auto fill = [&](MadeTile& tile) {
      const uint32_t sign = 1U << (8 * element_bytes(format) - 1), nan = sign - 1;
      const uint32_t infinity = engine::testing::scalar::narrow(format, kPlusInfinity);
      const int64_t weights = 9 * shape.out_c * (shape.mode == MxuMode::kDepthwise ? 1 : shape.in_c);
      for (int64_t e = 0; e < weights; ++e) {
        if (!random.chance(percent)) continue;
        put(tile.at(tile.command.weights) + e * element_bytes(format), format,
            (random.chance(50) ? sign : 0) | (random.chance(80) ? infinity : nan));
      }
    };
    check(make_case(shape, random, caps_, fill), shape, random, buckets, std::nullopt);
  }
}

// Bias, limits and rounding: results are the specials and the sums of any two of them.
TEST_P(FloatMacArray, OutputStageOnSpecials) {
  Random random(seed(9'400));
  Buckets buckets("output stage", seed(9'400));
  if (contract::mxu_float_cycles(Element::kF32, caps_) == 0) GTEST_SKIP() << "the machine has no f32";
  const std::vector<uint32_t> values = special_patterns(Element::kF32);
  const auto count = static_cast<int64_t>(values.size());
  for (const Element dst : {Element::kF16, Element::kBf16, Element::kF32}) {
    for (const auto& [low, high] :
         {std::pair{kMinusInfinity, kPlusInfinity}, {0, 0x40c00000}, {INT32_MIN, 0}, {1, 0x00800000}}) {
      MxuShape shape = plain_float_shape(Element::kF32, 1, count);
      shape.in_w = count;
      shape.dst_type = dst;
      shape.clamp_min = low;
      shape.clamp_max = high;
      const auto fill = [&](MadeTile& tile) {
        for (int64_t i = 0; i < count; ++i) {
          const uint32_t value = values[static_cast<size_t>(i)];
          put(tile.at(tile.command.src) + 4 * i, Element::kF32, value);
          put(tile.at(tile.command.weights) + 4 * i, Element::kF32, kOne);
          ParameterEntry entry;
          entry.bias = static_cast<int64_t>(random.bits() << 32 | value);
          entry.store(entry_of(tile, i));
        }
      };
      check(make_case(shape, random, caps_, fill), shape, random, buckets, std::nullopt);
    }
  }
}

// What is added: every special value of each format of results to every value that such a sum can begin with.
TEST_P(FloatMacArray, ResidualsOnSpecials) {
  Random random(seed(9'500));
  Buckets buckets("residuals", seed(9'500));
  if (!adds()) GTEST_SKIP() << "the machine adds nothing";
  for (const Element dst : {Element::kF16, Element::kBf16, Element::kF32}) {
    for (const auto& [low, high] :
         {std::pair{kMinusInfinity, kPlusInfinity}, {0, 0x40c00000}, {INT32_MIN, 0}, {1, 0x00800000}}) {
      // The source is 0, and the value the bias, an FP32 number that is rounded.
      const std::vector<uint32_t> values = special_patterns(Element::kF32), added = special_patterns(dst);
      MxuShape shape = plain_float_shape(formats_.front(), 1, static_cast<int64_t>(values.size()));
      shape.in_w = static_cast<int64_t>(added.size());
      shape.dst_type = dst;
      shape.residual = contract::Residual::kFloating;
      shape.clamp_min = low;
      shape.clamp_max = high;
      const auto fill = [&](MadeTile& tile) {
        for (int64_t i = 0; i < shape.in_w; ++i) {
          put(tile.at(tile.command.src) + i * element_bytes(*shape.format), *shape.format, 0);
          for (int64_t c = 0; c < shape.out_c; ++c) {
            put(tile.at(tile.command.residual_src) + (i * shape.out_c + c) * element_bytes(dst), dst,
                added[static_cast<size_t>(i)]);
          }
        }
        for (int64_t c = 0; c < shape.out_c; ++c) {
          put(tile.at(tile.command.weights) + c * element_bytes(*shape.format), *shape.format, 0);
          ParameterEntry entry;
          entry.bias = static_cast<int64_t>(random.bits() << 32 | values[static_cast<size_t>(c)]);
          entry.store(entry_of(tile, c));
        }
      };
      check(make_case(shape, random, caps_, fill), shape, random, buckets, std::nullopt);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, FloatMacArray, testing::ValuesIn(tested_machines()));

}  // namespace
}  // namespace npu::rtl::test
