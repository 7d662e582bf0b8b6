// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/dram.h"

#include <string>

#include "driver/compiler/room.h"

namespace npu::compiler::backend {
namespace {

constexpr uint64_t kRegionLimit = UINT32_MAX - 4096;  // offsets in commands have 32 bits

// From so many bytes on, to try what a machine needs takes long: the cost of a transfer is found burst by burst.
constexpr uint64_t kLongTry = uint64_t{1} << 29;

void check_operands(uint64_t bytes, const contract::Capabilities& machine) {
  const uint64_t has = uint64_t{machine.dram_mib} << 20;
  if (bytes <= has || bytes < kLongTry) return;
  throw Error(contract::ErrorCode::kDramFull,
              "the network's inputs and outputs alone need " + std::to_string(bytes) +
                  " bytes of DRAM, the device has " + std::to_string(has) +
                  "; make them smaller, or compile for a machine with a dram_mib of more than " +
                  std::to_string(bytes >> 20));
}

}  // namespace

void check_region(const std::string& what, uint64_t bytes) {
  if (bytes < kRegionLimit) return;
  throw Error(contract::ErrorCode::kDramFull, "the network's " + what + " need " + std::to_string(bytes) +
                                                  " bytes of DRAM, and no machine holds more than " +
                                                  std::to_string(kRegionLimit) + "; make its tensors smaller");
}

void check_layout(const Layout& layout, const contract::Capabilities& machine) {
  check_region("intermediate results", static_cast<uint64_t>(layout.workspace_bytes));
  check_region("inputs", static_cast<uint64_t>(layout.input_bytes));
  check_region("outputs", static_cast<uint64_t>(layout.output_bytes));
  check_operands(static_cast<uint64_t>(layout.input_bytes) + static_cast<uint64_t>(layout.output_bytes), machine);
  uint64_t commands = 0;
  for (const TilePlan& plan : layout.plans) commands += plan.size.empty() ? 0 : static_cast<uint64_t>(plan.tiles);
  check_command_count(commands);
}

void check_command_count(uint64_t commands) {
  if (commands <= kMostCommands) return;
  throw NoRoom(contract::ErrorCode::kDramFull,
               "the network falls into more than " + std::to_string(kMostCommands) + " commands on this device");
}

}  // namespace npu::compiler::backend
