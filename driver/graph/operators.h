// SPDX-License-Identifier: Apache-2.0
// The one table of the operators, the 75 of TOSA 1.0 and the 15 of TOSA 1.1 that compute shapes: operands, attributes,
// allowed types and who allows them. Everything that must know operators in general (validation, analysis, builder)
// reads it. Source: TOSA 1.0 specification and draft of 1.1, "Operators".
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/graph/dim.h"
#include "driver/graph/graph.h"

namespace npu::graph {

class OperatorView;

// Profiles and extensions, as bits of a set.
using Features = uint32_t;
inline constexpr Features kProInt = 1u << 0;
inline constexpr Features kProFp = 1u << 1;
inline constexpr Features kExtInt16 = 1u << 2;
inline constexpr Features kExtInt4 = 1u << 3;
inline constexpr Features kExtBf16 = 1u << 4;
inline constexpr Features kExtFp8E4M3 = 1u << 5;
inline constexpr Features kExtFp8E5M2 = 1u << 6;
inline constexpr Features kExtFft = 1u << 7;
inline constexpr Features kExtVariable = 1u << 8;
inline constexpr Features kExtControlFlow = 1u << 9;
inline constexpr Features kExtDynamic = 1u << 10;
inline constexpr Features kExtDoubleRound = 1u << 11;
inline constexpr Features kExtInexactRound = 1u << 12;
// Not of the specification: variables of types that only the stateful-operator proposals have.
inline constexpr Features kProposalVariable = 1u << 13;
// Of TOSA 1.1.
inline constexpr Features kExtShape = 1u << 14;
inline constexpr uint32_t kFeatureCount = 15;
// "PRO-INT", "EXT-INT16", ...; of one bit.
[[nodiscard]] std::string_view feature_name(Features bit);

// The types of an operator are up to four variables; operands and the attribute acc_type are bound to them.
enum class Slot : uint8_t {
  kIn,     // the data (and whatever has its type)
  kOther,  // weights, table or indices
  kOut,    // the result, where its type is another one than that of the data
  kAcc,    // the attribute acc_type
  kNone,   // the operand has a fixed type, or any
};

// One allowed combination. kUnknown where the operator has no such type. It needs one of `any_of` and all of `all_of`.
struct TypeRow {
  std::array<DType, 4> types{};  // by Slot
  Features any_of = 0, all_of = 0;
};

enum class OperandKind : uint8_t {
  kTensor,
  kShape,      // a SHAPE value, constant
  kList,       // any number of tensors; the last operand
  kShapeList,  // one SHAPE value or more; the last operand
};

struct Operand {
  std::string_view name;
  OperandKind kind = OperandKind::kTensor;
  Slot slot = Slot::kNone;
  DType fixed = DType::kUnknown;  // with Slot::kNone; kUnknown: any type
  uint8_t min_rank = 0, max_rank = 0;
  bool constant = false;  // a compile-time constant unless EXT-DYNAMIC allows otherwise
};

// Attributes that count for an operator, as bits of a set.
using AttributeSet = uint32_t;
inline constexpr AttributeSet kHasAxis = 1u << 0;
inline constexpr AttributeSet kHasKernel = 1u << 1;
inline constexpr AttributeSet kHasStride = 1u << 2;
inline constexpr AttributeSet kHasPad = 1u << 3;
inline constexpr AttributeSet kHasDilation = 1u << 4;
inline constexpr AttributeSet kHasOutPad = 1u << 5;
inline constexpr AttributeSet kHasPerms = 1u << 6;
inline constexpr AttributeSet kHasAccType = 1u << 7;
inline constexpr AttributeSet kHasLocalBound = 1u << 8;
inline constexpr AttributeSet kHasLimits = 1u << 9;  // min_val and max_val
inline constexpr AttributeSet kHasNanMode = 1u << 10;
inline constexpr AttributeSet kHasRound = 1u << 11;
inline constexpr AttributeSet kHasResizeMode = 1u << 12;
inline constexpr AttributeSet kHasRescale = 1u << 13;  // scale32, rounding_mode, per_channel, *_unsigned
inline constexpr AttributeSet kHasInverse = 1u << 14;
inline constexpr AttributeSet kHasBranches = 1u << 15;  // then_graph and else_graph
inline constexpr AttributeSet kHasLoop = 1u << 16;      // cond_graph and body_graph
inline constexpr AttributeSet kHasCustom = 1u << 17;
inline constexpr AttributeSet kHasAllowBroadcast = 1u << 18;

// Checks everything that the table does not hold (the operator's ERROR_IF conditions) and gives the shapes of the
// results: numbers, and expressions where the view's sizes stay open. Operand counts, kinds, types and ranks are good
// when it is called. Throws Error, and NotExpressible where results depend on open sizes in a way that has no
// expression.
using Rule = std::vector<Dims> (*)(const OperatorView&);

struct OperatorInfo {
  Op op = Op::kUnknown;
  std::span<const Operand> inputs, outputs;
  AttributeSet attributes = 0;
  std::span<const TypeRow> types;  // empty: any types
  Features any_of = 0;             // where `types` is empty
  Rule rule = nullptr;
};

// The entry of an operator; every number from 1 to kOpCount - 1 has one.
[[nodiscard]] const OperatorInfo& info(Op op);
// The operand list ends with one that takes any number.
[[nodiscard]] inline bool has_list(std::span<const Operand> operands) {
  return !operands.empty() &&
         (operands.back().kind == OperandKind::kList || operands.back().kind == OperandKind::kShapeList);
}
// The operator of a name as in the specification; kUnknown when there is none.
[[nodiscard]] Op op_from_name(std::string_view name);
// A row of an operator's type table: "INT8", or with the names of what has the types where there are several:
// "input INT8, weight INT4, output INT32, acc_type INT32".
[[nodiscard]] std::string describe_row(const OperatorInfo& entry, const TypeRow& row);

}  // namespace npu::graph
