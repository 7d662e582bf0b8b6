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
// `count` positions of a dimension, `step` apart, from `first` on. With a negative step they go backwards.
[[nodiscard]] View every(View view, size_t dim, int64_t first, int64_t count, int64_t step);
[[nodiscard]] View permute(const View& view, std::span<const int32_t> perms);
[[nodiscard]] View reverse(const View& view, size_t axis);
// Repeats dimensions of 1 to reach `dims`, of the same rank.
[[nodiscard]] View broadcast(const View& view, const Dims& dims);

// Copies the elements of `view` out of the bytes of its buffer, in C order; `to`: bytes between them at `out`, a stride
// a dimension.
void copy_elements(const View& view, const uint8_t* buffer, uint8_t* out, std::span<const int64_t> to);

// Drops dimensions of 1 and merges neighbours that every stride list walks as one; at least one dimension stays. With
// `keep_innermost` the last dimension stays as it is.
void coalesce(Dims& dims, std::span<std::vector<int64_t>* const> strides, bool keep_innermost);

}  // namespace npu::compiler
