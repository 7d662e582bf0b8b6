// SPDX-License-Identifier: Apache-2.0
// What micro-operations compute, for values that the compiler knows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "driver/compiler/fold.h"
#include "driver/compiler/ir.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler {

// Values that a register can have, both ends included.
struct ValueRange {
  int64_t low = 0, high = 0;

  [[nodiscard]] int64_t size() const { return high - low + 1; }
  [[nodiscard]] bool contains(const ValueRange& other) const { return low <= other.low && other.high <= high; }
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

// Every value that a register may have.
inline constexpr ValueRange kAnyValue = {-(int64_t{1} << 61), int64_t{1} << 61};

// The block of a micro-operation, as far as it is known: null where it comes at run time, or there is none.
struct KnownBlock {
  const Params* params = nullptr;  // of a RESCALE
  const Constant* table = nullptr;
};

// Whether uop_value() knows the micro-operation: not what reads memory, and no RESCALE with an entry a channel.
[[nodiscard]] bool is_known(const contract::Uop& uop, const KnownBlock& block);

// Sources in the order of contract::for_each_source.
using UopSources = std::array<int64_t, 3>;
// The result for one value of each source; is_known() must hold.
[[nodiscard]] int64_t uop_value(const contract::Uop& uop, const UopSources& sources, const KnownBlock& block);

// A range that holds the result for all values of sources in these ranges.
[[nodiscard]] ValueRange uop_range(const contract::Uop& uop, const std::array<ValueRange, 3>& sources,
                                   const KnownBlock& block);

// The range of a RESCALE with one entry, whose multiplier is not negative.
[[nodiscard]] ValueRange rescale_range(const Params& params, contract::Rescale kind, const ValueRange& type,
                                       const ValueRange& from);

}  // namespace npu::compiler
