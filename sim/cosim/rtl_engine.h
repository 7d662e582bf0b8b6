// An engine whose results and cycles are those of a block of RTL.
//
// A tile is parsed and its memory resolved by the same code as the model's (hw/engine), so both refuse the same
// commands with the same errors. The block then runs with ideal memory: every request is granted in its cycle. The
// schedule of memory beats is the model's, so that waiting for banks is modelled alike whoever computes the tile.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"

namespace npu::cosim {

enum class Unit : uint8_t { kMxu, kVpu };
inline constexpr size_t kUnits = 2;
[[nodiscard]] std::string_view name(Unit unit);   // "mxu", a key
[[nodiscard]] std::string_view title(Unit unit);  // "MXU", for people

class RtlEngine : public engine::Engine {
 public:
  // Of the tile that ran last: the cycles that the formula of hw/timing gives it, whether timed or not.
  [[nodiscard]] uint64_t formula_cycles() const { return formula_cycles_; }
  // Why the block could not finish it, in words: it reached outside of the tile's memory, or did not end. The result's
  // error is then `bug`. Empty when it did finish.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 protected:
  // What a block asked for in one cycle.
  struct Served {
    bool inside = true;  // nothing outside of the tile's memory
    bool read = false;   // of its stream of operands
  };

  // Clocks a block that was given a tile until it is done; `serve` grants and answers the requests of one cycle. The
  // result's times are those that can be seen: fill ends with the first operand read, drain begins behind the last.
  // False, with the reason in problem(), when the block reaches outside or does not end; it is then reset.
  template <class Block, class Serve>
  [[nodiscard]] bool clock(Block& block, Serve serve, engine::TileResult& result) {
    // How long a block may take before it counts as hanging.
    const uint64_t patience = 4 * formula_cycles_ + 10'000;
    block.tick();
    uint64_t first_read = 0, last_read = 0;
    for (uint64_t cycle = 1; cycle <= patience; ++cycle) {
      const Served served = serve();
      if (!served.inside) return fail(block, "reaches outside of the tile's memory in cycle " + std::to_string(cycle));
      if (served.read) {
        if (first_read == 0) first_read = cycle;
        last_read = cycle;
      }
      block.tick();
      if (!block.done()) continue;
      result.cycles = cycle;
      result.fill = first_read == 0 ? 0 : first_read - 1;
      result.drain = cycle - (last_read == 0 ? cycle : last_read);
      result.steady = cycle - result.fill - result.drain;
      return true;
    }
    return fail(block, "has not ended after " + std::to_string(patience) + " cycles");
  }

  uint64_t formula_cycles_ = 0;
  std::string problem_;

 private:
  template <class Block>
  bool fail(Block& block, std::string problem) {
    problem_ = std::move(problem);
    block.reset();
    return false;
  }
};

// What an engine answers for a tile that its block could not finish.
[[nodiscard]] inline engine::TileResult unfinished() {
  engine::TileResult result;
  result.error = contract::ErrorCode::kBug;
  return result;
}

// Whether this program has RTL of the unit at all (NPU_WITH_RTL).
[[nodiscard]] bool has_rtl(Unit unit);

// The RTL of a machine is that of a preset with the same sizes. Throws npu::Error: feature_unsupported when there is no
// RTL in this program, bad_preset when none was built with these sizes. With a `waveform` file, the
// block writes an FST trace of all that it does there; feature_unsupported when no traced block was built.
[[nodiscard]] std::unique_ptr<RtlEngine> make_rtl_engine(Unit unit, const contract::Capabilities& caps,
                                                         const std::string& waveform = "");
[[nodiscard]] bool has_traced_rtl(Unit unit);

}  // namespace npu::cosim
