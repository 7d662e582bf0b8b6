// SPDX-License-Identifier: Apache-2.0
// The ports of tiles at work: requests, bytes, bounds and cycles agree with schedules, operands and formulas.
#include "hw/engine/tile_ports.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <vector>

#include "hw/engine/mxu_model.h"
#include "hw/engine/port_requests.h"
#include "hw/engine/vpu_model.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/vpu_cycles.h"
#include "sim/cosim/random_floats.h"
#include "sim/cosim/random_tiles.h"
#include "tests/unit/engine/mxu_case.h"
#include "tests/unit/engine/scalar_uops.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::ErrorCode;

// What was asked for while every request was granted in its cycle.
struct Seen {
  uint64_t cycles = 0;
  std::array<uint64_t, timing::kMostPorts> requests{}, bytes{};  // by port

  [[nodiscard]] uint64_t requests_of(timing::Ports port) const {
    return requests.at(static_cast<size_t>(std::countr_zero(port)));
  }
  [[nodiscard]] uint64_t bytes_of(timing::Ports port) const {
    return bytes.at(static_cast<size_t>(std::countr_zero(port)));
  }
};

// Far from each other: which sweep a request is of.
constexpr uint32_t kSweepShift = 40;

// Goes through all requests: each lies within its sweep, and of each port there are as many as its demand says, with
// all of its bytes.
Seen walk_through(const TilePorts& ports, const std::string& what) {
  std::array<timing::RequestWalk, timing::kMostPorts> walks;
  Seen demanded, seen;
  for (size_t i = 0; i < walks.size(); ++i) {
    const std::vector<Sweep>& sweeps = ports.demands[i].sweeps;
    start_walk(walks[i], ports.demands[i], [&](const Sweep& sweep) -> SweepPlace {
      return {timing::OnChip::kScratchpad, static_cast<uint64_t>(&sweep - sweeps.data()) << kSweepShift};
    });
    for (const Sweep& sweep : sweeps) {
      demanded.requests[i] += sweep.requests;
      demanded.bytes[i] += sweep.bytes;
    }
  }
  for (; !ports.schedule->done(); ++seen.cycles) {
    const timing::Ports asking = ports.schedule->asking();
    for (size_t i = 0; i < walks.size(); ++i) {
      if ((asking >> i & 1) == 0) continue;
      const timing::MemoryRequest request = walks[i].next();
      ++seen.requests[i];
      seen.bytes[i] += request.bytes;
      if (request.bytes == 0) continue;
      const Sweep& sweep = ports.demands[i].sweeps.at(request.address >> kSweepShift);
      const uint64_t offset = request.address & ((uint64_t{1} << kSweepShift) - 1);
      EXPECT_LE(offset + request.bytes, sweep.extent.bytes) << what;
    }
    ports.schedule->step(asking);
  }
  EXPECT_EQ(seen.requests, demanded.requests) << what;
  EXPECT_EQ(seen.bytes, demanded.bytes) << what;
  return seen;
}

// The same, and sweeps lie within what the tile resolved.
Seen expect_sane(const TileResult& result, const TestMemory& memory, const std::string& what) {
  int64_t low = INT64_MAX, high = 0;
  for (const TestMemory::Touch& touch : memory.touches) {
    low = std::min(low, touch.low);
    high = std::max(high, touch.high);
  }
  for (const PortDemand& demand : result.ports.demands) {
    for (const Sweep& sweep : demand.sweeps) {
      if (sweep.bytes == 0) continue;
      EXPECT_GE(sweep.base.offset + sweep.extent.low, low) << what;
      EXPECT_LE(sweep.base.offset + sweep.extent.low + static_cast<int64_t>(sweep.extent.bytes), high) << what;
    }
  }
  const Seen seen = walk_through(result.ports, what);
  EXPECT_EQ(seen.cycles, result.cycles) << what;
  EXPECT_EQ(result.cycles, result.fill + result.steady + result.drain) << what;
  return seen;
}

TEST(TilePorts, PointwiseConvolutionByHand) {
  // 16 x 16 pixels, 64 -> 48 channels on 32 columns, 32 deep: one block of 256 pixels (65536 / 2 / 4 / 32), two groups,
  // two steps a group.
  Random random(102);
  MxuShape shape;
  shape.in_h = shape.in_w = 16;
  shape.in_c = 64;
  shape.out_c = 48;
  MxuCase test = make_case(shape, random);
  const TileResult result = make_mxu_model(test_machine())->run(test.words, test.memory, true);
  // Loads 32 * 32 / 64 = 16 cycles, pipeline 3 + log2(32) = 8: fill 24. Steps of 256 pixels: 2 * 2 * 256 = 1024. The
  // last pixel drains behind its last sum, and passes 5 stages.
  EXPECT_EQ(result.fill, 24u);
  EXPECT_EQ(result.steady, 1024u);
  EXPECT_EQ(result.drain, 6u);
  EXPECT_EQ(result.macs, 256u * 64 * 48);
  const Seen seen = expect_sane(result, test.memory, "pointwise");
  EXPECT_EQ(seen.bytes_of(timing::kMxuWeights), 64u * 48);           // one block
  EXPECT_EQ(seen.bytes_of(timing::kMxuActivations), 2u * 256 * 64);  // two groups
  EXPECT_EQ(seen.bytes_of(timing::kMxuParameters), 32u + 48 * 16);
  EXPECT_EQ(seen.bytes_of(timing::kMxuResults), 256u * 48 * 4);
}

TEST(TilePorts, PixelsSideBySideByHand) {
  // 16 x 16 pixels, 32 -> 16 channels, two at a time: 128 requests for activations of both pixels, and 128 results of
  // 32 channels. Weights and entries of 16 channels come once.
  Random random(105);
  MxuShape shape;
  shape.in_h = shape.in_w = 16;
  shape.in_c = 32;
  shape.out_c = 16;
  shape.side_by_side_log2 = 1;
  MxuCase test = make_case(shape, random);
  const TileResult result = make_mxu_model(test_machine())->run(test.words, test.memory, true);
  EXPECT_EQ(result.steady, 128u);
  EXPECT_EQ(result.macs, 256u * 32 * 16);
  const Seen seen = expect_sane(result, test.memory, "two pixels side by side");
  EXPECT_EQ(seen.requests_of(timing::kMxuActivations), 128u);
  EXPECT_EQ(seen.requests_of(timing::kMxuResults), 128u);
  EXPECT_EQ(seen.bytes_of(timing::kMxuActivations), 256u * 32);
  EXPECT_EQ(seen.bytes_of(timing::kMxuWeights), 32u * 16);
  EXPECT_EQ(seen.bytes_of(timing::kMxuParameters), 32u + 16 * 16);
  EXPECT_EQ(seen.bytes_of(timing::kMxuResults), 256u * 16 * 4);
}

TEST(TilePorts, RandomMxuTiles) {
  Random random(103);
  contract::Capabilities small = test_machine();
  small.mxu_cols = small.mxu_depth = 8;
  small.mxu_dw_taps = 2;
  small.mxu_acc_bytes = 1024;
  small.mxu_weight_port_bytes = 16;
  for (const contract::Capabilities& caps : {test_machine(), small}) {
    const std::unique_ptr<Engine> engine = make_mxu_model(caps);
    for (int i = 0; i < 600; ++i) {
      MxuShape shape = cosim::random_mxu_shape(random);
      if (random.chance(30)) cosim::add_residual(shape, random);
      if (random.chance(30)) make_float(shape, *cosim::random_mxu_format(caps, random), random);
      if (shape.format) shape.in_c = std::min<int64_t>(shape.in_c, 40);
      if (shape.mode == contract::MxuMode::kDepthwise) shape.out_c = shape.in_c * shape.multiplier;
      if (random.chance(30)) put_side_by_side(shape, caps, random);
      MxuCase test = make_case(shape, random, caps);
      const TileResult result = engine->run(test.words, test.memory, true);
      ASSERT_EQ(result.error, ErrorCode::kOk);
      EXPECT_EQ(result.cycles, timing::mxu_cycles(test.command, caps).total());
      EXPECT_EQ(result.macs, timing::mxu_macs(test.command));
      const Seen seen = expect_sane(result, test.memory, shape.describe() + ", " + random.name());
      EXPECT_EQ(seen.bytes_of(timing::kMxuResults),
                static_cast<uint64_t>(test.elements) * element_bytes(shape.dst_type));
      EXPECT_EQ(seen.bytes_of(timing::kMxuResidual),
                shape.residual == contract::Residual::kNone
                    ? 0
                    : static_cast<uint64_t>(test.elements) * element_bytes(shape.dst_type));
      const timing::MxuLoops loops = timing::mxu_loops(test.command, caps);
      const uint64_t taps = static_cast<uint64_t>(shape.kernel_h * shape.kernel_w);
      const uint64_t weights = static_cast<uint64_t>(shape.out_c) * element_bytes(test.command.weight_type) * taps *
                               (shape.mode == contract::MxuMode::kDepthwise ? 1 : static_cast<uint64_t>(shape.in_c));
      EXPECT_EQ(seen.bytes_of(timing::kMxuWeights), weights * loops.blocks) << shape.describe();
      EXPECT_EQ(seen.bytes_of(timing::kMxuParameters), 32 + loops.blocks * static_cast<uint64_t>(shape.out_c) * 16);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(TilePorts, RandomEwiseTiles) {
  Random random(104);
  const std::unique_ptr<Engine> engine = make_vpu_model(test_machine());
  for (int i = 0; i < 600; ++i) {
    EwiseCase test = make_ewise_case(cosim::random_ewise(random, random.chance(50)), random);
    const TileResult result = engine->run(test.words, test.memory, true);
    ASSERT_EQ(result.error, ErrorCode::kOk);
    EXPECT_EQ(result.cycles, timing::vpu_cycles(test.command, test_machine()).total());
    uint64_t stored = 0;
    for (const contract::Uop& uop : test.command.uops) {
      if (uop.op != contract::UopCode::kStore) continue;
      stored += static_cast<uint64_t>(test.elements) * element_bytes(test.command.operands[uop.b].type);
    }
    const Seen seen = expect_sane(result, test.memory, "case " + std::to_string(i) + ", " + random.name());
    EXPECT_EQ(seen.bytes_of(timing::kVpuWrite), stored);
    if (HasFatalFailure()) return;
  }
}

// Programs, poolings and reductions of every kind.
TEST(TilePorts, RandomVpuTiles) {
  contract::Capabilities large = test_machine();
  large.spm_bytes = 1 << 20;
  contract::Capabilities small = large;
  small.vpu_lanes = 8;
  for (const contract::Capabilities& caps : {large, small}) {
    for (uint64_t seed = 106; seed < 706; ++seed) {
      const cosim::Tile random = cosim::random_tile(cosim::Unit::kVpu, caps, seed, 3'000);
      Tile tile;
      ASSERT_EQ(parse_tile(random.command, tile), ErrorCode::kOk);
      (void)walk_through(tile_ports(tile, caps), random.text + ", seed " + std::to_string(seed));
      if (HasFailure()) return;
    }
  }
}

TEST(TilePorts, FunctionOnlyHasNone) {
  Random random(105);
  MxuCase test = make_case(MxuShape{}, random);
  const TileResult result = make_mxu_model(test_machine())->run(test.words, test.memory, false);
  EXPECT_EQ(result.cycles, 0u);
  EXPECT_EQ(result.ports.schedule, nullptr);
}

}  // namespace
}  // namespace npu::engine::testing
