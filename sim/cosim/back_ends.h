// SPDX-License-Identifier: Apache-2.0
// Which engine runs on what, for one device: model, RTL or both, chosen for a whole engine or for some of its layers;
// and the persistent SRAM. Makes the engines, keeps count of their tiles, and remembers why a run had to stop.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/engine/engine.h"
#include "sim/cosim/bundle.h"
#include "sim/cosim/cycle_comparison.h"
#include "sim/cosim/lockstep.h"
#include "sim/cosim/rtl_engine.h"
#include "sim/cosim/rtl_persistent_sram.h"

namespace npu::cosim {

enum class BackEnd : uint8_t { kModel, kRtl, kLockstep };
[[nodiscard]] std::string_view name(BackEnd back_end);

// What an engine has done so far.
struct EngineRecord {
  BackEnd back_end = BackEnd::kModel;
  bool all_layers = true;
  uint64_t tiles = 0;          // in all
  uint64_t rtl_tiles = 0;      // of them on RTL
  uint64_t elements = 0;       // compared
  CycleComparison cycles;      // of RTL tiles with the formula; empty in functional mode
  uint64_t same_requests = 0;  // tiles of `cycles` that asked for memory in the cycles of hw/timing's schedule

  void add_cycles(uint64_t rtl, uint64_t model, const std::string& port_difference);
};

// Why the job was stopped: the code for the one who asked for the run, and the sentence.
struct Failure {
  contract::ErrorCode code = contract::ErrorCode::kOk;
  std::string text;
  std::optional<uint32_t> layer;  // of a tile
  Bundle bundle;                  // when there is something to replay:
  bool replayable = false;
};

// Engines are used by the simulation's thread while a job runs; everything else here is for the time between jobs.
class BackEnds {
 public:
  explicit BackEnds(const contract::Capabilities& caps) : caps_(caps) {}
  BackEnds(const BackEnds&) = delete;
  BackEnds& operator=(const BackEnds&) = delete;

  // Before make(). Throws what make_rtl_engine throws.
  void choose(Unit unit, BackEnd back_end);
  // Of a chosen engine: the layers that run there, the others run on the model. Without this, all.
  void set_layers(Unit unit, std::vector<bool> layers);
  // For the device; this object must outlive it.
  [[nodiscard]] std::unique_ptr<engine::Engine> make(Unit unit);
  // The persistent SRAM, before make_persistent(). Throws what make_rtl_persistent_sram throws.
  void choose_persistent(BackEnd back_end);
  // For the device, once; null when the model is alone.
  [[nodiscard]] std::unique_ptr<engine::PersistentBackEnd> make_persistent();
  // Tiles are counted from here.
  void begin_invocation(uint64_t invocation);
  // While the device is there: the last comparisons.
  void finish();

  [[nodiscard]] const EngineRecord& record(Unit unit) const { return states_[static_cast<size_t>(unit)].record; }
  [[nodiscard]] BackEnd persistent_back_end() const { return persistent_back_end_; }
  [[nodiscard]] const PersistentRecord& persistent_record() const { return persistent_record_; }
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }

 private:
  class Chosen;
  struct State {
    EngineRecord record;
    std::vector<bool> layers;        // empty: all
    std::vector<uint64_t> tiles;     // by layer, in this invocation
    std::unique_ptr<RtlEngine> rtl;  // until make() takes it
    [[nodiscard]] bool on_rtl(uint32_t layer) const {
      return layers.empty() || (layer < layers.size() && layers[layer]);
    }
  };
  [[nodiscard]] State& state(Unit unit) { return states_[static_cast<size_t>(unit)]; }

  const contract::Capabilities caps_;
  std::array<State, kUnits> states_;
  BackEnd persistent_back_end_ = BackEnd::kModel;
  std::unique_ptr<rtl::PersistentSram> persistent_block_;  // until make_persistent() takes it
  RtlPersistentSram* persistent_ = nullptr;                // the device's
  PersistentRecord persistent_record_;
  uint64_t invocation_ = 0;
  std::optional<Failure> failure_;
};

// The model's engine.
[[nodiscard]] std::unique_ptr<engine::Engine> make_model_engine(Unit unit, const contract::Capabilities& caps);

}  // namespace npu::cosim
