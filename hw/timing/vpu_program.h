// SPDX-License-Identifier: Apache-2.0
// The passes of a VPU program: which of its micro-operations take theirs together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::timing {

// Micro-operations that follow each other and take their passes together, with `vpu_shared_pass`: one that computes; a
// load before it into the register of its result, which asks for memory in its first pass; a store behind it of its
// result, which asks in its last one. A pass asks once, and elements of 48 bits take passes of their own. Else, and
// without the capability, each micro-operation is alone.
struct UopGroup {
  size_t first = 0;  // in the program
  bool load_shares = false, store_shares = false;
  uint64_t passes = 0;  // of all of them

  // The one whose passes they are.
  [[nodiscard]] size_t owner() const { return first + (load_shares ? 1 : 0); }
  [[nodiscard]] size_t end() const { return owner() + (store_shares ? 2 : 1); }
};

// All groups of a program, in its order. `types`: of its operands; what names none of them counts as INT32.
[[nodiscard]] std::vector<UopGroup> uop_groups(std::span<const contract::Uop> uops,
                                               std::span<const contract::Element> types,
                                               const contract::Capabilities& caps);
[[nodiscard]] std::vector<UopGroup> uop_groups(const contract::VpuEwiseCommand& command,
                                               const contract::Capabilities& caps);

// Passes that a vector spends in a program.
[[nodiscard]] uint64_t program_passes(std::span<const UopGroup> groups);

}  // namespace npu::timing
