// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/dram.h"

#include <string>

#include "driver/compiler/dram_needs.h"
#include "hw/contract/advice.h"
#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

constexpr uint64_t kRegionLimit = UINT32_MAX - 4096;  // offsets in commands have 32 bits

void check_region(const std::string& what, uint64_t bytes) {
  if (bytes < kRegionLimit) return;
  throw Error(contract::ErrorCode::kDramFull, "the network's " + what + " need " + std::to_string(bytes) +
                                                  " bytes of DRAM, and no machine holds more than " +
                                                  std::to_string(kRegionLimit) + "; make its tensors smaller");
}

}  // namespace

void check_dram(const Program& program, bool two_places, const contract::Capabilities& capabilities) {
  check_region("constants", program.constants.size());
  DramNeeds needs = needs_of(program, false);
  for (const Variable& variable : program.variables) {
    if (!variable.in_dram) continue;
    needs.variables.push_back(variable.bytes * uint64_t{two_places && variable.written ? 2U : 1U});
  }
  const uint64_t limit = uint64_t{capabilities.dram_mib} << 20;
  if (needs.total() <= limit) return;
  // A device with firmware needs more; the advice is good for both.
  needs.segments = needs_of(program, true).segments;
  throw Error(contract::ErrorCode::kDramFull,
              "the network needs " + std::to_string(needs.total()) + " bytes of DRAM (" + needs.describe() +
                  "), the device has " + std::to_string(limit) + "; " +
                  contract::smallest_machine({{"dram_mib", least_dram_mib(needs, true)}}, "it"));
}

void check_layout(const Layout& layout) {
  check_region("intermediate results", static_cast<uint64_t>(layout.workspace_bytes));
  check_region("inputs", static_cast<uint64_t>(layout.input_bytes));
  check_region("outputs", static_cast<uint64_t>(layout.output_bytes));
  uint64_t commands = 0;
  for (const Plan& plan : layout.plans) commands += plan.size.empty() ? 0 : static_cast<uint64_t>(plan.tiles);
  check_command_count(commands);
}

void check_command_count(uint64_t commands) {
  if (commands > kMostCommands) throw TooManyCommands();
}

}  // namespace npu::compiler::backend
