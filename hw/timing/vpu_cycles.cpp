// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/vpu_cycles.h"

#include <algorithm>

#include "hw/contract/error.h"
#include "hw/contract/gen/micro_operations.h"
#include "hw/contract/uop_fields.h"
#include "hw/timing/vpu_program.h"

namespace npu::timing {

namespace {

using contract::Capabilities;
using contract::Element;
using contract::PoolMode;
using contract::UopCode;

constexpr uint64_t kVpuFillStages = 6;   // setup, fetch, address, operand read, align, register read
constexpr uint64_t kVpuDrainStages = 4;  // register write, align, result write, done
constexpr uint64_t kLaneBytes = 4;

// A pass of the lane's multiplier, and one for the rounding shift.
constexpr uint64_t kShiftedProduct = 2;
// Zero point before those; output zero point, clip and clamp behind. With an entry a channel the table memory takes as
// many passes: four lanes share a port of it.
constexpr uint64_t kRescale = kShiftedProduct + 2;
// Four lanes share a port of the table memory.
constexpr uint64_t kLookup = 4;
// One bit a cycle, and a pass each for the signs before and after.
constexpr uint64_t kDivide = 34;
static_assert(kAveragePasses == 1 + kRescale);

// An operand wider than a lane takes two passes.
uint64_t access_passes(Element type) { return type == Element::kI48 ? 2 : 1; }

}  // namespace

uint64_t table_rows(const Capabilities& caps) { return caps.vpu_table_bytes / (kLaneBytes * caps.vpu_lanes); }

uint64_t table_rows_of(uint64_t bytes, const Capabilities& caps) {
  return ceil_div(bytes, kLaneBytes * caps.vpu_lanes);
}

uint64_t table_rows_of(const contract::VpuEwiseCommand& command, const Capabilities& caps) {
  uint64_t rows = 0;
  for (const contract::Operand& operand : command.operands) rows += table_rows_of(operand.bytes, caps);
  return rows;
}

uint64_t uop_passes(const contract::Uop& uop, Element type, const Capabilities& caps) {
  switch (uop.op) {
    case UopCode::kLoad:
    case UopCode::kStore:
      return access_passes(type);
    case UopCode::kMul:
      return uop.imm0 == 0 || caps.vpu_rescale != 0 ? 1 : kShiftedProduct;
    case UopCode::kRescale:
      return caps.vpu_rescale != 0 && !contract::RescaleImmediate::unpack(uop.imm0).per_channel ? 1 : kRescale;
    case UopCode::kTable8:
      return kLookup;
    case UopCode::kTable16:
      // Base and next entry, slope times fraction, sum; or both entries at once, and then all else.
      return caps.vpu_table_pairs != 0 ? kLookup + 1 : 2 * kLookup + 2;
    case UopCode::kTable32:
      // Both halves of an entry at once, or one after the other.
      return caps.vpu_table_pairs != 0 ? kLookup : 2 * kLookup;
    case UopCode::kIntdiv:
      return kDivide;
    case UopCode::kAdd:
    case UopCode::kSub:
    case UopCode::kMax:
    case UopCode::kMin:
    case UopCode::kClamp:
    case UopCode::kAbs:
    case UopCode::kNegate:
    case UopCode::kClz:
    case UopCode::kBitAnd:
    case UopCode::kBitOr:
    case UopCode::kBitXor:
    case UopCode::kBitNot:
    case UopCode::kShl:
    case UopCode::kShrLogical:
    case UopCode::kShrArith:
    case UopCode::kEq:
    case UopCode::kGt:
    case UopCode::kGe:
    case UopCode::kSelect:
    case UopCode::kLogicalNot:
    case UopCode::kCast:
      return 1;
    default:
      NPU_CHECK(contract::uop_info(uop.op).floats);
      return 1;
  }
}

Cycles vpu_cycles(const contract::VpuEwiseCommand& command, const Capabilities& caps) {
  uint64_t elements = 1;
  for (const uint32_t dim : command.dims) elements *= dim;
  if (elements == 0) return {};
  Cycles cycles;
  cycles.fill = kVpuFillStages + table_rows_of(command, caps);  // a row a cycle
  cycles.steady = ceil_div(elements, caps.vpu_lanes) * program_passes(uop_groups(command, caps));
  cycles.drain = kVpuDrainStages;
  return cycles;
}

Cycles vpu_cycles(const contract::VpuPoolCommand& command, const Capabilities& caps) {
  const uint64_t elements = uint64_t{command.out_h} * command.out_w * command.channels;
  if (elements == 0) return {};
  const bool average = command.mode == PoolMode::kAvg;
  const uint64_t taps = uint64_t{command.kernel_h} * command.kernel_w;
  const uint64_t window = average ? std::max(taps, kReciprocalPasses) : taps;
  const uint64_t epilogue = (average ? kAveragePasses : 0) + 1;  // with the store
  Cycles cycles;
  cycles.fill = kVpuFillStages + (average ? table_rows_of(contract::ParameterHeader::kBytes, caps) : 0);
  cycles.steady = ceil_div(elements, caps.vpu_lanes) * (window + epilogue);
  cycles.drain = kVpuDrainStages;
  return cycles;
}

bool reduces_at_once(const contract::VpuReduceCommand& command, const Capabilities& caps) {
  using contract::ReduceOp;
  return caps.vpu_tree != 0 && command.inner == 1 && command.op != ReduceOp::kProduct &&
         command.op != ReduceOp::kArgmax;
}

Cycles vpu_cycles(const contract::VpuReduceCommand& command, const Capabilities& caps) {
  const uint64_t results = uint64_t{command.outer} * command.inner;
  if (results == 0 || command.axis == 0) return {};
  const uint64_t passes = reduce_passes(command.op);
  Cycles cycles;
  cycles.fill = kVpuFillStages;
  if (command.inner > 1) {
    // A lane per result: one pass an element of the axis, then the store.
    cycles.steady = ceil_div(results, caps.vpu_lanes) * (uint64_t{command.axis} * passes + 1);
  } else if (reduces_at_once(command, caps)) {
    // A pass a vector of the axis, and a store for as many results as there are lanes.
    cycles.steady = results * ceil_div(command.axis, caps.vpu_lanes) + ceil_div(results, caps.vpu_lanes);
  } else {
    // The axis across the lanes, a tree over the lanes that hold something, then the store.
    const uint64_t used = std::min<uint64_t>(command.axis, caps.vpu_lanes);
    cycles.steady = results * ((ceil_div(command.axis, caps.vpu_lanes) + tree_levels(used)) * passes + 1);
  }
  cycles.drain = kVpuDrainStages;
  return cycles;
}

}  // namespace npu::timing
