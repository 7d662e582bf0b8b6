// SPDX-License-Identifier: Apache-2.0
// Element-wise tiles: the command with everything that follows from it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/box.h"
#include "hw/engine/sweep.h"

namespace npu::engine {

// No tile may execute more micro-operations on elements than this: a damaged command must end in seconds.
inline constexpr uint64_t kMaxTileUops = uint64_t{1} << 34;

struct EwiseOperands;

// One validated element-wise command.
struct EwiseTile {
  using Operands = EwiseOperands;

  contract::VpuEwiseCommand command;
  uint64_t elements = 1;
  // Which operands the program uses, and as what.
  struct Use {
    bool loaded = false, stored = false, blob = false;
  };
  std::vector<Use> uses;     // by operand
  bool per_channel = false;  // some RESCALE has an entry for each index of the innermost dimension

  // fault_bad_command for counts beyond the contract's, a program without micro-operations or without a store; for an
  // enum value, register, operand or immediate that the contract does not allow, a register read before it is written,
  // a block that is too short or has strides; and for dimensions of 0 or beyond kMaxTileUops.
  [[nodiscard]] static contract::ErrorCode make(contract::VpuEwiseCommand issued, EwiseTile& tile);

  [[nodiscard]] Box box(size_t operand) const;
};

// Where the operands of a tile are: the first byte of each box; null for operands that the program does not use.
struct EwiseOperands {
  std::array<uint8_t*, contract::kMaxOperands> data{};

  // Asks for tables and parameters, then for what is loaded, then for what is stored, and ends with the first that is
  // refused.
  [[nodiscard]] contract::ErrorCode resolve(const EwiseTile& tile, MemoryView& memory);
  [[nodiscard]] std::vector<Place> places(const EwiseTile& tile) const;
};

}  // namespace npu::engine
