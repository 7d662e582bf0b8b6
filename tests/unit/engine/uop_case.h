// SPDX-License-Identifier: Apache-2.0
// One micro-operation on many values: the element-wise tile that computes it, and its bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/gen/commands.h"

namespace npu::engine::testing {

using Numbers = std::vector<int64_t>;

[[nodiscard]] Numbers range(int64_t low, int64_t high);
// INT32 values around which micro-operations change what they do.
[[nodiscard]] Numbers corners();

// Loads an operand each for `inputs` into registers 0, 1, ..., executes `uop`, which names `blob` as its operand b if
// there is one, and stores the result. Operands lie densely one after the other in the scratchpad.
struct UopCase {
  contract::VpuEwiseCommand command;
  std::vector<uint8_t> bytes;  // of the scratchpad

  UopCase(contract::Uop uop, contract::Element in_type, const std::vector<Numbers>& inputs, contract::Element out_type,
          const std::vector<uint8_t>& blob = {}, int32_t load_flags = 0);
  // The results, from the bytes behind the tile.
  [[nodiscard]] Numbers results(const std::vector<uint8_t>& after) const;

 private:
  uint32_t add_operand(contract::Element type);

  size_t count_;
  uint32_t at_ = 0;  // where the next operand goes
  uint32_t result_ = 0;
};

}  // namespace npu::engine::testing
