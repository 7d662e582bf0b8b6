// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/back_ends.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/contract/error.h"
#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"

namespace npu::cosim {

using contract::ErrorCode;
using engine::TileResult;

std::string_view name(Unit unit) { return unit == Unit::kMxu ? "mxu" : "vpu"; }
std::string_view title(Unit unit) { return unit == Unit::kMxu ? "MXU" : "VPU"; }

std::string_view name(BackEnd back_end) {
  switch (back_end) {
    case BackEnd::kModel:
      return "model";
    case BackEnd::kRtl:
      return "rtl";
    case BackEnd::kLockstep:
      return "lockstep";
  }
  return "?";
}

void EngineRecord::add_cycles(uint64_t rtl, uint64_t model, const std::string& port_difference) {
  cycles.add(rtl, model);
  same_requests += port_difference.empty() ? 1 : 0;
}

std::unique_ptr<engine::Engine> make_model_engine(Unit unit, const contract::Capabilities& caps) {
  return unit == Unit::kMxu ? engine::make_mxu_model(caps) : engine::make_vpu_model(caps);
}

// One engine of the device: sends each tile where its layer belongs.
class BackEnds::Chosen final : public engine::Engine {
 public:
  Chosen(BackEnds& owner, Unit unit)
      : owner_(owner), state_(owner.state(unit)), unit_(unit), model_(make_model_engine(unit, owner.caps_)) {
    if (state_.record.back_end == BackEnd::kRtl) rtl_ = std::move(state_.rtl);
    if (state_.record.back_end == BackEnd::kLockstep) {
      lockstep_.emplace(make_model_engine(unit, owner.caps_), std::move(state_.rtl));
    }
  }

  TileResult run(const engine::Tile& tile, engine::MemoryView& memory, bool timed) override {
    const uint32_t layer = header_of(tile).layer;
    if (state_.tiles.size() <= layer) state_.tiles.resize(size_t{layer} + 1);
    const uint64_t number = state_.tiles[layer]++;
    ++state_.record.tiles;
    if (state_.record.back_end == BackEnd::kModel || !state_.on_rtl(layer)) return model_->run(tile, memory, timed);
    ++state_.record.rtl_tiles;
    try {
      return rtl_ ? run_rtl(tile, memory, timed, number) : run_lockstep(tile, memory, timed, number);
    } catch (const Error& error) {
      // A tile that the RTL has no room for.
      return stop(tile, number, error.code(), error.what());
    }
  }

 private:
  TileResult run_rtl(const engine::Tile& tile, engine::MemoryView& memory, bool timed, uint64_t number) {
    TileResult result = rtl_->run(tile, memory, timed);
    if (!rtl_->problem().empty()) return stop(tile, number, ErrorCode::kBug, "the RTL " + rtl_->problem());
    if (timed && result.error == ErrorCode::kOk) {
      state_.record.add_cycles(result.cycles, rtl_->formula_cycles(), rtl_->port_difference());
    }
    return result;
  }

  TileResult run_lockstep(const engine::Tile& tile, engine::MemoryView& memory, bool timed, uint64_t number) {
    TileResult result = lockstep_->run(tile, memory, timed);
    const Comparison& comparison = lockstep_->comparison();
    state_.record.elements += comparison.elements;
    if (comparison.equal()) {
      if (timed && result.error == ErrorCode::kOk) {
        state_.record.add_cycles(comparison.rtl_cycles, comparison.model_cycles, comparison.port_difference);
      }
      return result;
    }
    const std::string cycles =
        timed ? fmt::format("; {} cycles on the RTL, {} in the model", comparison.rtl_cycles, comparison.model_cycles)
              : std::string();
    return stop(tile, number, ErrorCode::kElementsDiffer, comparison.difference + cycles, &comparison);
  }

  // The first tile that cannot be right ends the job: the device reports a fault, and the caller finds here why.
  TileResult stop(const engine::Tile& tile, uint64_t number, ErrorCode code, const std::string& text,
                  const Comparison* comparison = nullptr) {
    TileResult result;
    result.error = code;
    if (owner_.failure_) return result;
    Failure failure;
    failure.code = code;
    failure.layer = header_of(tile).layer;
    failure.text =
        fmt::format("tile {} of invocation {} on the {}: {}", number, owner_.invocation_, title(unit_), text);
    failure.bundle.unit = unit_;
    failure.bundle.caps = owner_.caps_;
    failure.bundle.command = words_of(tile);
    failure.bundle.invocation = owner_.invocation_;
    failure.bundle.tile = number;
    if (comparison != nullptr) failure.bundle.found = *comparison;
    failure.replayable = comparison != nullptr;
    owner_.failure_ = std::move(failure);
    return result;
  }

  BackEnds& owner_;
  State& state_;
  const Unit unit_;
  std::unique_ptr<engine::Engine> model_;
  std::unique_ptr<RtlEngine> rtl_;  // one of these, or none
  std::optional<Lockstep> lockstep_;
};

void BackEnds::choose(Unit unit, BackEnd back_end) {
  state(unit).record.back_end = back_end;
  if (back_end != BackEnd::kModel) state(unit).rtl = make_rtl_engine(unit, caps_);
}

void BackEnds::set_layers(Unit unit, std::vector<bool> layers) {
  state(unit).layers = std::move(layers);
  state(unit).record.all_layers = false;
}

std::unique_ptr<engine::Engine> BackEnds::make(Unit unit) { return std::make_unique<Chosen>(*this, unit); }

void BackEnds::choose_persistent(BackEnd back_end) {
  persistent_back_end_ = back_end;
  if (back_end != BackEnd::kModel) persistent_block_ = make_rtl_persistent_sram(caps_);
}

std::unique_ptr<engine::PersistentBackEnd> BackEnds::make_persistent() {
  if (!persistent_block_) return nullptr;
  auto fail = [this](ErrorCode code, const std::string& text) {
    if (failure_) return;
    Failure failure;
    failure.code = code;
    failure.text = fmt::format("invocation {} on the persistent SRAM: {}", invocation_, text);
    failure_ = std::move(failure);
  };
  auto made = std::make_unique<RtlPersistentSram>(
      std::move(persistent_block_), persistent_back_end_ == BackEnd::kLockstep, persistent_record_, std::move(fail));
  persistent_ = made.get();
  return made;
}

void BackEnds::finish() {
  if (persistent_ != nullptr) persistent_->finish();
}

void BackEnds::begin_invocation(uint64_t invocation) {
  invocation_ = invocation;
  for (State& state : states_) std::fill(state.tiles.begin(), state.tiles.end(), 0);
}

}  // namespace npu::cosim
