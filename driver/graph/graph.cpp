// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/graph.h"

#include <algorithm>
#include <array>

#include "driver/graph/dim.h"

namespace npu::graph {
namespace {

constexpr std::array<std::string_view, 19> kTypeNames = {
    "UNKNOWN", "BOOL",    "INT4",    "INT8",    "INT16",   "INT32",   "INT48",    "FP32",  "FP16",   "BF16",
    "SHAPE",   "FP8E4M3", "FP8E5M2", "FP6E2M3", "FP6E3M2", "FP4E2M1", "FP8UE8M0", "INT64", "MXINT8",
};

constexpr std::array<std::string_view, kOpCount> kOpNames = {
    "UNKNOWN",
    "ARGMAX",
    "AVG_POOL2D",
    "CONV2D",
    "CONV3D",
    "DEPTHWISE_CONV2D",
    "FFT2D",
    "MATMUL",
    "MAX_POOL2D",
    "RFFT2D",
    "TRANSPOSE_CONV2D",
    "CLAMP",
    "ERF",
    "SIGMOID",
    "TANH",
    "ADD",
    "ARITHMETIC_RIGHT_SHIFT",
    "BITWISE_AND",
    "BITWISE_OR",
    "BITWISE_XOR",
    "INTDIV",
    "LOGICAL_AND",
    "LOGICAL_LEFT_SHIFT",
    "LOGICAL_RIGHT_SHIFT",
    "LOGICAL_OR",
    "LOGICAL_XOR",
    "MAXIMUM",
    "MINIMUM",
    "MUL",
    "POW",
    "SUB",
    "TABLE",
    "ABS",
    "BITWISE_NOT",
    "CEIL",
    "CLZ",
    "COS",
    "EXP",
    "FLOOR",
    "LOG",
    "LOGICAL_NOT",
    "NEGATE",
    "RECIPROCAL",
    "RSQRT",
    "SIN",
    "SELECT",
    "EQUAL",
    "GREATER",
    "GREATER_EQUAL",
    "REDUCE_ALL",
    "REDUCE_ANY",
    "REDUCE_MAX",
    "REDUCE_MIN",
    "REDUCE_PRODUCT",
    "REDUCE_SUM",
    "CONCAT",
    "PAD",
    "RESHAPE",
    "REVERSE",
    "SLICE",
    "TILE",
    "TRANSPOSE",
    "GATHER",
    "SCATTER",
    "RESIZE",
    "CAST",
    "RESCALE",
    "CONST",
    "IDENTITY",
    "CUSTOM",
    "COND_IF",
    "WHILE_LOOP",
    "VARIABLE",
    "VARIABLE_WRITE",
    "VARIABLE_READ",
    "CONST_SHAPE",
    "DIM",
    "CONCAT_SHAPE",
    "ADD_SHAPE",
    "SUB_SHAPE",
    "MUL_SHAPE",
    "SLICE_SHAPE",
    "EXP2_SHAPE",
    "LOG2_CEIL_SHAPE",
    "LOG2_FLOOR_SHAPE",
    "MAX_SHAPE",
    "MIN_SHAPE",
    "MOD_SHAPE",
    "DIV_CEIL_SHAPE",
    "DIV_FLOOR_SHAPE",
    "ASSERT_EQUAL_SHAPE",
};

}  // namespace

std::string_view name(DType type) {
  const auto index = static_cast<size_t>(type);
  return index < kTypeNames.size() ? kTypeNames[index] : kTypeNames[0];
}

std::string_view name(Op op) {
  const auto index = static_cast<size_t>(op);
  return index < kOpNames.size() ? kOpNames[index] : kOpNames[0];
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 1; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

std::optional<int64_t> element_count(const Shape& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < 0; })) {
    return std::nullopt;
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    return 0;
  }
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (count > kMostElements / size) {
      return std::nullopt;
    }
    count *= size;
  }
  return count;
}

int64_t byte_size(DType type, int64_t elements) {
  switch (type) {
    case DType::kInt4:
    case DType::kFp4E2M1:
      return (elements + 1) / 2;
    case DType::kInt16:
    case DType::kFp16:
    case DType::kBf16:
      return elements * 2;
    case DType::kInt32:
    case DType::kFp32:
      return elements * 4;
    case DType::kInt48:
      return elements * 6;
    case DType::kShape:
    case DType::kInt64:
      return elements * 8;
    default:
      return elements;
  }
}

const int64_t* unknown_size(const Tensor& tensor) {
  const auto found =
      std::find_if(tensor.shape.begin(), tensor.shape.end(), [&](int64_t size) { return is_unknown(tensor, size); });
  return found == tensor.shape.end() ? nullptr : &*found;
}

bool has_unknown_sizes(const Block& block, const Operator& op) {
  const auto unknown = [&](TensorId id) { return unknown_size(block.tensors[id]) != nullptr; };
  return std::any_of(op.inputs.begin(), op.inputs.end(), unknown) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), unknown);
}

bool has_unknown_sizes(const Graph& graph) {
  for (const Region& region : graph.regions) {
    for (const Block& block : region.blocks) {
      const auto unknown = [](const Tensor& tensor) { return unknown_size(tensor) != nullptr; };
      if (std::any_of(block.tensors.begin(), block.tensors.end(), unknown)) return true;
    }
  }
  return false;
}

bool has_shape_operators(const Graph& graph) {
  for (const Region& region : graph.regions) {
    for (const Block& block : region.blocks) {
      const auto computes = [](const Operator& op) { return is_shape_operator(op.op); };
      if (std::any_of(block.operators.begin(), block.operators.end(), computes)) return true;
    }
  }
  return false;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) {
      text += ", ";
    }
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace npu::graph
