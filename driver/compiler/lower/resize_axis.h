// SPDX-License-Identifier: Apache-2.0
// One direction of RESIZE: which rows (or columns) of the operand each one of the result blends, and how few strided
// segments cover all of them.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::compiler {

// Of a position of the result: (unit - weight) * operand[first] + weight * operand[first + 1]. What the border clamps
// has weight 0, and so has everything at the operand's last position.
struct ResizeSample {
  int64_t first = 0, weight = 0;
  bool operator==(const ResizeSample&) const = default;
};

struct ResizeAxis {
  int64_t in = 1;    // positions of the operand
  int64_t unit = 1;  // sum of the two weights
  std::vector<ResizeSample> samples;

  // Positions [begin, begin + count) of the result alone, and of the operand those that they read, counted from `low`.
  struct Part;
  [[nodiscard]] Part part(int64_t begin, int64_t count) const;
};
struct ResizeAxis::Part {
  ResizeAxis axis;
  int64_t low = 0;
};

// Scale n / d and offset as RESIZE has them. The nearest neighbour has weight 0 and unit 1.
[[nodiscard]] ResizeAxis resize_axis(int64_t in, int64_t out, int64_t scale_n, int64_t scale_d, int64_t offset,
                                     bool nearest);
// Every position as it is.
[[nodiscard]] ResizeAxis unchanged_axis(int64_t size);

// Positions out + i * out_step + j of the result (0 <= i < count, 0 <= j < repeat) read first + i * step of the
// operand, and the position behind it where they blend.
struct ResizeSegment {
  enum class Kind : uint8_t {
    kCopy,    // all weights are 0
    kEven,    // all are `weight`
    kUneven,  // each position has its own
  };
  Kind kind = Kind::kCopy;
  int64_t weight = 0;
  int64_t out = 0, out_step = 1, count = 1, repeat = 1;
  int64_t first = 0, step = 0;
};

// Several ways to cover the axis, each with every position of the result once: by weight, which leaves a segment for
// each phase of the scale; in strides of up to about a hundred positions, which leaves few segments for any scale, with
// uneven weights; and by runs of equal samples, for large scales.
using ResizeCovers = std::vector<std::vector<ResizeSegment>>;
[[nodiscard]] ResizeCovers resize_covers(const ResizeAxis& axis);

}  // namespace npu::compiler
