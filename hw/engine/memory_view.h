// SPDX-License-Identifier: Apache-2.0
// What an engine sees of memory.
#pragma once

#include <cstdint>
#include <span>

#include "hw/contract/memory_access.h"

namespace npu::engine {

using contract::Access;

// What an address of a command resolves to. The resolver checks region, bounds, rights and variable flags.
class MemoryView {
 public:
  virtual ~MemoryView() = default;
  // Bytes [address + low, address + high) of scratchpad or persistent SRAM; empty when that is not allowed, and then
  // the resolver has recorded the fault. `low` may be negative (a reversed walk starts at its last byte).
  virtual std::span<uint8_t> resolve(const contract::Address& address, int64_t low, int64_t high, Access access) = 0;
};

}  // namespace npu::engine
