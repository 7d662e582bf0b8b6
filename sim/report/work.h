// SPDX-License-Identifier: Apache-2.0
// What each command asks of the machine's resources, by the formulas of hw/timing: how a report tells a resource that
// limits from one that waits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/presets/preset.h"

namespace npu::report {

// MACs of the MXU, each times the cycles that it takes of one product: 1 of int8, more of wider operands.
struct ArrayWork {
  uint64_t dense = 0;      // of the whole depth of a column
  uint64_t depthwise = 0;  // of its taps

  // Fewest cycles of the array: every product used in each of them. Sums lose no fraction of a cycle.
  [[nodiscard]] uint64_t cycles(const contract::Capabilities& capabilities) const;
  ArrayWork& operator+=(const ArrayWork& more);
  friend ArrayWork operator*(const ArrayWork& work, uint64_t times) {
    return {work.dense * times, work.depthwise * times};
  }
};
[[nodiscard]] ArrayWork array_work(const contract::MxuCommand& command, const contract::Capabilities& capabilities);

struct CommandWork {
  ArrayWork array;             // of the MXU
  uint64_t passes = 0;         // fewest cycles of the VPU: passes of its vectors
  uint64_t port = 0;           // cycles in which weights come from the scratchpad through the MXU's port
  uint64_t port_wait = 0;      // of the MXU's cycles: it waits for that port
  uint64_t fill_drain = 0;     // of the engine's cycles: a pipeline fills or drains
  std::string format;          // of the MXU's products: "i8", "i16 x i8", "f16"
  std::vector<uint32_t> tile;  // dimensions of the result; of a reduction: outer, axis, inner; empty for DMA
};

// One entry a command of the stream.
[[nodiscard]] std::vector<CommandWork> list_work(const compiler::Program& program,
                                                 const contract::Capabilities& capabilities);

// How many bytes DRAM can move in a cycle at best: what its data sheet or the port to it allows.
class DramRate {
 public:
  DramRate() = default;
  explicit DramRate(const presets::Preset& machine);

  // Fewest cycles for so many bytes.
  [[nodiscard]] uint64_t cycles(uint64_t bytes) const;

 private:
  uint64_t bytes_ = 1, cycles_ = 1;  // so many bytes take so many cycles
};

}  // namespace npu::report
