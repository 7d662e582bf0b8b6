// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/random_tiles.h"

#include <fmt/format.h>

#include "hw/contract/error.h"
#include "hw/timing/vpu_cycles.h"
#include "sim/cosim/random.h"
#include "sim/cosim/random_ewise.h"
#include "sim/cosim/random_mxu.h"
#include "sim/cosim/random_vpu.h"

namespace npu::cosim {

namespace {

constexpr int kTileTries = 10'000;  // of tiles that take too long or do not fit into the scratchpad

template <class Command>
Tile finish(MadeTile<Command> made, std::string kind, std::string text) {
  Tile tile;
  tile.command = encode(made.command);
  tile.memory.push_back({contract::Region::kScratchpad, 0, 0, std::move(made.bytes)});
  tile.kind = std::move(kind);
  tile.text = std::move(text);
  return tile;
}

Tile random_mxu_tile(Random& random, const contract::Capabilities& caps, uint64_t most_cycles) {
  const MxuShape shape = random_mxu_shape(random, caps, most_cycles);
  MadeTile<contract::MxuCommand> made = make_mxu_tile(shape, random);
  const bool reversed = random.chance(10);
  if (reversed) reverse_some(made.command, random);
  return finish(std::move(made), shape.kind(), shape.describe() + (reversed ? " reversed" : ""));
}

// As often as it takes until one is within the cycles.
template <class Make>
auto within(Make make, const contract::Capabilities& caps, uint64_t most_cycles) {
  for (int i = 0; i < kTileTries; ++i) {
    const auto command = make();
    if (timing::vpu_cycles(command, caps).total() <= most_cycles) return command;
  }
  throw Error(
      contract::ErrorCode::kBadInput,
      fmt::format("of {} random tiles of the VPU none takes at most {} cycles: allow more", kTileTries, most_cycles));
}

Tile random_vpu_tile(Random& random, const contract::Capabilities& caps, uint64_t most_cycles) {
  const int64_t lanes = caps.vpu_lanes;
  const bool floats = caps.vpu_float != 0;
  switch (random.between(0, 3)) {
    case 0: {
      const auto make = [&] {
        contract::VpuPoolCommand command = random_pool(random, lanes);
        if (floats && random.chance(40)) make_float(command, random);
        return command;
      };
      auto made = make_pool_tile(within(make, caps, most_cycles), random);
      const contract::VpuPoolCommand command = made.command;
      return finish(std::move(made), kind(command), describe(command));
    }
    case 1: {
      const auto make = [&] {
        contract::VpuReduceCommand command = random_reduce(random, lanes);
        if (floats && random.chance(50)) make_float(command, random);
        return command;
      };
      auto made = make_reduce_tile(within(make, caps, most_cycles), random);
      const contract::VpuReduceCommand command = made.command;
      return finish(std::move(made), kind(command), describe(command));
    }
    default: {
      const EwisePlan plan = random_ewise(random, caps, most_cycles);
      return finish(make_ewise_tile(plan, random), plan.kind(), describe(plan.command));
    }
  }
}

}  // namespace

Tile random_tile(Unit unit, const contract::Capabilities& caps, uint64_t seed, uint64_t most_cycles) {
  Random random(seed);
  for (int i = 0; i < kTileTries; ++i) {
    Tile tile =
        unit == Unit::kMxu ? random_mxu_tile(random, caps, most_cycles) : random_vpu_tile(random, caps, most_cycles);
    if (tile.memory[0].bytes.size() > caps.spm_bytes) continue;
    tile.text = fmt::format("seed {}, {}", seed, tile.text);
    return tile;
  }
  throw Error(contract::ErrorCode::kBadInput,
              fmt::format("of {} random tiles none fits into a scratchpad of {} bytes", kTileTries, caps.spm_bytes));
}

}  // namespace npu::cosim
