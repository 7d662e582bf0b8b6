// SPDX-License-Identifier: Apache-2.0
// Changes of attributes, a part of mutate().
#pragma once

#include <array>

#include "driver/graph/graph.h"
#include "tests/fuzz/draw.h"

namespace npu::fuzz {

// Types that tensors have, all but SHAPE.
inline constexpr std::array kTypes = {graph::DType::kBool,    graph::DType::kInt4,   graph::DType::kInt8,
                                      graph::DType::kInt16,   graph::DType::kInt32,  graph::DType::kInt48,
                                      graph::DType::kFp32,    graph::DType::kFp16,   graph::DType::kBf16,
                                      graph::DType::kFp8E4M3, graph::DType::kFp8E5M2};

// Changes one attribute of one operator of the block that has any.
void change_attribute(graph::Graph& graph, graph::Block& block, Draw& draw);

}  // namespace npu::fuzz
