// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/table_use.h"

#include "hw/contract/gen/accesses.h"

namespace npu::compiler::backend {

bool is_dram(const contract::Address& address, std::span<const Variable> variables) {
  switch (address.region) {
    case contract::Region::kVariable:
      return variables[address.variable].in_dram;
    case contract::Region::kScratchpad:
    case contract::Region::kResident:
      return false;
    case contract::Region::kConstants:
    case contract::Region::kWorkspace:
    case contract::Region::kInput:
    case contract::Region::kOutput:
    case contract::Region::kSave:
      return true;
  }
  return true;
}

TableUse table_use(const Body& body, const timing::TableAccesses& table) {
  TableUse use;
  const auto note = [&](const contract::MemoryAccess& access) {
    if (access.base.region != contract::Region::kVariable) return;
    const bool writes = access.access == contract::Access::kWrite;
    use.sequencer += timing::table_cycles(table.check());
    use.begin += timing::table_cycles(writes ? table.begin_write() : table.check());
    if (writes) use.end += timing::table_cycles(table.commit());
  };
  std::visit([&](const auto& command) { contract::for_each_access(command, note); }, body);
  return use;
}

}  // namespace npu::compiler::backend
