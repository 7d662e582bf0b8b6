// SPDX-License-Identifier: Apache-2.0
// The table of operator families: how each operator runs on the device, if at all. Support reports and lowering both
// ask it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/lower/facts.h"
#include "driver/graph/graph.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

class Emitter;

// Why an operator cannot run, and what the user can do about it.
struct Refusal {
  contract::ErrorCode code;
  std::string rule;
  std::string way_out;
};

// Operators that run as one: in operator order, or the MXU's, and then what its output stage takes with it.
struct Group {
  std::vector<size_t> ops;
};

enum class Kind : uint8_t {
  kUnsupported,
  kConstant,     // folded into the program
  kView,         // another way to look at a tensor: free where its users can follow
  kStep,         // makes steps of its own
  kMxu,          // as kStep, and may take a RESCALE and a CLAMP with it
  kElementwise,  // runs in groups
  kRead,         // VARIABLE_READ: a view or a copy
  kDeclare,      // VARIABLE: a step where it declares its variable itself
  kControl,      // makes steps of the blocks that it names
};

// Whether an operator of the kind runs on the device at all.
[[nodiscard]] constexpr bool makes_steps(Kind kind) {
  switch (kind) {
    case Kind::kStep:
    case Kind::kMxu:
    case Kind::kElementwise:
    case Kind::kRead:
    case Kind::kDeclare:
    case Kind::kControl:
      return true;
    case Kind::kUnsupported:  // refused before it is asked
    case Kind::kConstant:
    case Kind::kView:
      return false;
  }
  return false;
}

struct Family {
  Kind kind;
  std::optional<contract::Engine> engine;  // nullopt: nothing moves
  // Nullopt when the device can run the operator.
  std::optional<Refusal> (*check)(const Facts&, const graph::Operator&);
  // Whether a step of the operator can read operand `operand` in place from this view. Null: any view.
  bool (*accepts)(const graph::Operator&, size_t operand, const View&);
  // Adds the group's steps. Null for kinds that make none.
  void (*emit)(Emitter&, const Group&);
  // Of kStep: the operators behind `op` that its steps take with them, in order. Null: none.
  std::vector<size_t> (*followers)(const Facts&, size_t op, const contract::Capabilities&) = nullptr;
};

[[nodiscard]] const Family& family_of(graph::Op op);
// As runs_on() of an engine (program.h); what control flow does itself is the sequencer's.
[[nodiscard]] std::string_view runs_on(const Family& family);

// The families, each in the file that is named after it.
extern const Family kUnsupportedFamily, kConstantFamily;                  // families.cpp
extern const Family kConvFamily, kMatmulFamily;                           // mxu.cpp
extern const Family kTransposeConvFamily;                                 // transpose_conv.cpp
extern const Family kConv3dFamily;                                        // conv3d.cpp
extern const Family kElementwiseFamily;                                   // elementwise.cpp
extern const Family kPoolFamily;                                          // pool.cpp
extern const Family kReduceFamily;                                        // reduce.cpp
extern const Family kViewFamily, kConcatFamily, kPadFamily, kTileFamily;  // layout.cpp
extern const Family kResizeFamily;                                        // resize.cpp
extern const Family kFourierFamily;                                       // fourier.cpp
extern const Family kGatherFamily, kScatterFamily;                        // gather.cpp
extern const Family kDeclareFamily, kReadFamily, kWriteFamily;            // variables.cpp
extern const Family kCondIfFamily, kWhileLoopFamily;                      // control_flow.cpp

// Refusals that several families share.
// Every tensor operand and result must have a type that the device stores.
[[nodiscard]] std::optional<Refusal> refuse_types(const Facts& facts, const graph::Operator& op);
// The same, and the VPU of the machine must compute with floating point where there is any.
[[nodiscard]] std::optional<Refusal> refuse_vpu_type(const Facts& facts, const graph::Operator& op);
// The MXU of the machine must compute with the type of the first operand.
[[nodiscard]] std::optional<Refusal> refuse_mxu_type(const Facts& facts, const graph::Operator& op);
// Shape operands must be compile-time constants.
[[nodiscard]] std::optional<Refusal> refuse_run_time_shapes(const Facts& facts, const graph::Operator& op);
[[nodiscard]] std::optional<Refusal> refuse_above(std::string_view what, int64_t value, int64_t limit);
// For a window (ir.h) with this kernel (y, x) and the operator's stride, dilation and padding.
[[nodiscard]] std::optional<Refusal> refuse_window(const graph::Operator& op, std::span<const int64_t> kernel);

}  // namespace npu::compiler
