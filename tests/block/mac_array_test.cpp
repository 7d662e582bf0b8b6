// SPDX-License-Identifier: Apache-2.0
// The MXU's RTL, every tile: bits against the model and against naive loops, cycles against the formula, and in each
// cycle the ports that ask against their schedule, whatever memory grants.
#include <algorithm>
#include <bit>
#include <string>

#include "sim/cosim/random_floats.h"
#include "tests/block/mac_array_block.h"

namespace npu::rtl::test {
namespace {

using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;

// Groups of a few cycles, or, with a single channel, those of one block after the other.
MxuShape small_groups(Random& random) {
  MxuShape shape;
  shape.mode = MxuMode::kMatmul;
  shape.wide_src = shape.wide_weights = random.chance(20);
  shape.dst_type = shape.wide_src ? Element::kI48 : Element::kI32;
  const bool blocks = random.chance(30);
  shape.in_w = blocks ? random.between(100, 300) : random.between(1, 4);
  shape.in_c = random.between(1, 40);
  shape.out_c = blocks ? random.between(1, 2) : random.between(1, 150);
  return shape;
}

TEST_P(MacArrayBlock, RandomTiles) {
  Random random(seed(3'000));
  Buckets buckets("random tiles", seed(3'000));
  for (int i = 0; i < 2'500 && !HasFailure(); ++i) {
    check(shape_within(random, i % 50 == 0 ? 30'000 : 2'500), random, buckets, /*throttled=*/false);
  }
  // Nothing of what the block can do was left out.
  const bool adds = caps_.mxu_residual != 0;
  const size_t kinds_of_a_mode = 4 + 3 + 2 + 1 + (adds ? 2 : 0) + float_formats(caps_).size() * (adds ? 2 : 1);
  EXPECT_EQ(tiles_.size(), 3 * kinds_of_a_mode);
  for (const auto& [what, count] : tiles_) EXPECT_GE(count, 5) << what;
  EXPECT_EQ(side_by_side_.size(), static_cast<size_t>(std::bit_width(caps_.mxu_split)));
  for (const auto& [log2, count] : side_by_side_) EXPECT_GE(count, 50) << log2;
  EXPECT_GE(judged_by_reference_, 400u);
}

// Sizes next to those of the machine, for every mode and type.
TEST_P(MacArrayBlock, SizesNextToTheMachines) {
  Random random(seed(5'000));
  Buckets buckets("sizes next to the machine's", seed(5'000));
  const int64_t depth = caps_.mxu_depth, cols = caps_.mxu_cols;
  for (const MxuMode mode : {MxuMode::kConv, MxuMode::kDepthwise, MxuMode::kMatmul}) {
    for (const bool wide : {false, true}) {
      const int64_t block = caps_.mxu_acc_bytes / 2 / (wide ? 8 : 4) / cols;
      for (const int64_t pixels : {int64_t{1}, int64_t{2}, block - 1, block, block + 1, 2 * block + 1}) {
        for (const int64_t in_c : {int64_t{1}, depth - 1, depth, depth + 1, 2 * depth}) {
          for (const int64_t out_c : {int64_t{1}, cols - 1, cols, cols + 1}) {
            if (HasFailure()) return;
            MxuShape shape;
            shape.mode = mode;
            shape.wide_src = wide;
            shape.wide_weights = wide && mode == MxuMode::kMatmul;
            shape.in_w = pixels;
            shape.in_c = in_c;
            shape.out_c = out_c;
            if (mode == MxuMode::kDepthwise) shape.multiplier = out_c, shape.in_c = in_c % 4, shape.in_h = 3;
            if (shape.in_c == 0) continue;
            if (mode == MxuMode::kDepthwise) shape.kernel_h = 3, shape.out_c = shape.in_c * out_c;
            shape.dst_type = wide ? Element::kI48 : Element::kI32;
            shape.extreme = true;
            check(shape, random, buckets, /*throttled=*/false);
          }
        }
      }
    }
  }
}

// Pixels side by side with blocks, depths and taps next to the machine's, in every mode that has them.
TEST_P(MacArrayBlock, PixelsSideBySideInSizesNextToTheMachines) {
  Random random(seed(5'500));
  Buckets buckets("pixels side by side", seed(5'500));
  const int64_t depth = caps_.mxu_depth;
  for (uint32_t log2 = 1; 1U << log2 <= caps_.mxu_split; ++log2) {
    for (const MxuMode mode : {MxuMode::kConv, MxuMode::kDepthwise}) {
      for (const bool wide : {false, true}) {
        const int64_t block = caps_.mxu_acc_bytes / 2 / (wide ? 8 : 4) / caps_.mxu_cols;
        for (const int64_t groups : {int64_t{1}, int64_t{2}, block - 1, block, block + 1, 2 * block + 1}) {
          for (const int64_t in_c : {int64_t{1}, depth - 1, depth, depth + 1}) {
            if (HasFailure()) return;
            MxuShape shape;
            shape.mode = mode;
            shape.wide_src = wide;
            shape.side_by_side_log2 = log2;
            shape.out_c = caps_.mxu_cols >> log2;
            shape.in_c = in_c;
            shape.in_h = shape.kernel_h = 3;
            shape.in_w = groups << log2;
            if (mode == MxuMode::kDepthwise) {
              shape.in_c = std::min<int64_t>(shape.out_c, std::bit_floor(static_cast<uint64_t>(in_c)));
              shape.multiplier = shape.out_c / shape.in_c;
            }
            shape.dst_type = wide ? Element::kI48 : Element::kI32;
            shape.extreme = true;
            check(shape, random, buckets, /*throttled=*/false);
          }
        }
      }
    }
  }
}

TEST_P(MacArrayBlock, KernelsLargerThanTheInputAndWindowsOutsideOfIt) {
  Random random(seed(6'000));
  Buckets buckets("kernels larger than the input", seed(6'000));
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    MxuShape shape = cosim::random_mxu_windows(random);
    if (i % 3 == 0) put_side_by_side(shape, caps_, random);
    check(shape, random, buckets, /*throttled=*/i % 4 == 3);
  }
}

// Operands from their last row to the first, and rows that repeat.
TEST_P(MacArrayBlock, ReversedAndRepeatedStrides) {
  Random random(seed(7'000));
  Buckets buckets("reversed and repeated strides", seed(7'000));
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    const MxuShape shape = shape_within(random, 1'500);
    MxuCase test = make_case(shape, random, caps_);
    reverse_some(test.command, random);
    test.words = cosim::encode(test.command);
    test.expected.clear();
    check(std::move(test), shape, random, buckets, /*throttled=*/std::nullopt);
  }
}

TEST(MacArrayWrapper, RefusesAFormatThatTheMachineLacks) {
  const auto machines = built_machines();
  const auto without = std::find_if(machines.begin(), machines.end(),
                                    [](const char* machine) { return sizes_of(machine).mxu_bf16_cycles == 0; });
  if (without == machines.end()) GTEST_SKIP() << "every machine here has bf16";
  MxuCommand floats;
  floats.src_type = floats.weight_type = contract::Element::kBf16;
  try {
    make_mac_array(*without)->start(floats);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kArgumentUnsupported);
    EXPECT_NE(std::string(error.what()).find("floating point of type bf16"), std::string::npos) << error.what();
  }
}

// The other errors that the wrapper knows.
TEST(MacArrayWrapper, SaysWhatItCannotDo) {
  EXPECT_THROW((void)make_mac_array("server"), Error);
  MxuCommand command;
  command.out_h = command.out_w = command.in_h = command.in_w = command.kernel_w = command.dilation_x = 1;
  command.dilation_y = command.stride_x = command.stride_y = 1;
  command.kernel_h = 1;
  command.in_h = 1u << 31;
  try {
    make_mac_array(built_machines()[0])->start(command);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kArgumentUnsupported);
  }
}

TEST_P(MacArrayBlock, RandomTilesUnderRandomBackPressure) {
  Random random(seed(4'000));
  Buckets buckets("random tiles under back-pressure", seed(4'000));
  for (int i = 0; i < 2'500 && !HasFailure(); ++i) {
    check(shape_within(random, 1'500), random, buckets, /*throttled=*/true);
  }
}

// Each port in turn is all that holds the block back: what runs on runs into the bounds that the block sets itself.
TEST_P(MacArrayBlock, OnePortThatIsNearlyShut) {
  Random random(seed(8'000));
  Buckets buckets("one port that is nearly shut", seed(8'000));
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    MacArrayGates gates;
    MacArrayGate* const ports[] = {&gates.activations, &gates.weights, &gates.parameters, &gates.results,
                                   &gates.residual};
    *ports[i % 5] = MacArrayGate(random.bits(), random.pick({2, 5, 20}), 0);
    MxuShape shape = small_groups(random);
    if (random.chance(40)) {
      shape.mode = MxuMode::kConv;
      shape.wide_weights = false;
      put_side_by_side(shape, caps_, random);
    }
    if (caps_.mxu_residual != 0 && random.chance(60)) add_residual(shape, random);
    const std::optional<Element> format = cosim::random_mxu_format(caps_, random);
    if (format && random.chance(30)) make_float(shape, *format, random);
    check(make_case(shape, random, caps_), shape, random, buckets, gates);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, MacArrayBlock, testing::ValuesIn(tested_machines()));

}  // namespace
}  // namespace npu::rtl::test
