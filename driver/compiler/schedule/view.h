// SPDX-License-Identifier: Apache-2.0
// Arithmetic on views: boxes of them, the bytes that they touch, and their dense copies in tile buffers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/compiler/ir.h"

namespace npu::compiler::backend {

struct Range {
  int64_t start = 0, count = 1;
  bool operator==(const Range&) const = default;
};

// A part of a view: one range a dimension.
using Box = std::vector<Range>;

// Bytes [low, high) of a buffer.
struct ByteSpan {
  int64_t low = 0, high = 0;
  bool operator==(const ByteSpan&) const = default;
};

[[nodiscard]] inline int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
[[nodiscard]] inline int64_t ceil_div(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }

[[nodiscard]] int64_t element_size(const View& view);
[[nodiscard]] int64_t elements(std::span<const int64_t> dims);

// The box that covers all of a view.
[[nodiscard]] Box whole(const View& view);
// Bytes of its buffer that a view can touch, gaps included.
[[nodiscard]] ByteSpan span_of(const View& view);
// Offset in the buffer of a box's first element.
[[nodiscard]] int64_t offset_of(const View& view, const Box& box);

// A packed box is its dense C-order copy. With `repeats`, a dimension of stride 0 takes one position in it and keeps
// its stride 0; else it is written out.
[[nodiscard]] int64_t packed_bytes(const View& view, const Box& box, bool repeats);
[[nodiscard]] std::vector<int64_t> packed_strides(const View& view, const Box& box, bool repeats);
[[nodiscard]] std::vector<int64_t> packed_counts(const View& view, const Box& box, bool repeats);
// Copies a packed box out of the bytes of the view's buffer.
void pack(const View& view, const Box& box, bool repeats, std::span<const uint8_t> buffer, uint8_t* out);

// Whether dimensions [first, last) of these strides are dense: the innermost step is `unit` bytes, no gaps.
[[nodiscard]] bool dense(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t unit);
// Whether a view is all of a buffer of `bytes`, in the order of memory.
[[nodiscard]] bool covers(const View& view, int64_t bytes);

}  // namespace npu::compiler::backend
