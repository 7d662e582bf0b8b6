// SPDX-License-Identifier: Apache-2.0
// What micro-operations read and write, from the table that the contract has of them (uop_info): nothing here knows a
// single one of them by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hw/contract/gen/micro_operations.h"

namespace npu::contract {

[[nodiscard]] constexpr bool is_operand(UopRole role) {
  return role == UopRole::kLoaded || role == UopRole::kStored || role == UopRole::kParameters ||
         role == UopRole::kTable;
}

// Calls visit(meaning, value) for each field, sources before the result. Immediates come as their 32 bits.
template <typename Visit>
void for_each_field(const Uop& uop, Visit&& visit) {
  const UopInfo& info = uop_info(uop.op);
  visit(info.a, uop.a);
  visit(info.b, uop.b);
  visit(info.imm0, static_cast<uint32_t>(uop.imm0));
  visit(info.imm1, static_cast<uint32_t>(uop.imm1));
  visit(info.dst, uop.dst);
}

// Calls visit(index) with a reference to each field that names a register it reads; visit may change it.
template <typename Visit>
void for_each_source(Uop& uop, Visit&& visit) {
  const UopInfo& info = uop_info(uop.op);
  const auto immediate = [&](const UopField& field, int32_t& value) {
    if (field.role != UopRole::kSource) return;
    auto index = static_cast<uint32_t>(value);
    visit(index);
    value = static_cast<int32_t>(index);
  };
  if (info.a.role == UopRole::kSource) visit(uop.a);
  if (info.b.role == UopRole::kSource) visit(uop.b);
  immediate(info.imm0, uop.imm0);
  immediate(info.imm1, uop.imm1);
}

[[nodiscard]] constexpr bool has_result(UopCode op) { return uop_info(op).dst.role == UopRole::kResult; }

// The operand that a micro-operation names: its index and as what; kUnused when it names none.
struct NamedOperand {
  UopRole role = UopRole::kUnused;
  uint32_t index = 0;
};

[[nodiscard]] constexpr NamedOperand operand_of(const Uop& uop) {
  const UopInfo& info = uop_info(uop.op);
  if (is_operand(info.a.role)) return {info.a.role, uop.a};
  if (is_operand(info.b.role)) return {info.b.role, uop.b};
  return {};
}

// What the micro-operations of a command do with an operand.
struct OperandUse {
  bool read = false, written = false;
  size_t last_load = 0, first_store = 0;  // micro-operations, if there are any
};

// By operand. The engine loads each block before it starts, whether the program names it or not.
[[nodiscard]] inline std::array<OperandUse, kMaxOperands> operand_uses(const VpuEwiseCommand& command) {
  std::array<OperandUse, kMaxOperands> uses;
  for (size_t i = 0; i < command.operands.size() && i < uses.size(); ++i) uses[i].read = command.operands[i].bytes > 0;
  for (size_t i = 0; i < command.uops.size(); ++i) {
    const NamedOperand named = operand_of(command.uops[i]);
    if (named.role == UopRole::kUnused || named.index >= uses.size()) continue;
    OperandUse& use = uses[named.index];
    if (named.role == UopRole::kStored) {
      if (!use.written) use.first_store = i;
      use.written = true;
    } else {
      use.read = true;
      if (named.role == UopRole::kLoaded) use.last_load = i;
    }
  }
  return uses;
}

}  // namespace npu::contract
