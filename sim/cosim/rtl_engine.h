// An engine whose results and cycles are those of a block of RTL.
//
// A tile is parsed and its memory resolved by the same code as the model's (hw/engine), so both refuse the same
// commands with the same errors. The block then runs with ideal memory: every request is granted in its cycle. The
// schedule of memory beats is the model's, so that waiting for banks is modelled alike whoever computes the tile.
#pragma once

#include <memory>
#include <string>
#include <string_view>

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
  // How long a block may take before it counts as hanging.
  [[nodiscard]] uint64_t patience() const { return 4 * formula_cycles_ + 10'000; }

  uint64_t formula_cycles_ = 0;
  std::string problem_;
};

// Whether this program has RTL of the unit at all (NPU_WITH_RTL).
[[nodiscard]] bool has_rtl(Unit unit);

// The RTL of a machine is that of a preset with the same sizes. Throws npu::Error: feature_unsupported when there is no
// RTL in this program, bad_preset when none was built with these sizes. With a `waveform` file, the
// block writes an FST trace of all that it does there; feature_unsupported when no traced block was built.
[[nodiscard]] std::unique_ptr<RtlEngine> make_rtl_engine(Unit unit, const contract::Capabilities& caps,
                                                         const std::string& waveform = "");
[[nodiscard]] bool has_traced_rtl(Unit unit);

}  // namespace npu::cosim
