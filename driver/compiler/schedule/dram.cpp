// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/dram.h"

#include <algorithm>
#include <string>

#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler::backend {
namespace {

constexpr uint64_t kRegionLimit = UINT32_MAX - 4096;  // offsets in commands have 32 bits
// The compiler holds about a KiB a command; real networks have some 100,000.
constexpr uint64_t kMostCommands = 1 << 20;
// Of a command of an engine, at least.
constexpr uint64_t kEngineBytes =
    sizeof(uint32_t) *
    std::min({contract::MxuCommand::kWords, contract::VpuEwiseCommand::kWords, contract::VpuPoolCommand::kWords,
              contract::VpuReduceCommand::kWords, contract::DmaCommand::kWords});

}  // namespace

void check_dram(const DramNeeds& needs, bool least, const contract::Capabilities& capabilities) {
  const auto& [constants, workspace, input, output, save, commands] = needs;
  const uint64_t total = constants + workspace + input + output + save + commands;
  const uint64_t limit = uint64_t{capabilities.dram_mib} << 20;
  if (total <= limit && std::max({constants, workspace, input, output}) < kRegionLimit) return;
  throw Error(contract::ErrorCode::kDramFull,
              "the network needs " + std::string(least ? "at least " : "") + std::to_string(total) +
                  " bytes of DRAM (constants " + std::to_string(constants) + ", intermediate results " +
                  std::to_string(workspace) + ", inputs " + std::to_string(input) + ", outputs " +
                  std::to_string(output) + ", saved when it is interrupted " + std::to_string(save) + ", commands " +
                  std::to_string(commands) + "), the device has " + std::to_string(limit) + "; " +
                  (least ? "it takes more than dram_mib = " + std::to_string(total >> 20)
                         : "dram_mib = " + std::to_string((total >> 20) + 1) + " is enough"));
}

void check_layout(const Layout& layout, const contract::Capabilities& capabilities) {
  uint64_t commands = 0;
  for (const Plan& plan : layout.plans) commands += plan.size.empty() ? 0 : static_cast<uint64_t>(plan.tiles);
  check_dram({0, static_cast<uint64_t>(layout.workspace_bytes), static_cast<uint64_t>(layout.input_bytes),
              static_cast<uint64_t>(layout.output_bytes), 0, commands * kEngineBytes},
             true, capabilities);
  check_command_count(commands);
}

void check_command_count(uint64_t commands) {
  if (commands <= kMostCommands) return;
  throw Error(contract::ErrorCode::kDramFull, "the network falls into more than " + std::to_string(kMostCommands) +
                                                  " commands on this device; a larger scratchpad makes it fewer");
}

}  // namespace npu::compiler::backend
