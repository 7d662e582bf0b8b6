// SPDX-License-Identifier: Apache-2.0
// An engine whose results and cycles are those of a block of RTL.
//
// A tile is checked and its memory resolved by the same code as the model's (hw/engine), so both refuse the same
// ones with the same errors. In a device the block then runs with ideal memory: every request is granted in its
// cycle. The ports that the device plays are the model's, so that waiting for banks is modelled alike, whichever back
// end computes the tile. Tiles that run by themselves may be held back by a trace of grants.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"
#include "hw/timing/port_watch.h"
#include "rtl/verilated/assertion.h"
#include "sim/cosim/grants.h"
#include "sim/cosim/rtl_ports.h"

namespace npu::cosim {

enum class Unit : uint8_t { kMxu, kVpu };
inline constexpr size_t kUnits = 2;
[[nodiscard]] std::string_view name(Unit unit);   // "mxu", a key
[[nodiscard]] std::string_view title(Unit unit);  // "MXU", for people

class RtlEngine : public engine::Engine {
 public:
  // Of the tile that ran last: the cycles that the formula of hw/timing gives it, whether timed or not.
  [[nodiscard]] uint64_t formula_cycles() const { return formula_cycles_; }
  // Why the block could not finish it, in words: it reached outside of the tile's memory, broke an assertion of its
  // own, or did not end. The result's error is then `bug`. Empty when it did finish.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // Where its ports first did something else than hw/timing's schedule of them, in words; empty: nowhere.
  [[nodiscard]] const std::string& port_difference() const { return port_difference_; }
  // From the next tile on, each of them from the beginning of the trace.
  void hold_back(const Grants& grants) { grants_ = grants; }

 protected:
  // Clocks a block that was given a tile until it is done; memory.serve(request) answers a request, and is false
  // for one that reaches outside of the tile's memory. The result's times are those that can be seen: fill ends with
  // the first request on port `operands`, drain begins behind the last. Compares the requests with `schedule`. False,
  // with the reason in problem(), when the block cannot finish; it is then reset.
  template <class Block, class Memory>
  [[nodiscard]] bool clock(Block& block, const Memory& memory, timing::Ports operands,
                           std::unique_ptr<timing::PortSchedule> schedule, engine::TileResult& result) {
    timing::PortWatch watch(std::move(schedule));
    try {
      problem_ = clock(block, memory, operands, watch, result);
    } catch (const rtl::AssertionFailed& failed) {
      problem_ = "breaks a rule of its own in cycle " + std::to_string(watch.cycles() + 1) + ": " + failed.rule();
    }
    port_difference_ = watch.difference();
    if (!problem_.empty()) block.reset();
    return problem_.empty();
  }

  // For a new tile.
  void forget() {
    formula_cycles_ = 0;
    problem_.clear();
    port_difference_.clear();
  }

  uint64_t formula_cycles_ = 0;
  std::string problem_, port_difference_;

 private:
  // Returns the problem, in words; empty: none.
  template <class Block, class Memory>
  [[nodiscard]] std::string clock(Block& block, const Memory& memory, timing::Ports operands, timing::PortWatch& watch,
                                  engine::TileResult& result) {
    Grants grants = grants_;
    // How long a block may take before it counts as hanging: the worst grants are one in a hundred cycles.
    const uint64_t patience = grants.patience() * formula_cycles_ + 10'000;
    block.tick();
    uint64_t first_read = 0, last_read = 0;
    for (uint64_t cycle = 1; cycle <= patience; ++cycle) {
      const timing::Ports ready = grants.next();
      timing::Ports asked = 0;
      bool inside = true;
      handshake(block, [&](const auto& request) {
        const timing::Ports port = port_of(request);
        asked |= port;
        if ((ready & port) == 0) return false;
        inside = inside && memory.serve(request);
        return true;
      });
      if (!inside) return "reaches outside of the tile's memory in cycle " + std::to_string(cycle);
      if ((asked & operands) != 0) {
        if (first_read == 0) first_read = cycle;
        last_read = cycle;
      }
      block.tick();
      watch.see(asked, asked & ready, block.done());
      if (!block.done()) continue;
      result.cycles = cycle;
      result.fill = first_read == 0 ? 0 : first_read - 1;
      result.drain = cycle - (last_read == 0 ? cycle : last_read);
      result.steady = cycle - result.fill - result.drain;
      return {};
    }
    return "has not ended after " + std::to_string(patience) + " cycles";
  }

  Grants grants_;
};

// What an engine answers for a tile that its block could not finish.
[[nodiscard]] inline engine::TileResult unfinished() {
  engine::TileResult result;
  result.error = contract::ErrorCode::kBug;
  return result;
}

// Whether there is RTL beside this program (the module libnpu_rtl.so). Throws as blocks() does.
[[nodiscard]] bool has_rtl();

// The RTL of a machine is that which was built of one with the same sizes. Throws npu::Error: feature_unsupported when
// there is no RTL beside this program, bad_preset when none was built with these sizes. With a `waveform` file, the
// block writes an FST trace of all that it does there; feature_unsupported when no traced block was built.
[[nodiscard]] std::unique_ptr<RtlEngine> make_rtl_engine(Unit unit, const contract::Capabilities& caps,
                                                         const std::string& waveform = "");
[[nodiscard]] bool has_traced_rtl(Unit unit);

}  // namespace npu::cosim
