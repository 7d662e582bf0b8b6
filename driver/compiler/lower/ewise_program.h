// SPDX-License-Identifier: Apache-2.0
// The micro-program of a set of element-wise operators: what one VPU job loads, computes and stores for each element.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/parameters.h"
#include "driver/compiler/lower/views.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

struct EwiseOperand {
  enum class Role : uint8_t { kStream, kScalar, kParams, kTable, kEntries, kResult };
  Role role = Role::kStream;
  graph::TensorId tensor = 0;         // all but kParams and kEntries; kScalar: of one element, for all elements
  graph::Shape space;                 // kStream: result shape of the operator that reads it, into which it broadcasts
  BlockParams params;                 // kParams
  uint64_t bytes = 0;                 // kParams, kTable, kEntries: in the VPU's table memory
  std::vector<int32_t> entries = {};  // kEntries: a table that the compiler made
};

struct EwiseProgram {
  Dims dims;  // iteration space without dimensions of 1
  std::vector<EwiseOperand> operands;
  std::vector<contract::Uop> uops;
  uint32_t register_count = 0;
  bool innermost_fixed = false;  // a per-channel RESCALE counts the innermost dimension

  // Whether a command of the machine can hold the program, and the machine's table memory the blocks of its operands. A
  // single operator's program always fits into a command, and its only block is cut where it does not fit (split.h).
  [[nodiscard]] bool fits_command(const contract::Capabilities& machine) const;
  [[nodiscard]] bool fits_tables(const contract::Capabilities& machine) const;
};

// Whether look-ups take the place of chains (ewise_lookup.h), which takes time to find.
enum class Lookups : uint8_t { kNone, kUsed };

// `ops` are element-wise operators in operator order whose results have the same dimensions but for those of 1.
// `stored` tells which results must reach memory. Without look-ups it is quickly made, for who only asks
// whether it fits.
[[nodiscard]] EwiseProgram make_ewise_program(const Facts& facts, std::span<const size_t> ops,
                                              const std::function<bool(graph::TensorId)>& stored,
                                              Lookups lookups = Lookups::kUsed);

}  // namespace npu::compiler
