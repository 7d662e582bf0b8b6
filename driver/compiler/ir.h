// SPDX-License-Identifier: Apache-2.0
// The compiler's middle: buffers and the steps that engines take on them. The front end (lower.h) makes a Module from a
// graph; the back end (schedule.h) tiles, places and orders it into a Program. Steps are in execution order; a step
// reads and writes whole views, and the back end may split it into tiles.
//
// Control flow does not change that steps are one list. Its control steps, labels and branches, cut the list into
// blocks; a construct is a stretch of the list from its first control step to its last, and constructs nest:
//
//   branch B if a condition is false      label A
//     steps of the first branch             steps that compute the condition
//   branch C                              branch B if it is false
//   label B                                 steps of the body
//     steps of the second branch          branch A, counted
//   label C                               label B
//
// A pass that moves, joins or drops steps does so within a block; schedule/flow.h tells it where blocks and loops are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler {

using BufferId = uint32_t;

enum class BufferKind : uint8_t {
  kInput,         // written by the host before the job; read only
  kOutput,        // read by the host after the job; steps may read it too
  kConstant,      // `data`; read only
  kVariable,      // persistent SRAM or DRAM; index into Module::variables
  kIntermediate,  // lives within one job, scratchpad or DRAM as the back end decides
};

struct Buffer {
  std::string name;
  BufferKind kind = BufferKind::kIntermediate;
  uint64_t bytes = 0;
  std::vector<uint8_t> data;  // kConstant
  uint32_t index = 0;         // kVariable: index into Module::variables; kInput, kOutput: into Module::inputs, outputs
  // kIntermediate: it lives in the scratchpad, where the sequencer reads conditions and counters.
  bool on_chip = false;
};

// A strided window into a buffer. Strides are bytes; 0 repeats, negative walks backwards. offset is the byte of element
// 0.
struct View {
  BufferId buffer = 0;
  int64_t offset = 0;
  contract::Element type = contract::Element::kI8;
  std::vector<int64_t> dims, strides;
};

// One entry an output channel, or one entry for all.
struct Params {
  contract::ParameterHeader header;
  std::vector<contract::ParameterEntry> entries;
};

// What the fields of the commands for windows hold. The front end refuses operators above it; padding is that of the
// operator.
inline constexpr int64_t kMostKernel = UINT16_MAX, kMostStride = UINT16_MAX, kMostDilation = UINT16_MAX,
                         kMostPadding = INT16_MAX;

// What an MXU step adds to its results, which then are int8 or of floating point; of int8 the parameters are in the
// header of its block.
struct MxuResidual {
  View view;  // with the dimensions and the type of the result
  contract::Residual scales = contract::Residual::kScaleOperand;
  uint32_t value_left = 0, residual_left = 0;
};

// Of a program for several sizes: a bit for each dimension of a step that is not the same in all of them. Tiles are not
// cut across such a dimension and the one outside of it, or what is in a tile would change with the size.
using OpenDimensions = uint32_t;

// CONV2D: src [N,H,W,C], weights [OC,KH,KW,IC], dst [N,OH,OW,OC]. DEPTHWISE_CONV2D: weights [KH,KW,C,M]. MATMUL: src
// [N,1,H,C], weights [N,C,W], dst [N,1,H,W]. Params has one entry an output channel, always. `block`: the parameter
// block in memory, a dense view of its bytes, where earlier steps make it at run time; the values in params then do not
// count.
struct MxuStep {
  contract::MxuMode mode;
  View src, weights, dst;
  Params params;
  std::optional<View> block;
  contract::Rescale rescale = contract::Rescale::kNone;
  bool output_unsigned = false;
  std::optional<MxuResidual> residual;
  int64_t kernel_h = 1, kernel_w = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t multiplier = 1;
  OpenDimensions open = 0;  // of dst
};

// dims: iteration space of any rank (innermost last). An operand is a stream (its view's dims are `dims`, strides 0
// where it broadcasts) or a blob (parameter block or table: a dense view of `bytes` bytes that micro-operations name).
// A per-channel RESCALE indexes its block by the innermost dimension, which must then not be split off or merged.
struct EwiseStep {
  std::vector<int64_t> dims;
  struct Operand {
    View view;
    bool blob = false;
    bool result = false;  // stored to
  };
  std::vector<Operand> operands;
  std::vector<contract::Uop> uops;
  uint32_t register_count = 0;
  bool innermost_fixed = false;
  OpenDimensions open = 0;  // of dims
};

// src [N,H,W,C], dst [N,OH,OW,C]. `block`: as that of an MxuStep, of a header alone; the zero points here then do not
// count.
struct PoolStep {
  contract::PoolMode mode;
  View src, dst;
  int64_t kernel_h = 1, kernel_w = 1, stride_y = 1, stride_x = 1, pad_top = 0, pad_left = 0;
  int32_t input_zp = 0, output_zp = 0;
  bool ignore_nan = false;  // max of floating point
  std::optional<View> block;
};

// src [outer, axis, inner], dst [outer, inner]; inner is dense in both.
struct ReduceStep {
  contract::ReduceOp op;
  View src, dst;
  bool ignore_nan = false;  // max, min and argmax of floating point
};

// DMA: dst and src have the same dims. With `fill`, src is ignored and the low bytes of fill_value are repeated.
struct CopyStep {
  View src, dst;
  bool fill = false;
  uint64_t fill_value = 0;
  OpenDimensions open = 0;  // of dst
};

// DMA: rows [N,W,C] and those rows of table [N,K,C] that index [N,W] chooses, each C dense in both; a list of W
// indices, i32, is dense. GATHER reads the table and writes rows, SCATTER the other way round: the rest of the table
// stays.
struct GatherStep {
  View table, index, rows;
  bool scatter = false;
};

// VARIABLE: before anything else, once for each variable; or behind the label of a block of its own, where the device
// finds out whether it is the only declaration of an execution, and whether a use has one.
struct DeclareStep {
  uint32_t variable;  // index into Module::variables
};

// Where branches go to. Each number has one label in a module.
struct LabelStep {
  uint32_t label = 0;
};

// A branch back is kRepeat and goes to the label that its loop begins with; all others go forward.
struct BranchStep {
  contract::BranchMode mode = contract::BranchMode::kAlways;
  uint32_t label = 0;  // where it goes to
  View condition;      // kIfFalse: one BOOL of a buffer that is on_chip
  View counter;        // kRepeat: one I32 of such a buffer, 0 before the loop
  uint32_t limit = 0;  // kRepeat: of iterations
};

// Of a program, and so steps of a module. The compiler holds about a KiB for each; real networks have some 100,000.
inline constexpr uint64_t kMostCommands = 1 << 20;

// Everything that a step may do.
using Work =
    std::variant<MxuStep, EwiseStep, PoolStep, ReduceStep, CopyStep, GatherStep, DeclareStep, LabelStep, BranchStep>;

struct Step {
  uint32_t layer = 0;  // index into Module::layers
  Work work;
  bool commit = false;  // it writes a variable, and this completes the write
};

struct Module {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Layer> layers;
  std::vector<Port> inputs, outputs;                    // without offsets; the back end lays them out
  std::vector<BufferId> input_buffers, output_buffers;  // one a port; equal ids where an output is listed twice
  std::vector<Variable> variables;
};

}  // namespace npu::compiler
