// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/engine_trials.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "hw/engine/port_requests.h"
#include "hw/engine/tile_ports.h"
#include "sim/cosim/back_ends.h"
#include "sim/cosim/contention.h"
#include "sim/cosim/random.h"
#include "sim/cosim/random_tiles.h"

namespace npu::cosim {

namespace {

constexpr uint64_t kMostCycles = 3'000;  // of a tile with ideal memory: some ten thousand when it is held back

// Of every port a share of its own, from one in ten cycles to all.
Grants random_grants(uint64_t seed) {
  Random random(~seed);  // not the tile's numbers again
  std::array<uint8_t, timing::kMostPorts> percent{};
  for (uint8_t& port : percent) port = static_cast<uint8_t>(random.chance(25) ? 100 : random.between(10, 100));
  return {random.bits(), percent};
}

uint64_t scheduled_cycles(timing::PortSchedule& schedule, Grants grants) {
  uint64_t cycles = 0;
  for (; !schedule.done(); ++cycles) schedule.step(schedule.asking() & grants.next());
  return cycles;
}

// What the device's crossbar grants a tile. A sweep lies where its address says, in the scratchpad or, some, in the
// persistent SRAM.
Contended contended(engine::TilePorts& ports, const contract::Capabilities& caps, uint64_t seed) {
  Random random(~seed);
  std::array<timing::RequestWalk, timing::kMostPorts> walks;
  for (size_t i = 0; i < walks.size(); ++i) {
    engine::start_walk(walks[i], ports.demands[i], [&](const engine::Sweep& sweep) -> engine::SweepPlace {
      return {random.chance(15) ? timing::OnChip::kPersistent : timing::OnChip::kScratchpad,
              static_cast<uint64_t>(int64_t{sweep.base.offset} + sweep.extent.low)};
    });
  }
  return contend(
      *ports.schedule, [&](uint32_t port) { return walks[port].next(); }, caps, random.bits());
}

class EngineTrials final : public Trials {
 public:
  EngineTrials(Unit unit, const contract::Capabilities& caps, std::unique_ptr<RtlEngine> rtl)
      : unit_(unit), caps_(caps), rtl_(*rtl), lockstep_(make_model_engine(unit, caps), std::move(rtl)) {
    lockstep_.keep_always(true);  // a tile whose cycles differ is worth a bundle, too
  }

  // Held back, every second one is by the device's crossbar, the others by grants at random, of each port by itself.
  Trial run(uint64_t seed, bool held_back) override {
    Tile tile = random_tile(unit_, caps_, seed, kMostCycles);
    engine::Tile checked;
    NPU_CHECK(engine::parse_tile(tile.command, checked) == contract::ErrorCode::kOk);
    std::optional<uint64_t> device_cycles;
    Grants grants;
    if (held_back && seed % 2 == 0) {
      engine::TilePorts ports = engine::tile_ports(checked, caps_);
      Contended contention = contended(ports, caps_, seed);
      grants = std::move(contention.grants);
      device_cycles = contention.cycles;
    } else if (held_back) {
      grants = random_grants(seed);
    }
    BundleMemory memory(std::move(tile.memory));
    rtl_.hold_back(grants);
    (void)lockstep_.run(checked, memory, /*timed=*/true);
    const Comparison& found = lockstep_.comparison();

    Trial trial;
    trial.kind = tile.kind;
    trial.text = tile.text + (held_back ? ", held back" : "");
    trial.compared = found.elements;
    trial.differing = found.differing;
    trial.difference = difference_of(found);
    trial.port_difference = found.port_difference;
    trial.rtl_cycles = found.rtl_cycles;
    trial.device_cycles = device_cycles;
    trial.expected_cycles = rtl_.formula_cycles();
    if (held_back) trial.expected_cycles = scheduled_cycles(*engine::tile_ports(checked, caps_).schedule, grants);
    if (!trial.passed()) trial.bundle = bundle_of(tile, trial, seed, held_back);
    return trial;
  }

 private:
  [[nodiscard]] Bundle bundle_of(const Tile& tile, const Trial& trial, uint64_t seed, bool held_back) const {
    Bundle bundle;
    bundle.unit = unit_;
    bundle.caps = caps_;
    bundle.command = tile.command;
    bundle.network = "random tiles";
    bundle.layer = tile.kind;
    bundle.operators = tile.text;
    bundle.seed = fmt::format("{}{}", seed, held_back ? ", held back" : "");
    bundle.found = lockstep_.comparison();
    bundle.found.difference = trial.difference.empty() ? trial.port_difference : trial.difference;
    if (bundle.found.difference.empty()) {
      bundle.found.difference =
          fmt::format("{} cycles on the RTL instead of {}", trial.rtl_cycles, trial.expected_cycles);
    }
    return bundle;
  }

  const Unit unit_;
  const contract::Capabilities caps_;
  RtlEngine& rtl_;  // the lockstep's
  Lockstep lockstep_;
};

}  // namespace

std::string difference_of(const Comparison& found) {
  if (!found.difference.empty()) return found.difference;
  if (found.model_error != contract::ErrorCode::kOk) {
    return fmt::format("both refuse the tile: {}", contract::name(found.model_error));
  }
  return found.elements == 0 ? "the tile has no results to compare" : "";
}

std::unique_ptr<Trials> make_engine_trials(Unit unit, const contract::Capabilities& caps) {
  return std::make_unique<EngineTrials>(unit, caps, make_rtl_engine(unit, caps));
}

}  // namespace npu::cosim
