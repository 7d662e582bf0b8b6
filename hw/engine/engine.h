// SPDX-License-Identifier: Apache-2.0
// The engine interface: one tile job in, result bytes and a schedule of memory beats out. Plain C++, no SystemC.
// Implemented by the model (mxu_model.h, vpu_model.h) and, later, by back ends that clock RTL; called by hw/model's
// units.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
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

enum class Port : uint8_t { kActivation, kWeight, kParameter, kOperand, kResult };

// A run of equal memory accesses: `beats` accesses of `bytes` each, the k-th at cycle start + k * interval and at
// byte offset address + k * step of its region (first resolved byte = address.offset). A stream that is read again and
// again starts over after `wrap` bytes: with wrap != 0 the offset is (k * step) % wrap.
struct BeatRun {
  Port port;
  Access access;
  contract::Address address;
  int64_t step = 0;
  uint32_t beats = 0;
  uint32_t bytes = 0;
  uint64_t start = 0;
  uint32_t interval = 1;
  int64_t wrap = 0;
};

// Cycles of a schedule that a device hands over to memory at once: within them, beats are late together.
inline constexpr uint64_t kChunkCycles = 256;

struct TileResult {
  contract::ErrorCode error = contract::ErrorCode::kOk;
  uint64_t cycles = 0;  // with ideal memory: fill + steady + drain
  uint64_t fill = 0, steady = 0, drain = 0;
  uint64_t macs = 0;
  std::vector<BeatRun> beats;  // empty when the caller asked for function only
};

// One engine. `command` starts with its header and is `words` long, already checked against the contract's limits.
class Engine {
 public:
  virtual ~Engine() = default;
  // Computes the tile on the bytes that `memory` resolves; with `timed` false, cycles and beats stay 0 and empty.
  virtual TileResult run(std::span<const uint32_t> command, MemoryView& memory, bool timed) = 0;
};

}  // namespace npu::engine
