// SPDX-License-Identifier: Apache-2.0
// The MXU's RTL, every tile: bits against the model and against naive loops, cycles against the formula, and in each
// cycle the ports that ask against their schedule, whatever memory grants.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/contract/error.h"
#include "hw/engine/mxu_model.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/mxu_ports.h"
#include "sim/cosim/cycle_comparison.h"
#include "sim/cosim/random_mxu.h"
#include "tests/block/mac_array_driver.h"
#include "tests/block/mxu_by_reference.h"
#include "tests/block/stream.h"
#include "tests/block/tested_machines.h"
#include "tests/unit/engine/mxu_case.h"
#include "tests/unit/engine/scalar_math.h"

namespace npu::rtl::test {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;
using engine::testing::MxuCase;
using engine::testing::MxuShape;
using engine::testing::Random;

// Of schedule and RTL, cycle by cycle.
struct PortComparisons {
  uint64_t tiles = 0, cycles = 0, differing = 0;
};

class MacArrayBlock : public testing::TestWithParam<const char*> {
 protected:
  // Runs a tile on the RTL, and compares every result, every other byte and the cycles.
  void check(const MxuShape& shape, Random& random, Buckets& buckets, bool throttled) {
    MxuCase test = make_case(shape, random, caps_);
    check(std::move(test), shape, random, buckets, throttled ? std::optional(random_gates(random)) : std::nullopt);
  }

  // Without expected bytes the model alone judges.
  void check(MxuCase test, const MxuShape& shape, Random& random, Buckets& buckets,
             std::optional<MacArrayGates> throttled) {
    const std::string text = shape.describe() + ", " + random.name();
    std::vector<uint8_t> bytes = test.memory.scratchpad();
    MacArrayMemory memory(bytes, test.command);
    MacArrayGates gates = throttled.value_or(MacArrayGates());
    timing::PortWatch watch(timing::mxu_ports(test.command, caps_));
    const uint64_t wanted = timing::mxu_cycles(test.command, caps_).total();
    const uint64_t cycles = run_mac_array(*block_, test.command, memory, gates, watch, wanted * 400 + 10'000);
    ASSERT_NE(cycles, 0u) << "the block does not end: " << text;
    EXPECT_EQ(memory.outside(), 0u) << text;
    EXPECT_EQ(watch.difference(), "") << text;
    PortComparisons& ports = throttled ? throttled_ : open_;
    ++ports.tiles;
    ports.cycles += cycles;
    ports.differing += watch.difference().empty() ? 0 : 1;
    if (throttled) {
      EXPECT_GE(cycles, wanted) << text;
    } else {
      cycles_.add(cycles, wanted);
      EXPECT_EQ(cycles, wanted) << text;
    }

    ASSERT_EQ(model_->run(test.words, test.memory, /*timed=*/false).error, contract::ErrorCode::kOk) << text;
    const bool model_only = test.expected.empty();
    if (model_only) test.expected = test.memory.scratchpad();
    ASSERT_EQ(test.memory.scratchpad(), test.expected) << "model and naive loops differ: " << text;
    compare(test, bytes, text, buckets);
    if (!model_only) compare_with_reference(test, shape, bytes, text, buckets);
    ++tiles_[shape.kind()];
    ++side_by_side_[shape.side_by_side_log2];
    // And nothing else was written.
    ASSERT_EQ(bytes, test.expected) << text;
  }

  // Groups of a few cycles, or, with a single channel, those of one block after the other.
  static MxuShape small_groups(Random& random) {
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

  static MacArrayGates random_gates(Random& random) {
    const bool stretches = random.chance(20);
    const auto gate = [&] {
      return MacArrayGate(random.bits(), random.pick({10, 50, 80, 95, 100}),
                          stretches ? random.pick({0, 5, 50, 500}) : 0);
    };
    return {gate(), gate(), gate(), gate(), gate()};
  }

  void compare(const MxuCase& test, const std::vector<uint8_t>& bytes, const std::string& text, Buckets& buckets) {
    const MxuCommand& command = test.command;
    const int64_t element = element_bytes(command.dst_type);
    for (int64_t y = 0; y < command.out_h; ++y) {
      for (int64_t x = 0; x < command.out_w; ++x) {
        for (int64_t c = 0; c < command.out_c; ++c) {
          const int64_t at =
              command.dst.offset + y * command.dst_row_stride + x * command.dst_pixel_stride + c * element;
          buckets.compare(
              engine::testing::load(bytes.data() + at, command.dst_type),
              engine::testing::load(test.memory.scratchpad().data() + at, command.dst_type),
              [&] { return fmt::format("{} {}", name(command.mode), name(command.rescale)); },
              [&] { return fmt::format("{}, element {} {} {}", text, y, x, c); });
        }
      }
    }
  }

  void compare_with_reference(const MxuCase& test, const MxuShape& shape, const std::vector<uint8_t>& bytes,
                              const std::string& text, Buckets& buckets) {
    const std::optional<std::vector<int64_t>> wanted = by_reference(test, shape);
    if (!wanted) return;
    const MxuCommand& command = test.command;
    for (size_t i = 0; i < wanted->size(); ++i) {
      const auto pixel = static_cast<int64_t>(i) / shape.out_c, channel = static_cast<int64_t>(i) % shape.out_c;
      const int64_t at = command.dst.offset + pixel / shape.out_w() * command.dst_row_stride +
                         pixel % shape.out_w() * command.dst_pixel_stride + channel * element_bytes(command.dst_type);
      buckets.compare(
          engine::testing::load(bytes.data() + at, command.dst_type), (*wanted)[i],
          [&] { return fmt::format("reference, {} {}", name(command.mode), name(command.rescale)); },
          [&] { return fmt::format("{}, element {}", text, i); });
    }
    ++judged_by_reference_;
  }

  void TearDown() override {
    int tiles = 0;
    for (const auto& [what, count] : tiles_) tiles += count;
    std::printf("%s: %d tiles, %llu of them also judged by the reference\n", GetParam(), tiles,
                static_cast<unsigned long long>(judged_by_reference_));
    for (const auto& [what, ports] : {std::pair("granted at once", open_), std::pair("held back", throttled_)}) {
      if (ports.tiles == 0) continue;
      std::printf("%s, %s: ports compared in %llu tiles, %llu cycles; %llu tiles differ\n", GetParam(), what,
                  static_cast<unsigned long long>(ports.tiles), static_cast<unsigned long long>(ports.cycles),
                  static_cast<unsigned long long>(ports.differing));
    }
    if (cycles_.count == 0) return;
    std::printf("%s: cycles equal in %llu of %llu tiles, signed error mean %.4f, worst %lld\n", GetParam(),
                static_cast<unsigned long long>(cycles_.exact), static_cast<unsigned long long>(cycles_.count),
                cycles_.mean(), static_cast<long long>(cycles_.worst));
  }

  MxuShape shape_within(Random& random, uint64_t limit) { return cosim::random_mxu_shape(random, caps_, limit); }

  const Capabilities caps_ = tested_sizes(GetParam());
  std::unique_ptr<MacArray> block_ = make_tested_mac_array(GetParam());
  std::unique_ptr<engine::Engine> model_ = engine::make_mxu_model(caps_);
  cosim::CycleComparison cycles_;  // of tiles without back-pressure
  PortComparisons open_, throttled_;
  uint64_t judged_by_reference_ = 0;
  std::map<std::string, int> tiles_;      // by what they have in common
  std::map<uint32_t, int> side_by_side_;  // by the logarithm of pixels
};

TEST_P(MacArrayBlock, RandomTiles) {
  Random random(seed(3'000));
  Buckets buckets("random tiles", seed(3'000));
  for (int i = 0; i < 2'500 && !HasFailure(); ++i) {
    check(shape_within(random, i % 50 == 0 ? 30'000 : 2'500), random, buckets, /*throttled=*/false);
  }
  // Nothing of what the block can do was left out.
  EXPECT_EQ(tiles_.size(), size_t{3 * (4 + 3 + 2 + 1)} + (caps_.mxu_residual != 0 ? 3 * 2 : 0));
  for (const auto& [what, count] : tiles_) EXPECT_GE(count, 5) << what;
  EXPECT_EQ(side_by_side_.size(), static_cast<size_t>(std::bit_width(caps_.mxu_split)));
  for (const auto& [log2, count] : side_by_side_) EXPECT_GE(count, 50) << log2;
  EXPECT_GE(judged_by_reference_, 500u);
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

// The other errors that the wrapper knows.
TEST(MacArrayWrapper, SaysWhatItCannotDo) {
  EXPECT_THROW((void)make_mac_array("server"), Error);
  MxuCommand floats;
  floats.src_type = floats.weight_type = contract::Element::kBf16;
  try {
    make_mac_array(built_machines()[0])->start(floats);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kArgumentUnsupported);
    EXPECT_NE(std::string(error.what()).find("floating point"), std::string::npos);
  }
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
    check(make_case(shape, random, caps_), shape, random, buckets, gates);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, MacArrayBlock, testing::ValuesIn(tested_machines()));

}  // namespace
}  // namespace npu::rtl::test
