// SPDX-License-Identifier: Apache-2.0
// Tensors as strided windows: what RESHAPE, SLICE, TRANSPOSE and broadcasting do to a view without moving a byte.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/graph/graph.h"

namespace npu::compiler {

using Dims = std::vector<int64_t>;

// How the device stores an element of a type; nullopt when it has no such element. INT4 is for constants only: they are
// widened to one byte an element.
[[nodiscard]] std::optional<contract::Element> element_of(graph::DType type);

[[nodiscard]] int64_t product(std::span<const int64_t> dims);
// Dimensions other than 1.
[[nodiscard]] Dims squeeze(std::span<const int64_t> dims);

// A C-order tensor at the start of a buffer.
[[nodiscard]] View dense_view(BufferId buffer, contract::Element type, const Dims& dims);
// `count` bytes at the start of a buffer: a parameter block or a table.
[[nodiscard]] View blob_view(BufferId buffer, int64_t count);

[[nodiscard]] bool is_dense(const View& view);
// Elements of the innermost dimension are neighbours and no other dimension walks backwards or repeats.
[[nodiscard]] bool inner_dense(const View& view);
// Both name the same elements in the same order.
[[nodiscard]] bool same_place(const View& a, const View& b);

// The same elements in C order with other dimensions; nullopt when strides cannot express it.
[[nodiscard]] std::optional<View> reshape(const View& view, const Dims& dims);
[[nodiscard]] View slice(const View& view, const Dims& start, const Dims& size);
[[nodiscard]] View permute(const View& view, std::span<const int32_t> perms);
[[nodiscard]] View reverse(const View& view, size_t axis);
// Repeats dimensions of 1 to reach `dims`, of the same rank.
[[nodiscard]] View broadcast(const View& view, const Dims& dims);

// Drops dimensions of 1 and merges neighbours that every stride list walks as one; at least one dimension stays. With
// `keep_innermost` the last dimension stays as it is.
void coalesce(Dims& dims, std::span<std::vector<int64_t>* const> strides, bool keep_innermost);

}  // namespace npu::compiler
