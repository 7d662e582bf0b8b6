// SPDX-License-Identifier: Apache-2.0
// The fewest cycles in which a machine can run a job of a program, however its commands were ordered and its data kept:
// the larger of what the MXU's array takes for the MACs and what DRAM takes for the bytes that have to move. Those are
// the constants and inputs that the job reads and the outputs that it writes, each byte once; not what it spills, nor
// state, which may stay on the chip, nor the commands.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/memory_access.h"
#include "hw/presets/preset.h"
#include "sim/report/cause.h"
#include "sim/report/work.h"

namespace npu::report {

// Of a job, or sums over several.
struct Bound {
  uint64_t cycles = 0;      // the larger one of these two
  uint64_t array = 0;       // cycles of the MXU's array with every product used
  uint64_t dram = 0;        // cycles of DRAM at its best rate
  uint64_t dram_bytes = 0;  // that have to move

  // Which of the two is the larger.
  [[nodiscard]] Resource resource() const { return array > dram ? Resource::kMxu : Resource::kDram; }
  Bound& operator+=(const Bound& more);
};

class BoundFinder {
 public:
  BoundFinder(const compiler::Program& program, const presets::Preset& machine);

  // Of any job: commands that a branch may pass over do not count, and the body of a loop not more than once.
  [[nodiscard]] Bound of_any_job() const { return any_job_; }
  // Of the job that left these records, each command as often as it ran. Without branches that is of_any_job(), also
  // where records are missing.
  [[nodiscard]] Bound of_job(std::span<const contract::Event> records) const;

 private:
  struct Command {
    ArrayWork array;
    std::vector<contract::MemoryAccess> transfers;  // that have to be made
    bool always = true;                             // in every job
  };

  // `times`: how often each command ran.
  [[nodiscard]] Bound sum(std::span<const uint32_t> times) const;

  contract::Capabilities caps_;
  DramRate dram_;
  std::vector<Command> commands_;
  uint64_t constants_bytes_, input_bytes_, output_bytes_;
  bool branches_ = false;
  Bound any_job_;
};

}  // namespace npu::report
