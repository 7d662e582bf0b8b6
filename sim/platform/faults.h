// SPDX-License-Identifier: Apache-2.0
// The test hooks of a simulated device in words: what shall go wrong in which job. docs/reference/npu.md has the
// grammar.
//
//   hang mxu@40; flip 0x800.3@job7; drop-irq 2; brown-out 100@job2; bus-error 7
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/contract/gen/capabilities.h"

namespace npu::platform {

struct FaultClause {
  enum class Kind : uint8_t {
    kHang,           // the first command of `queue` with index `number` or later never completes
    kFlip,           // bit `bit` of the word at byte `number` of the persistent SRAM
    kDropInterrupt,  // the next `number` interrupts for the host are lost
    kBrownOut,       // power breaks down when jobs have written `number` bytes to variables
    kBusError        // of the bursts between engines or command fetch and DRAM, number `number` fails
  };
  Kind kind = Kind::kHang;
  uint32_t queue = 0, number = 0, bit = 0;
  uint64_t job = 1;  // at whose start: of those that the device starts, the first is 1
  std::string text;  // as it was written
};

// Throws Error(kBadOption) naming the clause, and an example of what it should look like.
[[nodiscard]] std::vector<FaultClause> parse_faults(std::string_view text);

// Throws Error(kBadOption) for a clause that a machine cannot do: a queue or byte that it has not, an interrupt without
// a control CPU.
void check_faults(std::span<const FaultClause> clauses, const contract::Capabilities& caps, bool control_cpu);

// Counts jobs, and says which clauses strike at the start of the next one.
class FaultPlan {
 public:
  FaultPlan() = default;
  FaultPlan(std::vector<FaultClause> clauses, std::function<void(const FaultClause&)> strike)
      : clauses_(std::move(clauses)), strike_(std::move(strike)) {}

  void job_starts();

 private:
  std::vector<FaultClause> clauses_;
  std::function<void(const FaultClause&)> strike_;
  uint64_t jobs_ = 0;
};

}  // namespace npu::platform
