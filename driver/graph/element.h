// SPDX-License-Identifier: Apache-2.0
// The types of a graph as the contract's elements.
#pragma once

#include <optional>

#include "driver/graph/graph.h"
#include "hw/contract/gen/commands.h"

namespace npu::graph {

// How the device stores an element of a type; nullopt when it has no such element. INT4 takes a byte an element.
[[nodiscard]] std::optional<contract::Element> element_of(DType type);

}  // namespace npu::graph
