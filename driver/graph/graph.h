// SPDX-License-Identifier: Apache-2.0
// A TOSA graph in memory: regions of basic blocks of operators over tensors. Plain data; validation is a separate step
// (validate.h), so a Graph may be illegal. Source: TOSA 1.0 specification, "Operators" and the .tosa file format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace npu::graph {

// Numbers are those of the file format.
enum class DType : uint32_t {
  kUnknown = 0,
  kBool,
  kInt4,
  kInt8,
  kInt16,
  kInt32,
  kInt48,
  kFp32,
  kFp16,
  kBf16,
  kShape,
  kFp8E4M3,
  kFp8E5M2,
  kFp6E2M3,
  kFp6E3M2,
  kFp4E2M1,
  kFp8Ue8M0,
  kInt64,
  kMxInt8,
};

// Operators of TOSA 1.0, numbered as in the file format, then those of TOSA 1.1 that compute shapes (file_number.h has
// their numbers). The reader refuses the others of 1.1. kVariable* may also come from a file as IDENTITY with a
// variable attribute (the reader normalises it).
enum class Op : uint32_t {
  kUnknown = 0,
  kArgMax,
  kAvgPool2d,
  kConv2d,
  kConv3d,
  kDepthwiseConv2d,
  kFft2d,
  kMatMul,
  kMaxPool2d,
  kRfft2d,
  kTransposeConv2d,
  kClamp,
  kErf,
  kSigmoid,
  kTanh,
  kAdd,
  kArithmeticRightShift,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kIntDiv,
  kLogicalAnd,
  kLogicalLeftShift,
  kLogicalRightShift,
  kLogicalOr,
  kLogicalXor,
  kMaximum,
  kMinimum,
  kMul,
  kPow,
  kSub,
  kTable,
  kAbs,
  kBitwiseNot,
  kCeil,
  kClz,
  kCos,
  kExp,
  kFloor,
  kLog,
  kLogicalNot,
  kNegate,
  kReciprocal,
  kRsqrt,
  kSin,
  kSelect,
  kEqual,
  kGreater,
  kGreaterEqual,
  kReduceAll,
  kReduceAny,
  kReduceMax,
  kReduceMin,
  kReduceProduct,
  kReduceSum,
  kConcat,
  kPad,
  kReshape,
  kReverse,
  kSlice,
  kTile,
  kTranspose,
  kGather,
  kScatter,
  kResize,
  kCast,
  kRescale,
  kConst,
  kIdentity,
  kCustom,
  kCondIf,
  kWhileLoop,
  kVariable,
  kVariableWrite,
  kVariableRead,
  kConstShape,
  kDim,
  kConcatShape,
  kAddShape,
  kSubShape,
  kMulShape,
  kSliceShape,
  kExp2Shape,
  kLog2CeilShape,
  kLog2FloorShape,
  kMaxShape,
  kMinShape,
  kModShape,
  kDivCeilShape,
  kDivFloorShape,
  kAssertEqualShape,
};
inline constexpr uint32_t kOpCount = static_cast<uint32_t>(Op::kAssertEqualShape) + 1;
// Those before this number run. Those from it on compute shapes, and are gone from a graph that runs (resolve.h).
inline constexpr uint32_t kTensorOpCount = static_cast<uint32_t>(Op::kConstShape) + 1;
[[nodiscard]] inline bool is_shape_operator(Op op) {
  return static_cast<uint32_t>(op) >= kTensorOpCount && static_cast<uint32_t>(op) < kOpCount;
}

enum class ResizeMode : uint32_t { kUnknown = 0, kNearest, kBilinear };
enum class NanMode : uint32_t { kUnknown = 0, kPropagate, kIgnore };
enum class RoundingMode : uint32_t { kUnknown = 0, kSingleRound, kInexactRound, kDoubleRound };

// Dimensions, outermost first. Empty = rank 0. int64 so that products can be checked; a file holds 32 bits.
using Shape = std::vector<int64_t>;

// Index of a tensor in its block. A SHAPE value is a tensor of type kShape and shape {length}: the result of
// CONST_SHAPE, with data, or of an operator that computes shapes, without.
using TensorId = uint32_t;

struct Tensor {
  std::string name;
  DType type = DType::kUnknown;
  Shape shape;
  // Constant or initial value as in the file: little endian, C order, TOSA width (INT48: 6 bytes an element, INT4: two
  // an element pair, BOOL: one byte, SHAPE: int64), without the file's padding. Points into Graph::storage.
  std::span<const uint8_t> data;
  bool has_data = false;
  bool variable = false;
  std::string variable_name;  // of a variable: its identity, never empty in a valid graph
};

// Every attribute that an operator has; which ones count is in the operator table (operators.h).
struct Attributes {
  int32_t axis = 0;
  std::vector<int32_t> kernel, stride, pad, dilation, out_pad, perms;
  DType acc_type = DType::kUnknown;
  bool local_bound = false;
  std::vector<uint8_t> min_val, max_val;  // CLAMP: little endian in the type of its input
  NanMode nan_mode = NanMode::kUnknown;
  bool round = false;
  ResizeMode resize_mode = ResizeMode::kUnknown;
  bool scale32 = false;
  RoundingMode rounding_mode = RoundingMode::kUnknown;
  bool per_channel = false, input_unsigned = false, output_unsigned = false;
  bool inverse = false;
  bool allow_broadcast = false;
  std::string then_graph, else_graph, cond_graph, body_graph;
  std::string custom_operator, custom_domain;
  std::vector<uint8_t> custom_attributes;
};

struct Operator {
  Op op = Op::kUnknown;
  Attributes attributes;
  std::vector<TensorId> inputs;   // data operands, then shape operands, in the file's order
  std::vector<TensorId> outputs;  // VARIABLE_WRITE: the variable tensor; VARIABLE_READ reads inputs[0]
  std::string location;           // as in the file; for messages
};

struct Block {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;  // in execution order
  std::vector<TensorId> inputs, outputs;
};

struct Region {
  std::string name;
  std::vector<Block> blocks;
};

struct Version {
  int32_t major = 1, minor = 0, patch = 0;
  bool draft = false;
};

// Release of a serialisation library, as files carry it.
struct SoftwareVersion {
  int32_t major = -1, minor = -1, micro = -1;
  std::string modifier;
};

struct Graph {
  Version version;
  // What wrote the file and the oldest reader for it; only kept so that writing the graph again changes nothing.
  std::optional<SoftwareVersion> software_version, min_reader_version;
  std::vector<Region> regions;
  // Owners of the bytes that Tensor::data points into (the file, and what a builder added).
  std::vector<std::shared_ptr<const std::vector<uint8_t>>> storage;

  // The block that runs first: block 0 of region 0. A validated graph has one.
  [[nodiscard]] const Block& main() const { return regions.front().blocks.front(); }
  [[nodiscard]] Block& main() { return regions.front().blocks.front(); }
};

[[nodiscard]] std::string_view name(DType type);  // "INT8"
[[nodiscard]] std::string_view name(Op op);       // "CONV2D"
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);
// Elements of a shape; nullopt when negative or above 2^40.
[[nodiscard]] std::optional<int64_t> element_count(const Shape& shape);
// Bytes of `elements` elements at TOSA width (INT48 6, INT4 half, BOOL 1, SHAPE 8).
[[nodiscard]] int64_t byte_size(DType type, int64_t elements);
[[nodiscard]] std::string to_string(const Shape& shape);  // "[1, 3, 40]"

// A size that the file leaves open: exporters write a variable's as 0, that of any other tensor as -1. Such a dimension
// is a symbol, which is known by its tensor and its place there.
[[nodiscard]] inline bool is_unknown(const Tensor& tensor, int64_t size) {
  return size == -1 || (size == 0 && tensor.variable);
}
// The first such size of a tensor; null when all are known.
[[nodiscard]] const int64_t* unknown_size(const Tensor& tensor);
[[nodiscard]] bool has_unknown_sizes(const Block& block, const Operator& op);  // its operands and results
[[nodiscard]] bool has_unknown_sizes(const Graph& graph);
// A shape whose value follows from an operator that computes shapes.
[[nodiscard]] inline bool is_computed_shape(const Tensor& tensor) {
  return tensor.type == DType::kShape && !tensor.has_data;
}
[[nodiscard]] bool has_shape_operators(const Graph& graph);

// The identity of a variable tensor, by which graphs of one context share it.
[[nodiscard]] inline const std::string& variable_identity(const Tensor& tensor) { return tensor.variable_name; }

}  // namespace npu::graph
