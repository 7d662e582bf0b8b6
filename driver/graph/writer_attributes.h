// SPDX-License-Identifier: Apache-2.0
// The part of the writer that knows what each attribute table holds. Private to this folder.
#pragma once

#include "driver/graph/graph.h"
#include "driver/graph/tosa_generated.h"

namespace npu::graph {

// The attribute table of an operator: Attribute number = Op number.
[[nodiscard]] flatbuffers::Offset<void> encode_attributes(flatbuffers::FlatBufferBuilder& file, const Operator& op);

}  // namespace npu::graph
