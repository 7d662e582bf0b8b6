// SPDX-License-Identifier: Apache-2.0
// Runs tiles on the MXU's RTL of a machine and compares: bits with the model and with naive loops, cycles with the
// formula, and in each cycle the ports that ask with their schedule.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/contract/elements.h"
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

using engine::testing::MxuCase;
using engine::testing::MxuShape;
using engine::testing::Random;

// What the machine's MXU has of floating point.
inline std::vector<contract::Element> float_formats(const contract::Capabilities& caps) {
  using contract::Element;
  std::vector<Element> formats = {Element::kF16, Element::kBf16, Element::kF32, Element::kF8e4m3, Element::kF8e5m2};
  std::erase_if(formats, [&](Element format) { return contract::mxu_float_cycles(format, caps) == 0; });
  return formats;
}

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

  static MacArrayGates random_gates(Random& random) {
    const bool stretches = random.chance(20);
    const auto gate = [&] {
      return MacArrayGate(random.bits(), random.pick({10, 50, 80, 95, 100}),
                          stretches ? random.pick({0, 5, 50, 500}) : 0);
    };
    return {gate(), gate(), gate(), gate(), gate()};
  }

  void compare(const MxuCase& test, const std::vector<uint8_t>& bytes, const std::string& text, Buckets& buckets) {
    const contract::MxuCommand& command = test.command;
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
    const contract::MxuCommand& command = test.command;
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

  const contract::Capabilities caps_ = tested_sizes(GetParam());
  std::unique_ptr<MacArray> block_ = make_tested_mac_array(GetParam());
  std::unique_ptr<engine::Engine> model_ = engine::make_mxu_model(caps_);
  cosim::CycleComparison cycles_;  // of tiles without back-pressure
  PortComparisons open_, throttled_;
  uint64_t judged_by_reference_ = 0;
  std::map<std::string, int> tiles_;      // by what they have in common
  std::map<uint32_t, int> side_by_side_;  // by the logarithm of pixels
};

}  // namespace npu::rtl::test
