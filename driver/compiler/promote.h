// SPDX-License-Identifier: Apache-2.0
// Products of a floating-point format that a machine's MXU lacks, computed in FP32 instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// An operator that is computed in FP32, and the format that it names.
struct Promotion {
  graph::Op op = graph::Op::kUnknown;
  graph::DType from = graph::DType::kUnknown;
  std::string result;  // name of the tensor
};

// The convolutions and matrix products, of all blocks in their order, whose format the machine's MXU lacks, where it
// has FP32 and its VPU casts; none otherwise.
[[nodiscard]] std::vector<Promotion> promotions(const graph::Graph& graph, const contract::Capabilities& machine);

// How many of each operator and format: "2 CONV2D of FP16, 1 MATMUL of BF16 in FP32", or that there are none.
[[nodiscard]] std::string in_words(const std::vector<Promotion>& promotions);

// The graph with these operators in FP32: a CAST before each operand, and one behind the result where that has their
// format. A sum is rounded once where the operator may have rounded it to its format at each step, so results are those
// of a wider accumulator.
[[nodiscard]] graph::Graph promote(const graph::Graph& graph, const contract::Capabilities& machine);

}  // namespace npu::compiler
